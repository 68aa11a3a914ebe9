"""Weftwork's own store behind the research contract: what is found, and who finds it."""

import asyncio
from dataclasses import replace

import pytest
from tests.faces.research.researching import CRISIS, document, library

from weftwork import Weft, engine
from weftwork.errors import UnknownName
from weftwork.faces.research import ContextBuilder, WeftSearch, ask
from weftwork.faces.research.extract import NOTHING

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


def test_a_question_that_nothing_answers_is_told_so(tmp_path):
    with Weft.open(tmp_path / "plain.weft", embedder=None) as store:
        texts = {n: f"Chapter {n} describes valve {n} of pump {n} and its oil." for n in range(1, 60)}
        store.add(document("manual.pdf", {**texts, 60: "The turbine bearing needs grease of grade four."}))
        builder = ContextBuilder.for_weft(store)
        answer = asyncio.run(ask(builder, "Which minister of France governs a valve?"))
        assert (answer.answer, answer.sources, answer.truncated) == (NOTHING, (), False)
        assert answer.note.startswith("nothing here answers") and "max_tokens" not in answer.note
        assert asyncio.run(ask(builder, "Which grease does the turbine bearing need?")).sources
        anything = ContextBuilder.for_weft(store, min_support=0)
        assert asyncio.run(anything.build_context("Which minister of France governs a valve?")).sources
        assert asyncio.run(ask(builder, "Who is the president of France?")).answer == NOTHING


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
        found = asyncio.run(ContextBuilder.for_weft(secretive).get_source_metadata("secret", 1))
        assert QUESTION in found.markdown_content

    def test_what_is_hidden_after_a_context_is_in_no_later_one(self, weft):
        builder = ContextBuilder.for_weft(weft, user="ben")
        assert "crisis" in {each.doc_id for each in asyncio.run(builder.build_context(QUESTION)).sources}
        with weft.atomic() as batch:
            batch.set_access("crisis", frozenset({"me"}))
        context = asyncio.run(builder.build_context(QUESTION))
        assert {each.doc_id for each in context.sources} == {"energy"}
        assert "Lehman" not in context.formatted_text
        with pytest.raises(ValueError, match="not found"):
            asyncio.run(builder.get_source_metadata("crisis", 3))


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


# One request


@pytest.fixture
def eight(weft):
    weft.add([*document("quinces.pdf", {n: f"Quinces, part {n}: their uses in the kitchen." for n in range(1, 9)})])
    weft.catch_up()
    return weft


def counted(monkeypatch, place, name):
    """The calls of a function, which does its work all the same."""
    calls, original = [], getattr(place, name)

    def call(*arguments, **options):
        calls.append(arguments)
        return original(*arguments, **options)

    monkeypatch.setattr(place, name, call)
    return calls


def test_a_context_of_eight_pages_is_one_snapshot_and_one_fit(eight, monkeypatch):
    views, fits = counted(monkeypatch, eight.store, "view"), counted(monkeypatch, engine, "fit")
    builder = ContextBuilder.for_weft(eight, max_sources=8)
    context = asyncio.run(builder.build_context("quinces in the kitchen"))
    assert [each.doc_id for each in context.sources] == ["quinces"] * 8
    assert (len(views), len(fits)) == (1, 1)


def test_a_search_is_one_snapshot_and_packs_nothing(eight, monkeypatch):
    views, fits = counted(monkeypatch, eight.store, "view"), counted(monkeypatch, engine, "fit")
    assert len(WeftSearch(eight).find("quinces in the kitchen", 8)) == 8
    assert (len(views), len(fits)) == (1, 0)


def test_the_context_behind_it_says_who_asked_within_what_and_why_each_page_is_there(eight):
    builder = ContextBuilder.for_weft(eight, user="ben", max_sources=3, max_tokens=777)
    research = asyncio.run(builder.build_context("quinces in the kitchen"))
    context = research.context
    assert (context.user, context.workspace, context.budget) == ("ben", "main", 777)
    assert (context.text, context.tokens) == (research.formatted_text, research.total_tokens)
    shown = [each for each in context.trace if each.fate == "included"]
    assert [each.node for each in shown] == [f"{each.doc_id}#page={each.page}" for each in research.sources]
    for decision in shown:
        assert {finding.kind for finding in decision.findings} == {"words", "vector", "look"}
        assert decision.signals.keys() == {"page_words", "page_meaning", "page_look"}
    assert not research.truncated, "what is beyond the limit was not asked for"
    assert {each.reason for each in context.trace if each.fate == "dropped"} == {"beyond the limit of 3"}


def test_a_page_is_cited_by_the_same_id_in_every_context_and_the_store_knows_it(eight):
    builder = ContextBuilder.for_weft(eight, max_sources=8)
    ids = [
        {each.node: each.id for each in asyncio.run(builder.build_context(query)).context.citations}
        for query in ("quinces in the kitchen", "part 8 of the quinces")
    ]
    assert ids[0].items() == ids[1].items()
    assert list(ids[0]) != list(ids[1]), "the order is another one"
    for node, citation in ids[0].items():
        assert eight.node(citation).id == node


def test_a_long_page_that_does_not_fit_is_shortened_to_what_answers(weft):
    filler = "\n\n".join(f"Paragraph {n} says nothing of any interest to anybody at all." for n in range(100))
    weft.add([*document("long.pdf", {1: f"{filler}\n\nMedlars ripen after the first frost.\n\n{filler}"})])
    builder = ContextBuilder.for_weft(weft, max_tokens=120)
    context = asyncio.run(builder.build_context("When do medlars ripen?"))
    assert "Medlars ripen after the first frost." in context.formatted_text
    assert context.truncated and context.total_tokens <= 120
    assert len(context.sources[0].markdown_content) > 10_000, "the source itself is whole"


def test_a_builder_with_pages_of_ones_own_may_search_the_store(weft):
    from tests.faces.research.researching import Shelf

    builder = ContextBuilder(WeftSearch(weft), Shelf({"crisis": {3: "From the shelf."}}), max_sources=1)
    assert asyncio.run(builder.build_context(QUESTION)).formatted_text == (
        "[Document 1: crisis.pdf, Page 3]\nFrom the shelf."
    )


LONG_PAGE = """Care for the gender that one is of is covered in full.

### Hearing aids

The plan pays for hearing aids once in three years.

## Vision

Glasses are paid for each year."""


@pytest.mark.parametrize(
    ("question", "path", "heading"),
    [
        ("How often does the plan pay for hearing aids?", "Benefits > Care > Hearing aids", "Hearing aids"),
        ("Are glasses paid for?", "Benefits > Vision", "Vision"),
        ("Is care for gender covered in full?", "Benefits > Care > Gender", "Gender"),
    ],
)
def test_the_section_of_a_source_is_that_of_the_passage_that_matched(weft, question, path, heading):
    """The page begins in the middle of the section Gender, whose heading stands on the page before."""
    (top, page) = document("plan.pdf", {1: LONG_PAGE})
    labels = {"section_path": "Benefits > Care > Gender", "parent_heading": "Gender", "section_levels": "1 2 3"}
    weft.add([top, replace(page, fields={**page.fields, **labels})])
    best = asyncio.run(ContextBuilder.for_weft(weft).build_context(question)).sources[0]
    assert (best.doc_id, best.section_path, best.parent_heading) == ("plan", path, heading)


def test_a_source_has_the_id_of_its_page(weft):
    best = asyncio.run(ContextBuilder.for_weft(weft).build_context(QUESTION)).sources[0]
    assert best.node_id == "crisis#page=3"
