"""Weftwork's own store behind the research contract: what is found, and who finds it."""

import asyncio

import pytest
from tests.faces.research.researching import CRISIS, document, library

from weftwork.errors import InvalidInput, UnknownName
from weftwork.faces.research import ContextBuilder, WeftPages, WeftSearch
from weftwork.faces.research.sources import page_filter

QUESTION = "Lehman Brothers panic"


@pytest.fixture
def weft(tmp_path):
    with library(tmp_path) as weft:
        weft.add_user("ben")
        yield weft


def places(results):
    return [(each["doc_id"], each["page"]) for each in results]


@pytest.mark.parametrize("mode", ["text", "visual", "hybrid"])
def test_each_mode_finds_the_page_once_with_its_metadata(weft, mode):
    results = WeftSearch(weft).find(QUESTION, 5, mode)
    assert places(results)[0] == ("crisis", 3)
    assert len(set(places(results))) == len(results) <= 5
    assert [each["score"] for each in results] == sorted((each["score"] for each in results), reverse=True)
    assert results[0]["filename"] == results[0]["metadata"]["filename"] == "crisis.pdf"
    assert results[0]["metadata"].keys() == {
        "doc_id", "filename", "page", "extension", "timestamp", "source_path", "image_path", "thumb_path",
        "section_path", "parent_heading", "num_headings", "num_tables", "num_pictures",
    }  # fmt: skip


def test_hybrid_says_who_found_a_page(weft):
    context = weft.context(QUESTION, recipe="research")
    finders = {finding.collector for finding in context.trace[0].findings}
    assert finders == {"lexical", "semantic", "visual"}
    assert context.trace[0].signals.keys() == {"page_words", "page_meaning", "page_look"}
    assert context.items[0].candidate.passage.text == CRISIS[3]


def test_an_unknown_mode_is_refused_with_those_that_exist(weft):
    with pytest.raises(UnknownName, match="hybrid, text, visual"):
        WeftSearch(weft).find(QUESTION, 5, "psychic")


def test_only_pages_of_documents_are_found(weft):
    from weftwork import Node

    weft.add([Node(id="note", text=f"{QUESTION} {QUESTION}", title=QUESTION)])
    assert ("note", 0) not in places(WeftSearch(weft).find(QUESTION))
    assert "note" not in {item.candidate.node.id for item in weft.context(QUESTION, recipe="research").items}


def test_a_page_that_was_changed_is_seen_as_it_is_now(weft):
    search = WeftSearch(weft)
    assert places(search.find("zeppelin airships", 1, "visual")) != [("energy", 1)]
    weft.add([*document("energy.pdf", {1: "Zeppelin airships over Friedrichshafen."})])
    assert places(search.find("zeppelin airships", 1, "visual")) == [("energy", 1)]
    weft.remove(["energy"])
    assert "energy" not in dict(places(search.find("zeppelin airships", 10, "visual")))


def test_without_embeddings_words_still_find_pages(tmp_path):
    with library(tmp_path, embedder=None) as weft:
        assert places(WeftSearch(weft).find(QUESTION, 1)) == [("crisis", 3)]
        assert WeftSearch(weft).find(QUESTION, 1, "visual") == []


def test_long_pages_are_whole_and_come_once(weft):
    text = "\n\n".join(f"Paragraph {n} about quinces and their many uses in the kitchen." for n in range(80))
    weft.add([*document("quince.pdf", {1: text, 2: "Nothing."})])
    context = asyncio.run(ContextBuilder.for_weft(weft).build_context("quinces in the kitchen"))
    assert [(each.doc_id, each.page) for each in context.sources].count(("quince", 1)) == 1
    assert context.sources[0].markdown_content == text


class TestHidden:
    """Nobody learns of a document that they may not see."""

    @pytest.fixture
    def secretive(self, weft):
        weft.add([*document("secret.pdf", {1: f"{QUESTION} was planned.", 2: "Page two."}, access=frozenset({"me"}))])
        return weft

    @pytest.mark.parametrize("mode", ["text", "visual", "hybrid"])
    def test_it_is_found_by_its_owner_alone(self, secretive, mode):
        assert ("secret", 1) in places(WeftSearch(secretive).find(QUESTION, 10, mode))
        assert "secret" not in dict(places(WeftSearch(secretive, user="ben").find(QUESTION, 10, mode)))

    def test_it_changes_nothing_that_another_receives(self, secretive, tmp_path):
        (tmp_path / "other").mkdir()
        with library(tmp_path / "other") as without:
            without.add_user("ben")
            for mode in ("text", "visual", "hybrid"):
                ours = WeftSearch(secretive, user="ben").find(QUESTION, 10, mode)
                assert ours == WeftSearch(without, user="ben").find(QUESTION, 10, mode)

    def test_its_pages_look_like_pages_that_do_not_exist(self, secretive):
        builder = ContextBuilder.for_weft(secretive, user="ben")
        for doc_id in ("secret", "absent"):
            with pytest.raises(ValueError, match=f"^Document {doc_id} page 1 not found$"):
                asyncio.run(builder.get_source_metadata(doc_id, 1))
        assert asyncio.run(WeftPages(secretive, user="ben").get_document_markdown("secret")) is None

    def test_a_page_hidden_between_search_and_reading_is_left_out(self, weft):
        results = WeftSearch(weft, user="ben").find(QUESTION, 10)

        class Before:
            async def search(self, query, num_results, search_mode):
                return results

        with weft.atomic() as batch:
            batch.set_access("crisis", frozenset({"me"}))
        context = asyncio.run(ContextBuilder(Before(), WeftPages(weft, user="ben")).build_context(QUESTION))
        assert {each.doc_id for each in context.sources} == {"energy"}
        assert "Lehman" not in context.formatted_text


def test_a_document_is_read_as_a_whole_too(weft):
    from weftwork.faces.research.markdown import extract_page

    markdown = asyncio.run(WeftPages(weft).get_document_markdown("crisis"))
    assert [extract_page(markdown, number) for number in (1, 2, 3)] == list(CRISIS.values())
    assert asyncio.run(WeftPages(weft).get_document_markdown("absent")) is None


def test_pages_with_ids_of_another_kind_are_found_below_their_document(weft):
    from weftwork import Node

    weft.add(
        [
            Node(id="scan", type="document"),
            Node(id="s-7", type="document_page", parent="scan", position=7, text="Seven"),
        ]
    )
    found = asyncio.run(ContextBuilder.for_weft(weft).get_source_metadata("scan", 7))
    assert found.markdown_content == "Seven"


@pytest.mark.parametrize("where", [{}, {"doc_id": "crisis"}, None, {"$and": [{"doc_id": {"$in": ["x"]}}]}])
def test_a_condition_that_names_no_page_is_refused(weft, where):
    with pytest.raises(InvalidInput, match="doc_id and page"):
        WeftPages(weft).visual_collection.get(where=where, include=["metadatas"])
    assert WeftPages(weft).visual_collection.get(where=page_filter("crisis", 1), include=["metadatas"])["ids"]
