"""A connector of another package, installed for real: a folder with a module and its metadata."""

import sys

import pytest

from weftwork.errors import InvalidInput
from weftwork.ingest.connectors.registry import BUILT_IN, connectors, get_connector, recognise
from weftwork.ingest.follow import follow

MODULE = """
from weftwork.ingest.connectors.protocol import Source
from weftwork.ingest.events import Skipped
from weftwork.types import Node


class Shopping:
    name, summary, version = "shopping", "Shopping lists", 1

    def recognises(self, path):
        return 0.95 if path.suffix == ".shop" else 0.0

    def sources(self, path):
        text = path.read_text()

        def read(name):
            yield Node(id=name, type="list", title=path.stem)
            for line in text.splitlines():
                yield Node(id=f"{name}#{line}", type="list_item", text=line, parent=name)

        yield Source(key="/", id=f"shop:{path.name}", what=str(path), fingerprint=lambda: str(hash(text)), read=read)


broken = object()
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    place = tmp_path / "site"
    metadata = place / "weftwork_shopping-1.2.dist-info"
    metadata.mkdir(parents=True)
    (place / "weftwork_shopping.py").write_text(MODULE)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weftwork-shopping\nVersion: 1.2\n")
    (metadata / "entry_points.txt").write_text(
        "[weftwork.connectors]\nshopping = weftwork_shopping:Shopping\nobsidian = weftwork_shopping:Shopping\n"
        "broken = weftwork_shopping:broken\nmissing = weftwork_nowhere:Connector\n"
    )
    monkeypatch.syspath_prepend(place)
    yield
    sys.modules.pop("weftwork_shopping", None)


def test_the_connector_of_a_package_is_listed_recognised_and_used(weft, installed, tmp_path):
    found = connectors()
    assert (found["shopping"].origin, found["obsidian"].origin) == ("weftwork-shopping 1.2", BUILT_IN)
    (tmp_path / "week.shop").write_text("birch\ncork")
    connector = recognise(tmp_path / "week.shop")
    assert connector.name == "shopping"
    assert follow(weft, tmp_path / "week.shop", connector).nodes == 3
    (tmp_path / "week.shop").write_text("cork\nglue")
    assert follow(weft, tmp_path / "week.shop", connector).changed == 1
    assert [found.passage.text for found in weft.search("glue", mode="words")] == ["glue"]
    assert weft.search("birch", mode="words") == []


def test_a_connector_that_cannot_be_used_harms_nobody_else(installed, tmp_path):
    registered = connectors()
    assert (registered["broken"].connector, registered["missing"].connector) == (None, None)
    with pytest.raises(InvalidInput, match=r"of weftwork-shopping 1\.2 cannot be used: it lacks name"):
        get_connector("broken")
    with pytest.raises(InvalidInput, match="No module named 'weftwork_nowhere'"):
        get_connector("missing")
    assert recognise(tmp_path).name == "files"
