import pytest

from weftwork import Weft, sample
from weftwork.store.contract.kit import NOW

from .desk import Desk


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """The sample workspace, read at its own time."""
    path = tmp_path_factory.mktemp("sample") / "studio.weft"
    with Weft.open(path, clock=lambda: sample.NOW) as weft:
        sample.load(weft)
        yield Desk(weft, workspace=sample.WORKSPACE)


@pytest.fixture
def empty(tmp_path):
    """A workspace with the users ana and ben, and no embeddings: relevance is what collectors and words give."""
    with Weft.open(tmp_path / "n.weft", embedder=None, clock=lambda: NOW) as weft:
        weft.add_user("ana")
        weft.add_user("ben")
        yield Desk(weft)
