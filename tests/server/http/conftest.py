import pytest

from .serving import calling, key_for, open_studio


@pytest.fixture
def weft(tmp_path):
    """A fresh studio without any key."""
    with open_studio(tmp_path / "studio.weft") as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A studio with keys, for tests that only read."""
    with open_studio(tmp_path_factory.mktemp("shared") / "studio.weft") as opened:
        yield opened


@pytest.fixture(scope="module")
def keys(shared):
    """Headers by what their key may do."""
    return {scope: key_for(shared, scope=scope) for scope in ("read", "write", "admin")} | {
        "ben": key_for(shared, user="ben"),
        "both": key_for(shared, workspaces=("studio", "other"), scope="write"),
    }


@pytest.fixture(scope="module")
def client(shared, keys):
    """A client of an application that asks for keys."""
    with calling(shared) as calls:
        yield calls
