"""What is erased is gone: from answers, from what others were given, and from every byte of the store."""

import json
from datetime import timedelta

import pytest

from weftwork import Edge, Node, Weft
from weftwork.erase import about_user, erase_expired, erase_nodes, erase_user, finish_erasure
from weftwork.errors import InvalidInput, NotFound
from weftwork.faces.memory import Memories
from weftwork.store.contract.kit import EMBEDDER, NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

SECRET = "zanzibar77"


@pytest.fixture
def weft(tmp_path):
    store = SqliteStore(tmp_path / "store.weft", clock=lambda: NOW)
    weft = Weft(store, Tools(CharacterCounter(), EMBEDDER), clock=lambda: NOW)
    weft.create_workspace("main", owner="ana")
    weft.add_user("ben")
    yield weft
    assert store.check() == []
    weft.close()


@pytest.fixture
def filled(weft):
    """Ben's page with a picture and what Ana hung below it, his thread with her message, memories, and receipts."""
    weft.add(
        [
            Node(
                id=f"ben/{SECRET}", type="document", title=f"Plan {SECRET}", text=f"The code is {SECRET}.", owner="ben"
            ),
            Node(id="below", text="Ana's remark", parent=f"ben/{SECRET}", owner="ana"),
            Node(id="part", text=f"a part with {SECRET}", parent=f"ben/{SECRET}"),
            Node(id="ana/page", text="The lantern in the harbour", owner="ana"),
            Node(id="shared", text="For both", owner="ana", access=frozenset({"ana", "ben"})),
        ],
        [Edge(source="ana/page", target=f"ben/{SECRET}", label=SECRET)],
    )
    files = weft.store.files("main")
    with files.incoming(f"ben/{SECRET}") as incoming:
        incoming.write("page-0001.jpg", SECRET.encode())
        with files.published(f"ben/{SECRET}", "1-a", incoming):
            pass
    thread = weft.threads.create(SECRET, access=["ana"], user="ben").id
    weft.threads.post(thread, f"say {SECRET}", user="ben")
    weft.threads.post(thread, "I heard", user="ana")
    Memories(weft).remember(f"my word is {SECRET}", user="ben")
    weft.context(f"code {SECRET}", user="ben", remember=True)
    weft.turn(weft.threads.create("hers", user="ana").id, "What is the code?", user="ana", budget=2000)
    weft.context("the code", user="ana", remember=True)
    weft.receipts.write_pending()
    weft.catch_up()
    return weft


def holding(folder, word):
    """Names of the files of a store that hold a word, in their content or their names."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in paths if word in str(path) or word.encode() in path.read_bytes()]


def test_no_byte_of_an_erased_user_is_left_and_what_is_anothers_stays(filled, tmp_path):
    assert holding(tmp_path, SECRET)
    assert filled.store.files("main").digests()
    erased = erase_user(filled, "ben", workspace="main", by="ana")
    assert erased.counts["nodes"] == 5  # page, part, thread, message and memory
    assert holding(tmp_path, SECRET) == []
    assert holding(tmp_path, '"ben"') == []
    assert filled.store.files("main").digests() == []
    assert "ben" not in filled.store.users("main")
    assert [each.text for each in nodes(filled, "below", "ana/page", "shared")] == [
        "Ana's remark",
        "The lantern in the harbour",
        "For both",
    ]
    assert filled.search("lantern", user="ana")[0].node.id == "ana/page"
    with pytest.raises(NotFound, match="nothing is stored of 'ben'"):
        about_user(filled, "ben", workspace="main")


def test_what_is_told_of_a_user_holds_their_content_and_nothing_of_others(filled):
    told = about_user(filled, "ben", workspace="main")
    assert {each["id"] for each in told["content"]} >= {f"ben/{SECRET}"}
    assert "I heard" not in json.dumps(told)
    assert told["receipts"]


def test_erased_nodes_take_the_receipts_that_name_them_along(filled, tmp_path):
    filled.store.receipts.remove("main", user="ben")
    erased = erase_nodes(
        filled, ["ana/page"], lambda batch: batch.remove(["ana/page"]), workspace="main", by="ana", of="source"
    )
    assert erased.counts["nodes"] == 1
    assert holding(tmp_path, "ana/page") == []
    assert holding(tmp_path, "Ana's remark")
    (entry,) = filled.store.audit.entries()
    assert (entry.action, entry.user, entry.details) == ("erase", "ana", {"of": "source", "nodes": 1})


def test_what_expires_goes_by_its_type_and_its_age(weft, tmp_path):
    old = NOW - timedelta(days=91)
    weft.add([Node(id=f"{kind}-{at:%d}", type=kind, text=SECRET, updated_at=at) for kind in "ab" for at in (old, NOW)])
    weft.receipts.write_pending()
    erased = erase_expired(weft, {"a": 90, "receipts": 30}, workspace="main", by="ana")
    assert erased.counts == {"nodes": 1}
    assert [each.id for each in nodes(weft, f"a-{old:%d}", f"a-{NOW:%d}", f"b-{old:%d}")] == [
        f"a-{NOW:%d}",
        f"b-{old:%d}",
    ]
    for days in (0, True, "90"):
        with pytest.raises(InvalidInput, match="whole number of days"):
            erase_expired(weft, {"a": days}, workspace="main", by="ana")  # type: ignore[dict-item]


def test_nobody_erases_themselves_or_a_stranger_and_a_store_in_use_is_told(filled, tmp_path):
    with pytest.raises(InvalidInput, match="cannot erase themselves"):
        erase_user(filled, "ana", workspace="main", by="ana")
    with pytest.raises(NotFound, match="nothing is stored of 'nobody'"):
        erase_user(filled, "nobody", workspace="main", by="ana")
    other = SqliteStore(tmp_path / "store.weft", clock=lambda: NOW)
    filled.store._connections._writer.execute("PRAGMA busy_timeout = 1")
    with other.view("main", "ana"):  # a reader holds the old pages
        erased = erase_user(filled, "ben", workspace="main", by="ana")
    other.close()
    assert any("run  weftwork doctor" in line for line in erased.left)
    assert finish_erasure(filled.store, "main")
    assert not finish_erasure(filled.store, "main")
    assert holding(tmp_path, SECRET) == []


def nodes(weft, *ids):
    """The nodes that Ana sees."""
    with weft.store.view("main", "ana") as view:
        return view.nodes(ids)
