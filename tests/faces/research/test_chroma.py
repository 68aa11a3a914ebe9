"""The research contract on a real ChromaDB, in this process and as a server that the test starts."""

import asyncio
import socket
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.faces.research.researching import CRISIS, ENERGY, Fixed, document

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.embed.visual import LineEmbedder, PageLook
from weftwork.errors import InvalidInput, NotFound, UnknownName
from weftwork.faces.opening import open_configured
from weftwork.faces.research import ContextBuilder
from weftwork.faces.research.chroma import TEXT, VISUAL, ChromaCollector, ChromaPages, ChromaSearch, connect
from weftwork.faces.research.markdown import compress, join_pages
from weftwork.recipe import get_recipe

# Not imported here: all workers read this file, and one of them runs its tests.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(find_spec("chromadb") is None, reason="needs  pip install 'weftwork[chroma]'"),
]

EMBEDDER = HashingEmbedder(64)
LOOK = LineEmbedder(EMBEDDER)
QUESTION = "Lehman Brothers financial panic"


def metadata(doc_id, page, pages):
    return {
        "doc_id": doc_id, "filename": f"{doc_id}.pdf", "page": page, "extension": "pdf",
        "timestamp": "2025-10-17T08:00:00", "source_path": f"/in/{doc_id}.pdf",
        "image_path": f"/images/{doc_id}_page_{page:03}.png",
        "thumb_path": f"/images/{doc_id}_page_{page:03}_thumb.jpg",
        "section_path": "Report > Causes", "parent_heading": "Causes", "num_headings": 1, "num_tables": 0,
        "num_pictures": 0, "full_markdown_compressed": compress(join_pages(pages)),
    }  # fmt: skip


def fill(client, *, many=True):
    """The contract's layout: one record a line in the visual collection, or one a page if not `many`."""
    visual = client.get_or_create_collection(VISUAL, embedding_function=None)
    text = client.get_or_create_collection(TEXT, embedding_function=None)
    for doc_id, pages in (("crisis", CRISIS), ("energy", ENERGY)):
        for page, content in pages.items():
            rows = LOOK.embed_pages([PageLook(content)])[0]
            rows = rows if many else rows.mean(axis=0, keepdims=True)
            known = metadata(doc_id, page, pages)
            visual.add(
                ids=[f"{doc_id}-{page}-{n}" for n in range(len(rows))],
                embeddings=list(rows),
                metadatas=[known] * len(rows),
            )
            for number, chunk in enumerate(content.split("\n\n")):
                text.add(
                    ids=[f"{doc_id}-{page}-{number}"],
                    embeddings=[EMBEDDER.embed(chunk)],
                    metadatas=[known],
                    documents=[chunk],
                )
    return client


def made(folder):
    """A client for a new index."""
    folder.mkdir()
    return connect(str(folder))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chroma-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = str(Path(sys.executable).with_name("chroma"))
    command = [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < deadline, "the server did not start"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    return str(tmp_path_factory.mktemp("chroma-embedded"))


@pytest.fixture(scope="module", params=["embedded", "server"])
def pages(request):
    return ChromaPages(fill(connect(request.getfixturevalue(request.param))))


@pytest.fixture(scope="module")
def builder(pages):
    return ContextBuilder(ChromaSearch(pages, embedder=EMBEDDER, visual=LOOK), pages)


@pytest.mark.parametrize("options", [{}, {"include_visual": False}, {"include_text": False}])
def test_a_question_is_answered_end_to_end(builder, options):
    context = asyncio.run(builder.build_context(QUESTION, **options))
    assert (context.sources[0].doc_id, context.sources[0].page) == ("crisis", 3)
    assert context.formatted_text.startswith("[Document 1: crisis.pdf, Page 3]\n")
    assert "The collapse of Lehman Brothers" in context.formatted_text
    assert len({(each.doc_id, each.page) for each in context.sources}) == len(context.sources)
    scores = [each.relevance_score for each in context.sources]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)


def test_metadata_comes_from_the_visual_collection_with_the_pages_own_text(builder):
    source = asyncio.run(builder.get_source_metadata("crisis", 2))
    assert source.markdown_content == CRISIS[2]
    assert source.filename == "crisis.pdf" and source.extension == "pdf"
    assert source.image_path == "/images/crisis_page_002.png"
    assert source.thumbnail_path == "/images/crisis_page_002_thumb.jpg"
    assert source.timestamp == "2025-10-17T08:00:00"
    assert (source.section_path, source.parent_heading) == ("Report > Causes", "Causes")


def test_a_missing_page_is_a_value_error(builder):
    with pytest.raises(ValueError, match="Document crisis page 9 not found"):
        asyncio.run(builder.get_source_metadata("crisis", 9))


def test_hybrid_search_finds_a_page_in_both_collections_and_they_become_one(pages, builder):
    search = ChromaSearch(pages, embedder=EMBEDDER, visual=LOOK)
    both = asyncio.run(search.search(QUESTION, 5, "hybrid"))
    once = [len(asyncio.run(search.search(QUESTION, 5, mode))) for mode in ("text", "visual")]
    assert len(both) == sum(once) and min(once) > 0
    merged = builder.deduplicate_results(both)
    assert len(merged) < len(both)
    best = max(each["score"] for each in both if (each["doc_id"], each["page"]) == ("crisis", 3))
    assert merged[0]["score"] == best
    assert "full_markdown_compressed" not in both[0]["metadata"]


def test_modes_that_cannot_be_are_refused(pages):
    with pytest.raises(UnknownName, match="hybrid, text, visual"):
        asyncio.run(ChromaSearch(pages, embedder=EMBEDDER).search("q", 5, "psychic"))
    with pytest.raises(InvalidInput, match="embedder of pages"):
        asyncio.run(ChromaSearch(pages, embedder=EMBEDDER).search("q", 5, "visual"))


def test_compressed_markdown_is_unpacked(pages):
    assert asyncio.run(pages.get_document_markdown("energy")) == join_pages(ENERGY)
    assert asyncio.run(pages.get_document_markdown("absent")) is None


def test_an_index_with_one_record_a_page_is_searched_too(tmp_path):
    pages = ChromaPages(fill(connect(str(tmp_path)), many=False))
    results = asyncio.run(ChromaSearch(pages, embedder=EMBEDDER, visual=LOOK).search(QUESTION, 1, "visual"))
    assert [(each["doc_id"], each["page"]) for each in results] == [("crisis", 3)]


def test_an_index_without_the_collection_is_reported(tmp_path):
    with pytest.raises(NotFound, match="visual_collection"):
        ChromaPages(connect(str(tmp_path)))


def test_an_index_whose_markdown_has_no_marks_gives_each_page_its_own_records(tmp_path):
    client = fill(made(tmp_path / "plain"))
    packed = compress("\n\n".join(CRISIS.values()))
    for name in (VISUAL, TEXT):
        collection = client.get_collection(name, embedding_function=None)
        known = collection.get(where={"doc_id": {"$eq": "crisis"}}, include=["metadatas"])
        plain = [{**each, "full_markdown_compressed": packed} for each in known["metadatas"]]
        collection.update(ids=known["ids"], metadatas=plain)
    builder = ContextBuilder(Fixed([]), ChromaPages(client))
    for page, content in CRISIS.items():
        shown = asyncio.run(builder.get_source_metadata("crisis", page)).markdown_content
        assert shown.split() == content.split()


def test_records_of_a_page_are_joined_in_the_order_of_their_numbers(tmp_path):
    client = made(tmp_path / "chunks")
    for name in (VISUAL, TEXT):
        client.get_or_create_collection(name, embedding_function=None)
    numbers = list(range(1, 13))
    client.get_collection(TEXT, embedding_function=None).add(
        ids=[f"a-p1-chunk-{n}" for n in numbers],
        embeddings=[EMBEDDER.embed(f"chunk {n}") for n in numbers],
        metadatas=[{"doc_id": "a", "page": 1, "filename": "a.pdf", "extension": "pdf"}] * len(numbers),
        documents=[f"Chunk {n}." for n in numbers],
    )
    found = asyncio.run(ContextBuilder(Fixed([]), ChromaPages(client)).get_source_metadata("a", 1))
    assert found.markdown_content.split("\n\n") == [f"Chunk {n}." for n in numbers]


def test_a_page_with_many_records_does_not_crowd_the_others_out(tmp_path):
    client = made(tmp_path / "crowded")
    text = client.get_or_create_collection(TEXT, embedding_function=None)
    client.get_or_create_collection(VISUAL, embedding_function=None)
    rows = [(1, n) for n in range(60)] + [(page, 0) for page in range(2, 17)]
    text.add(
        ids=[f"a-{page}-{n}" for page, n in rows],
        embeddings=[EMBEDDER.embed(QUESTION if page == 1 else f"{QUESTION} on page {page}") for page, _ in rows],
        metadatas=[{"doc_id": "a", "page": page} for page, _ in rows],
        documents=[f"Text {page}" for page, _ in rows],
    )
    found = asyncio.run(ChromaSearch(ChromaPages(client), embedder=EMBEDDER).search(QUESTION, 10, "text"))
    assert len({each["page"] for each in found}) == len(found) == 10
    assert found[0]["page"] == 1


@pytest.mark.parametrize("damaged", [1, 3])
def test_a_damaged_copy_of_the_markdown_costs_nothing_as_long_as_there_is_another(tmp_path, damaged):
    """Each page of the document has a copy of its Markdown; only where all are damaged its pages are lost."""
    client = fill(made(tmp_path / "damaged"), many=False)
    for name in (VISUAL, TEXT):
        collection = client.get_collection(name, embedding_function=None)
        known = collection.get(where={"doc_id": {"$eq": "crisis"}}, include=["metadatas"])
        broken = [
            {**each, "full_markdown_compressed": "H4sIno"} for each in known["metadatas"] if each["page"] <= damaged
        ]
        names = [name for name, each in zip(known["ids"], known["metadatas"], strict=True) if each["page"] <= damaged]
        collection.update(ids=names, metadatas=broken)
    pages = ChromaPages(client)
    builder = ContextBuilder(ChromaSearch(pages, embedder=EMBEDDER, visual=LOOK), pages)
    context = asyncio.run(builder.build_context(QUESTION))
    found = {each.doc_id for each in context.sources}
    if damaged == 1:
        assert found == {"crisis", "energy"} and context.warnings == ()
    else:
        assert found == {"energy"}
        (warning,) = context.warnings
        assert "document 'crisis'" in warning and "damaged: index it again" in warning


def test_a_page_that_only_the_text_collection_has_is_found_and_shown(tmp_path):
    client = fill(made(tmp_path / "textual"))
    client.get_collection(VISUAL, embedding_function=None).delete(where={"doc_id": {"$eq": "crisis"}})
    pages = ChromaPages(client)
    builder = ContextBuilder(ChromaSearch(pages, embedder=EMBEDDER, visual=LOOK), pages)
    best = asyncio.run(builder.build_context(QUESTION)).sources[0]
    assert (best.doc_id, best.page, best.filename, best.markdown_content) == ("crisis", 3, "crisis.pdf", CRISIS[3])


def test_the_account_names_the_collections_that_a_page_was_found_in(builder):
    context = asyncio.run(builder.build_context(QUESTION)).context
    best = context.trace[0]
    assert {(each.collector, each.kind) for each in best.findings} == {("text", "vector"), ("visual", "look")}
    assert best.signals.keys() == {"page_meaning", "page_look"}
    assert context.budget == 10_000
    again = asyncio.run(builder.build_context("What did the collapse of Lehman Brothers trigger?")).context
    ids = {each.node: each.id for each in again.citations}
    assert {each.node: each.id for each in context.citations}.items() <= ids.items()


def test_the_markdown_of_a_document_is_read_once_for_all_of_its_pages(tmp_path):
    class Counting(ChromaPages):
        def __init__(self, client):
            super().__init__(client)
            self.read = []

        async def get_document_markdown(self, doc_id):
            self.read.append(doc_id)
            return await super().get_document_markdown(doc_id)

    pages = Counting(fill(made(tmp_path / "once")))
    builder = ContextBuilder(ChromaSearch(pages, embedder=EMBEDDER, visual=LOOK), pages)
    assert len(asyncio.run(builder.build_context(QUESTION)).sources) == 5
    assert sorted(pages.read) == ["crisis", "energy"]


def test_records_that_name_no_page_are_passed_over(tmp_path):
    client = fill(made(tmp_path / "odd"))
    text = client.get_collection(TEXT, embedding_function=None)
    text.add(ids=["stray"], embeddings=[EMBEDDER.embed(QUESTION)], metadatas=[{"note": "x"}], documents=[QUESTION])
    pages = ChromaPages(client)
    found = asyncio.run(ChromaSearch(pages, embedder=EMBEDDER).search(QUESTION, search_mode="text"))
    assert found and all(each["doc_id"] in {"crisis", "energy"} for each in found)


# As people have it: a record a page, a line, or a thousand patches a page


class Reads:
    """A collection that counts the records whose metadata is read, and the requests."""

    def __init__(self, collection):
        self.collection = collection
        self.metadata = self.requests = self.filtered = 0

    def __getattr__(self, name):
        return getattr(self.collection, name)

    def get(self, **asked):
        answer = self.collection.get(**asked)
        self.requests += 1
        self.metadata += len(answer["ids"]) if "metadatas" in asked.get("include", ()) else 0
        return answer

    def query(self, **asked):
        assert not asked["include"], "the records near each part of a query are too many to be read"
        self.requests += 1
        self.filtered += asked.get("where") is not None
        return self.collection.query(**asked)


PAGES = {
    page: f"Chapter {page} on Lehman Brothers.\n\nIts panic number {page * 7} was financial." for page in range(1, 13)
}


def counted(folder, patches, *, copies="all", pages=PAGES, mark="<!-- page {} -->"):
    """An index of one document with so many records a page, whose reads are counted."""
    client = made(folder)
    whole = "\n\n".join(f"{mark.format(number)}\n{text}" for number, text in pages.items())
    packed, noise = compress(whole), np.random.default_rng(1)
    for name in (VISUAL, TEXT):
        collection = client.get_or_create_collection(name, embedding_function=None)
        for page, text in pages.items():
            count = patches if name == VISUAL else 2
            rows = EMBEDDER.embed(text) + noise.normal(0, 0.02, (count, 64)).astype(np.float32)
            known = {"doc_id": "a", "page": page, "filename": "a.pdf", "extension": "pdf", "timestamp": "2025-10-17",
                     "thumb_path": f"{page}.jpg"}  # fmt: skip
            with_copy = [copies == "all" or (page == 1 and n == 0) for n in range(count)]
            collection.add(
                ids=[f"{page}-{n}" for n in range(count)],
                embeddings=list(rows),
                metadatas=[known | ({"full_markdown_compressed": packed} if each else {}) for each in with_copy],
                documents=[f"{text} Piece {n}." for n in range(count)] if name == TEXT else None,
            )
    index = ChromaPages(client)
    index.visual, index.text = Reads(index.visual), Reads(index.text)
    return index


@pytest.mark.parametrize(("patches", "copies"), [(1, "all"), (12, "one"), (300, "all")])
def test_a_context_reads_few_records_however_many_a_page_has(tmp_path, patches, copies):
    index = counted(tmp_path / "counted", patches, copies=copies)
    builder = ContextBuilder(ChromaSearch(index, embedder=EMBEDDER, visual=LOOK), index)
    context = asyncio.run(builder.build_context("Lehman Brothers panic number 21 financial", 5))
    assert len(context.sources) == 5
    assert context.sources[0].markdown_content.startswith("Chapter ")
    # Ten pages are ranked for five results; one record holds the Markdown; the rest is read without metadata.
    assert index.visual.metadata + index.text.metadata <= 12 * 10
    assert index.visual.requests + index.text.requests <= 60
    assert index.visual.filtered == index.text.filtered == 0, "a filter looks at every record of the index"


def test_metadata_of_a_page_of_many_patches_is_one_record(tmp_path):
    index = counted(tmp_path / "one", 300)
    source = asyncio.run(ContextBuilder(Fixed([]), index).get_source_metadata("a", 3))
    assert source.thumbnail_path == "3.jpg" and source.markdown_content == PAGES[3]
    assert (index.visual.metadata, index.text.metadata) == (2, 0), "its metadata, and the Markdown of its document"


def test_markdown_that_does_not_tell_pages_apart_costs_the_records_of_the_pages_that_are_shown(tmp_path):
    index = counted(tmp_path / "unmarked", 2, mark="")
    source = asyncio.run(ContextBuilder(Fixed([]), index).get_source_metadata("a", 11))
    assert source.markdown_content == f"{PAGES[11]} Piece 0.\n\n{PAGES[11]} Piece 1."
    assert index.text.metadata == 0


def test_page_numbers_that_were_written_as_text_are_numbers(tmp_path):
    client = made(tmp_path / "textual")
    for name in (VISUAL, TEXT):
        client.get_or_create_collection(name, embedding_function=None).add(
            ids=["x"], embeddings=[EMBEDDER.embed(QUESTION)], documents=["Lehman."],
            metadatas=[{"doc_id": "a", "page": "3", "filename": "a.pdf"}],
        )  # fmt: skip
    index = ChromaPages(client)
    builder = ContextBuilder(ChromaSearch(index, embedder=EMBEDDER, visual=LOOK), index)
    assert [(each.page, each.markdown_content) for each in asyncio.run(builder.build_context(QUESTION)).sources] == [
        (3, "Lehman.")
    ]
    assert asyncio.run(builder.get_source_metadata("a", 3)).filename == "a.pdf"


def fused(tmp_path, visual, text):
    """The pages that a hybrid search finds in collections with these pages, from the nearest to the farthest."""
    client = made(tmp_path / "fused")
    asked = EMBEDDER.embed(QUESTION)
    away = EMBEDDER.embed("something else altogether")
    for name, order in ((VISUAL, visual), (TEXT, text)):
        collection = client.get_or_create_collection(name, embedding_function=None)
        closeness = (1.0, 0.01) if name == TEXT else (0.2, 0.001)  # the cosines of one say little of the other's
        for rank, page in enumerate(order):
            row = asked * (closeness[0] - closeness[1] * rank) + away * closeness[1] * rank * 10
            collection.add(
                ids=[f"p{page}"], embeddings=[row], metadatas=[{"doc_id": "a", "page": page}], documents=[f"P{page}"]
            )
    search = ChromaSearch(ChromaPages(client), embedder=EMBEDDER, visual=LOOK)
    results = search.find(QUESTION, 4)
    assert results == asyncio.run(search.search(QUESTION, 4))
    return list(dict.fromkeys(each["page"] for each in results))


def test_hybrid_means_both_collections_by_rank(tmp_path):
    """The first two by their look; the first by its text comes before the third by its look."""
    assert fused(tmp_path, visual=[1, 2, 3, 4, 5, 6, 7], text=[4, 5, 6, 7, 1, 2, 3]) == [1, 2, 4, 3]


def test_a_page_that_only_one_collection_has_is_ranked_by_that(tmp_path):
    found = fused(tmp_path, visual=[2, 3, 4, 5, 9], text=[8, 2, 3, 4, 5])
    assert found[0] == 8 and found[1] == 2


def test_another_embedder_than_the_indexs_is_named(tmp_path):
    index = counted(tmp_path / "dimensions", 1)
    with pytest.raises(InvalidInput, match="the embedder that it was made with"):
        ChromaSearch(index, embedder=HashingEmbedder(32)).find(QUESTION)


def test_a_folder_without_an_index_is_not_made(tmp_path):
    with pytest.raises(NotFound, match="no ChromaDB index in"):
        connect(str(tmp_path / "typo"))
    assert not (tmp_path / "typo").exists()


# As a collector


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "own.weft", embedder=EMBEDDER) as opened:
        opened.add(
            [
                Node(id="note", type="page", title="Panic", text="Notes on Lehman Brothers and the financial panic."),
                Node(id="own", type="document", title="own.pdf"),
                Node(id="own#page=1", type="document_page", parent="own", position=1, text="Lehman Brothers, a bank."),
            ]
        )
        opened.catch_up()
        yield opened


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    pages = ChromaPages(fill(connect(str(tmp_path_factory.mktemp("collected")))))
    return ChromaCollector(ChromaSearch(pages, embedder=EMBEDDER, visual=LOOK))


def test_pages_of_an_index_stand_in_a_context_beside_notes(weft, collector):
    default = get_recipe("default")
    recipe = replace(default, collectors=(*default.collectors, collector))
    context = weft.context(QUESTION, recipe=recipe, budget=800)
    shown = {item.candidate.node.id: item for item in context.items}
    assert {"note", "crisis#page=3"} <= shown.keys()
    assert shown["crisis#page=3"].text in CRISIS[3] and shown["crisis#page=3"].candidate.section == "pages"
    page = next(each for each in context.trace if each.node == "crisis#page=3")
    assert {(each.collector, each.kind) for each in page.findings} == {("chroma", "vector"), ("chroma", "look")}
    assert page.signals["evidence"] > 0
    assert context.tokens == weft.tools.counter.count(context.text) <= 800
    assert context.user == "me" and context.workspace == "main"


def test_pages_of_the_store_and_of_an_index_are_ranked_together_from_one_snapshot(weft, collector, monkeypatch):
    views, view = [], weft.store.view
    monkeypatch.setattr(weft.store, "view", lambda *who: views.append(who) or view(*who))
    builder = ContextBuilder.for_weft(weft, collectors=[collector])
    research = asyncio.run(builder.build_context(QUESTION))
    assert len(views) == 1
    assert {each.doc_id for each in research.sources} >= {"own", "crisis"}
    assert (research.sources[0].doc_id, research.sources[0].page) == ("crisis", 3)
    best = research.sources[0]
    assert (best.image_path, best.thumbnail_path) == (
        "/images/crisis_page_003.png",
        "/images/crisis_page_003_thumb.jpg",
    )
    assert (best.section_path, best.markdown_content) == ("Report > Causes", CRISIS[3])
    assert research.total_tokens == weft.tools.counter.count(research.formatted_text)
    signals = next(each for each in research.context.trace if each.node == "crisis#page=3").signals
    assert signals.keys() == {"page_words", "page_meaning", "page_look"}


def test_a_page_has_the_same_citation_whether_it_is_collected_or_fetched(weft, collector):
    fetched = asyncio.run(ContextBuilder(collector.search, collector.search.pages).build_context(QUESTION)).context
    collected = asyncio.run(ContextBuilder.for_weft(weft, collectors=[collector]).build_context(QUESTION)).context
    ids = [{each.node: each.id for each in context.citations} for context in (fetched, collected)]
    assert ids[0] and ids[0].items() <= ids[1].items()


def test_a_damaged_document_is_left_out_of_what_is_collected_with_a_warning(weft, tmp_path):
    client = fill(made(tmp_path / "damaged"))
    for name in (VISUAL, TEXT):
        collection = client.get_collection(name, embedding_function=None)
        ids = collection.get(where={"doc_id": {"$eq": "crisis"}})["ids"]
        collection.update(ids=ids, metadatas=[{"full_markdown_compressed": "no gzip"}] * len(ids))
    collector = ChromaCollector(ChromaSearch(ChromaPages(client), embedder=EMBEDDER))
    research = asyncio.run(ContextBuilder.for_weft(weft, collectors=[collector]).build_context(QUESTION))
    assert {each.doc_id for each in research.sources} == {"own", "energy"}
    assert [warning for warning in research.warnings if "document 'crisis'" in warning]


# By configuration


@pytest.fixture
def configured(tmp_path):
    client = made(tmp_path / "index")
    text = client.get_or_create_collection(TEXT, embedding_function=None)
    client.get_or_create_collection(VISUAL, embedding_function=None)
    text.add(
        ids=["3"],
        embeddings=[HashingEmbedder().embed(CRISIS[3])],
        metadatas=[metadata("crisis", 3, CRISIS)],
        documents=[CRISIS[3]],
    )
    (tmp_path / "weftwork.toml").write_text(
        'store = "own.weft"\nembedder = "hashing"\n[recipes.research]\nchroma = "index"\nembedder = "hashing"\n'
    )
    return tmp_path


def test_a_configured_index_is_asked_beside_the_store(configured):
    with open_configured(configured, create=True) as weft:
        weft.add([*document("own.pdf", {1: "Lehman Brothers, a bank in a panic."})])
        found = asyncio.run(ContextBuilder.for_weft(weft).build_context(QUESTION)).sources
        assert {each.doc_id for each in found} >= {"own", "crisis"}
        assert {each.node_id for each in found if each.doc_id == "crisis"} == {None}
        weft.create_workspace("other")
        assert asyncio.run(ContextBuilder.for_weft(weft, workspace="other").build_context(QUESTION)).sources == ()


@pytest.mark.parametrize("setting", ["chrome = 'x'", "chroma = 3"])
def test_a_setting_that_the_index_does_not_have_is_named(tmp_path, setting):
    (tmp_path / "weftwork.toml").write_text(f'store = "own.weft"\nembedder = "none"\n[recipes.research]\n{setting}\n')
    with pytest.raises(InvalidInput, match=r"unknown setting recipes\.research"):
        open_configured(tmp_path, create=True)
