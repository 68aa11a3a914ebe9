"""Parts of third parties come in by the same door as ours, and no stage treats them as less."""

import ast
import asyncio
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from weftwork import Budget, Node, Recipe, Template, Weft, engine
from weftwork.collect import AmongFiles, ForQuestions, Found, LexicalCollector, WholePages
from weftwork.errors import InvalidInput
from weftwork.faces.memory import ContextEngine, ContextEngineConfig
from weftwork.faces.research import WeftSearch
from weftwork.faces.thread import FileRepository
from weftwork.ingest.connectors.protocol import Source
from weftwork.ingest.follow import follow
from weftwork.pack import Packing
from weftwork.recipe import RECIPES, get_recipe
from weftwork.score import Profile, get_profile
from weftwork.types import MEMORY, Edge

PAGE = (Path(__file__).parent.parent / "docs" / "extending.md").read_text(encoding="utf-8")
NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
QUESTION = "Which quince jam do we sell?"


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("doors") / "jam.weft", embedder="hashing", clock=lambda: NOW) as opened:
        opened.add(
            [
                Node(id="jam", type="page", title="Quince jam", text="We sell quince jam in small jars."),
                Node(id="jar", type="page", title="Jars", text="Small jars hold a quarter of a litre."),
                Node(
                    id="tree",
                    type="page",
                    title="Quince tree",
                    text="The quince tree bears in October.",
                    tags=("garden",),
                ),
                Node(id="old", type="memory", text="Quince jam is sold on Saturdays.", tags=(MEMORY,), confidence=0.5),
                Node(id="new", type="memory", text="Quince jam is sold on Sundays.", tags=(MEMORY,), confidence=0.9),
                Node(id="doc", type="document", title="quince.pdf"),
                Node(id="doc#page=1", type="document_page", parent="doc", text="Quince jam sells well.", position=1),
                Node(id="doc#page=2", type="document_page", parent="doc", text="Jam of the quince.", position=2),
            ],
            [Edge(source="jam", target="jar"), Edge(source="new", target="old", type="contradicts")],
        )
        with opened.atomic() as batch:
            batch.record("me", "tree", "edit", NOW)
        yield opened


def renamed(collector, number):
    if isinstance(collector, AmongFiles | WholePages):
        return replace(collector, collector=renamed(collector.collector, number))
    if isinstance(collector, ForQuestions):
        return replace(collector, inner=renamed(collector.inner, number))
    return replace(collector, name=f"ours-{number}")


def scores(context):
    return [(each.citation, each.section, each.fate, each.score, each.signals) for each in context.trace]


@pytest.mark.parametrize("name", RECIPES)
def test_no_score_depends_on_the_names_of_collectors(weft, name):
    recipe = get_recipe(name)
    own = replace(recipe, collectors=tuple(renamed(each, number) for number, each in enumerate(recipe.collectors)))
    ours, theirs = (weft.context(QUESTION, recipe=each, focus="jam") for each in (recipe, own))
    assert ours.trace and theirs.text == ours.text
    assert scores(theirs) == scores(ours)
    assert {finding.collector[:5] for each in theirs.trace for finding in each.findings} - {"surro"} == {"ours-"}


@dataclass(frozen=True, slots=True)
class Words(LexicalCollector):
    name: str = "words"

    def collect(self, inquiry):
        return LexicalCollector.collect(self, inquiry)


def test_a_collector_that_inherits_from_ours_finds_as_much(weft):
    default = get_recipe("default")
    own = tuple(Words() if isinstance(each, LexicalCollector) else each for each in default.collectors)
    ours, theirs = weft.context(QUESTION), weft.context(QUESTION, recipe=replace(default, collectors=own))
    assert theirs.text == ours.text and scores(theirs) == scores(ours)


@dataclass(frozen=True)
class Prices:
    """Entries of a price list, which is not in the store."""

    entries: dict
    name: str = "prices"
    section: str = "prices"

    def collect(self, inquiry):
        asked = set(inquiry.question.words)
        return [
            Found.unstored(Node(id=f"price:{name}", type="price", title=name, text=text), 0.8, "is in the price list")
            for name, text in self.entries.items()
            if asked & set(text.lower().split())
        ]


PRICES = {"Small jar": "quince jam 4 euros", "Large jar": "quince jam 7 euros", "Sauce": "apple sauce 3 euros"}


def with_prices(*, name="default", **changes):
    recipe = get_recipe(name)
    return replace(recipe, collectors=(*recipe.collectors, Prices(PRICES)), **changes)


def test_what_is_not_stored_stands_beside_what_is_each_by_itself_with_a_citation(weft):
    context = weft.context(QUESTION, recipe=with_prices(), budget=600)
    prices = next(section for section in context.sections if section.name == "prices")
    assert [each.document.id for each in prices.excerpts] == ["price:Large jar", "price:Small jar"]
    assert "jam" in [item.candidate.node.id for item in context.items]
    for excerpt in prices.excerpts:
        assert f"[{excerpt.citation}]" in context.text and excerpt.items[0].text in context.text
        assert excerpt.citation in {each.id for each in context.citations}
    decision = next(each for each in context.trace if each.node == "price:Small jar")
    assert [(each.collector, each.why) for each in decision.findings] == [("prices", "is in the price list")]
    assert decision.signals["evidence"] == 0.8
    assert context.tokens == weft.tools.counter.count(context.text) <= 600


def test_it_keeps_its_citation_whatever_else_is_asked_and_whoever_else_collects(weft):
    def cited(*, history=(), recipe):
        context = weft.context(QUESTION, recipe=recipe, history=history)
        return {each.node: each.id for each in context.citations if each.type == "price"}

    twice = replace(with_prices(), collectors=(Prices({"Tasting": "quince jam for free"}, "tasting"), Prices(PRICES)))
    alone, both = cited(recipe=with_prices()), cited(recipe=twice)
    assert len(alone) == 2 and len(both) == 3 and alone.items() <= both.items()


def test_an_entry_counts_within_the_cap_of_its_section(weft):

    context = weft.context(
        QUESTION, recipe=with_prices(), budget=Budget(total=600, sections={"prices": 0}, share=False)
    )
    assert "prices" not in [section.name for section in context.sections]
    assert {each.fate for each in context.trace if each.section == "prices"} <= {"dropped", "line"}


def test_a_signal_handed_in_is_weighed_and_traced_as_ours_are(weft):
    def in_the_garden(candidate, facts):
        return 1.0 if "garden" in candidate.node.tags else 0.0

    profile = replace(
        get_profile("balanced"),
        weights={**get_profile("balanced").weights, "garden": 2.0},
        own={"garden": in_the_garden},
    )
    assert weft.context(QUESTION).trace[0].node != "tree"
    context = weft.context(QUESTION, recipe=replace(get_recipe("default"), profile=profile))
    best = max(context.trace, key=lambda each: each.score)
    assert (best.node, best.signals["garden"]) == ("tree", 1.0)


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan"), "much"])
def test_a_signal_that_gives_no_share_is_refused_by_name(weft, value):
    profile = Profile("own", {"charm": 1.0}, own={"charm": lambda candidate, facts: value})
    with pytest.raises(InvalidInput, match=r"signal 'charm' gave .* for '.*': give 0 to 1, or None"):
        weft.context(QUESTION, recipe=replace(get_recipe("default"), profile=profile))


def test_a_signal_that_is_no_function_is_refused():
    with pytest.raises(InvalidInput, match=r"signal 'charm' must be a function, got 0\.5"):
        Profile("own", {"charm": 1.0}, own={"charm": 0.5})  # type: ignore[dict-item]


class Shortest:
    name = "shortest"

    def pack(self, choices, room, shorten):
        free, decided = room.total, {}
        for choice in sorted(choices, key=lambda each: each.tokens):
            cost = choice.tokens + choice.heading
            taken = choice.after is None and cost <= free
            free -= cost if taken else 0
            fate = ("included", "is short") if taken else ("dropped", "is too long")
            decided[id(choice)] = replace(choice, fate=fate[0], reason=fate[1], spent=cost if taken else 0)
        return Packing(tuple(decided[id(choice)] for choice in choices), room.total - free)


class Greedy:
    """Takes all there is, whatever it costs."""

    name = "limitless"

    def pack(self, choices, room, shorten):
        return Packing(tuple(replace(choice, fate="included", reason="why not") for choice in choices), 0)


class Forgetful:
    name = "forgetful"

    def pack(self, choices, room, shorten):
        return Packing((), 0)


def test_a_packer_handed_in_decides_and_its_reasons_are_in_the_trace(weft):
    context = weft.context(QUESTION, budget=60, recipe=replace(get_recipe("default"), packer=Shortest()))
    reasons = {each.reason for each in context.trace}
    assert context.items and {"is short", "is too long"} <= reasons
    assert context.tokens == weft.tools.counter.count(context.text) <= 60


def test_no_packer_gets_past_the_budget(weft):
    context = weft.context(QUESTION, budget=40, recipe=replace(get_recipe("default"), packer=Greedy()))
    assert weft.tools.counter.count(context.text) == context.tokens <= 40


def test_a_packer_that_forgets_choices_is_refused_by_name(weft):
    with pytest.raises(InvalidInput, match="packer 'forgetful' must give an outcome for each of"):
        weft.context(QUESTION, recipe=replace(get_recipe("default"), packer=Forgetful()))


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (
            {"collectors": (LexicalCollector,)},
            "is no collector, it is a class: give an object with name, sec",
        ),
        ({"collectors": (len,)}, "is no collector, it lacks name, section, collect"),
        ({"packer": object()}, "is no packer, it lacks name, pack: give an object with name, pack"),
        ({"reranker": len}, "is no reranker, it lacks rerank"),
    ],
)
def test_what_is_no_such_part_is_refused_when_the_recipe_is_made(part, why):
    with pytest.raises(InvalidInput, match=why):
        replace(get_recipe("default"), **part)


class Longest:
    def rerank(self, query, texts):
        return [len(text) for text in texts]


@pytest.mark.parametrize("name", RECIPES)
def test_a_reranker_is_asked_about_the_hits_of_every_recipe_in_whichever_section(weft, name):
    context = weft.context(QUESTION, recipe=replace(get_recipe(name), reranker=Longest()))
    asked = [each for each in context.trace if "rerank" in each.signals]
    assert len(asked) > 1
    assert all({"words", "vector", "fuzzy", "link_rank"} & {found.kind for found in each.findings} for each in asked)


def test_a_recipe_can_be_made_of_parts_that_are_all_handed_in(weft):
    def cheap(candidate, facts):
        return 1.0 if "4 euros" in candidate.passage.text else 0.5

    def first_only(inquiry, candidates):
        return list(candidates[:1]), []

    recipe = Recipe(
        name="prices",
        collectors=(Prices(PRICES),),
        profile=Profile("cheap", {"cheap": 1.0}, own={"cheap": cheap}),
        packer=Shortest(),
        template=Template(name="bare", section="", item="{{title}}: {{content}}", quote="escape"),
        order=first_only,
    )
    assert weft.context(QUESTION, recipe=recipe).text.strip() == "Small jar: quince jam 4 euros"


def test_an_embedder_handed_in_is_the_one_that_is_asked(tmp_path):
    class Vowels:
        model, dimensions = "vowels-1", 5

        def embed(self, text):
            counts = np.array([text.lower().count(each) for each in "aeiou"], dtype=np.float32)
            return counts / (np.linalg.norm(counts) or 1.0)

        def embed_batch(self, texts):
            return np.stack([self.embed(text) for text in texts]) if texts else np.zeros((0, 5), np.float32)

    with Weft.open(tmp_path / "vowels.weft", embedder=Vowels()) as weft:
        weft.add([Node(id="a", text="abracadabra"), Node(id="o", text="o tomorrow, o sorrow")])
        best, *_ = weft.search("hocus-pocus voodoo", mode="vector")
        assert best.node.id == "o"


def test_a_connector_handed_in_needs_no_registration(tmp_path):
    class Lines:
        name, summary, version = "lines", "One node for each line", 1

        def recognises(self, path):
            return 0.0

        def sources(self, path):
            def read(top):
                yield Node(id=top, type="page", title=path.stem)
                for number, line in enumerate(path.read_text().splitlines()):
                    yield Node(id=f"{top}#{number}", type="list_item", text=line, parent=top)

            yield Source(key="/", id="lines:all", what=str(path), fingerprint=path.read_text, read=read)

    path = tmp_path / "shelf.lines"
    path.write_text("quince jam\napple sauce")
    with Weft.open(tmp_path / "lines.weft") as weft:
        assert follow(weft, path, Lines()).nodes == 3
        assert "quince jam" in weft.context("quince").text


def test_each_part_has_an_example_of_less_than_thirty_lines():
    parts = ("collector", "signal", "order", "reranker", "packer", "template", "embedder", "connector")
    sections = dict(re.findall(r"^## (?:A|An) (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
    assert tuple(sections) == parts
    for part in parts:
        (example,) = re.findall(r"^```python\n(.*?)^```", sections[part], re.MULTILINE | re.DOTALL)
        assert "assert " in example, f"the example of a {part} shows nothing"
        assert example.count("\n") < 30, part


def test_every_search_ranks_and_none_of_them_packs(weft, monkeypatch):
    def refuse(*_):
        raise AssertionError("a search has packed")

    monkeypatch.setattr(engine, "fit", refuse)
    with pytest.raises(AssertionError, match="has packed"):
        weft.context("What is packed?")
    files = FileRepository(weft)
    files.add("notes/quince.md", "Quinces keep until January.")
    memories = ContextEngine(ContextEngineConfig(storage_client=weft))
    for hits in (
        weft.search("quince"),
        weft.search("quince", mode="words"),
        weft.search("quince", mode="vector"),
        files.search_content("quinces"),
        files.search_by_keywords(["quinces", "January"]),
        files.fuzzy_search("quince.md"),
        WeftSearch(weft).find("quince"),
        asyncio.run(memories.search("quince", "main")).value,
    ):
        assert hits


SEARCHES = {"search_words", "search_vector", "search_fuzzy", "search_pages", "prepare_vector_search"}
PICKER = "server/http/routes/inspect.py"
"""Completes titles while they are typed: prefixes and misspellings, not a question."""


def test_nothing_above_the_engine_searches_past_it():
    source = Path(engine.__file__).parent
    past = set()
    for folder in ("faces", "evaluate", "server", "client", "cli", "sample", "ingest"):
        for path in (source / folder).rglob("*.py"):
            for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(each, ast.Attribute) and each.attr in SEARCHES:
                    past.add(path.relative_to(source).as_posix())
                if isinstance(each, ast.Name) and each.id in {"gather", "FactsOnDemand"}:
                    past.add(path.relative_to(source).as_posix())
    assert past - {"cli/options.py"} == {PICKER}  # the options have a local function `gather`


def test_no_budget_is_so_large_that_it_means_none():
    source = Path(engine.__file__).parent
    for path in source.rglob("*.py"):
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "Budget":
                totals = [part.value for part in each.keywords if part.arg == "total"]
                fixed = [part.value for part in totals if isinstance(part, ast.Constant)]
                assert all(isinstance(value, int) and value <= 100_000 for value in fixed), path
