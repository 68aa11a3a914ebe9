"""The default configuration (7.1), and that each of its values takes effect."""

from dataclasses import asdict, fields, is_dataclass
from datetime import timedelta
from typing import Any

import pytest

from weftwork import Edge, Weft
from weftwork.collect.semantic import SemanticCollector
from weftwork.config import FILE, load_config
from weftwork.embed.hashing import HashingEmbedder
from weftwork.errors import InvalidInput
from weftwork.faces import workspace
from weftwork.faces.workspace import ConversationMessage, Focus, TokenBudget, WorkspaceConfig, configured_recipe
from weftwork.faces.workspace.recipe import Variation, recipe_for
from weftwork.store.contract.kit import NOW, node

from .desk import Desk, found_by, scores, section

DEFAULTS = {
    "token_budget": {
        "total": 4000, "focus": 1500, "semantic": 1200, "relations": 800, "activity": 300, "history": 500,
        "system": 200,
    },
    "collectors": {
        "focus": {"enabled": True, "ancestor_depth": 3, "sibling_count": 2, "children_limit": 5},
        "semantic": {"enabled": True, "top_k": 15, "min_threshold": 0.6},
        "relations": {"enabled": True, "max_depth": 2, "max_items": 10},
        "activity": {"enabled": True, "recent_edit_count": 10, "recent_view_count": 5, "max_age_hours": 72},
        "lexical": {"enabled": True, "min_threshold": 0.0},
        "due": {"enabled": True},
        "status": {"enabled": True},
        "similar": {"enabled": True, "limit": 5},
    },
    "ranking": {
        "weights": {
            "semantic": 0.35, "structural": 0.25, "recency": 0.15, "type_match": 0.15, "user_affinity": 0.10,
        },
        "min_evidence": 0.65,
    },
    "truncation": {"default_strategy": "extractive", "min_content_length": 50},
}  # fmt: skip

FOCUS = Focus(block_id="focus")
SUMMARY = "All of it in a few words, made by a model that read it from start to end."


@pytest.fixture
def desk(tmp_path):
    """A workspace with more of everything than the defaults take."""
    with Weft.open(tmp_path / "n.weft", embedder=HashingEmbedder(256), clock=lambda: NOW) as weft:
        weft.add_user("ana")
        others = [
            node(f"o{n:02}", f"quince {'jelly ' * (n % 7)}pot {n}", updated_at=NOW - timedelta(days=n))
            for n in range(30)
        ]
        weft.add(
            [
                node("a5"), *(node(f"a{n}", parent=f"a{n + 1}") for n in (4, 3, 2, 1)),
                *(node(f"s{n}", parent="a1", position=n) for n in range(7) if n != 3),
                node("focus", "The focus.", type="todo", parent="a1", position=3),
                *(node(f"c{n}", parent="focus", position=n) for n in range(7)),
                *others,
            ],
            [Edge(source="focus", target=f"o{n:02}") for n in range(12)] + [Edge(source="c0", target="o20")],
        )  # fmt: skip
        with weft.atomic() as batch:
            for number in range(30):
                moment = NOW - timedelta(hours=5 * number)
                batch.record("ana", f"o{number:02}", "edit" if number % 2 else "view", moment)
        yield Desk(weft)


def test_the_defaults_are_the_contracts():
    assert asdict(WorkspaceConfig()) == DEFAULTS
    assert WorkspaceConfig.from_mapping({}) == WorkspaceConfig.from_mapping(DEFAULTS) == WorkspaceConfig()


def test_the_recipe_of_that_name_has_the_same_defaults(desk):
    asked = {"focus": "focus", "user": "ana"}
    by_name = desk.weft.context("tasks with quince", recipe="workspace", **asked)
    by_settings = desk.weft.context(
        "tasks with quince", recipe=configured_recipe(WorkspaceConfig(), "wordllama-"), **asked
    )
    assert by_name == by_settings
    assert len(by_name.trace) > 20


@pytest.mark.parametrize(
    ("name", "limit"),
    [("focus", 0), ("semantic", 0), ("relations", 50), ("activity", 20), ("history", 0), ("system", 0)],
)
def test_each_section_of_the_budget(desk, name, limit):
    query = "quince" if name == "semantic" else "What is this related to?"
    usual = desk.build(query, focus=FOCUS)
    changed = desk.with_settings(token_budget={name: limit}).build(query, focus=FOCUS)
    if name in ("history", "system"):
        assert usual.context.budget == 3800
        assert changed.context.budget == (4000 if name == "system" else 3800)
    else:
        assert section(changed, name).token_count <= limit < section(usual, name).token_count


def test_a_closed_history_shows_nothing_that_was_said(desk):
    said = (ConversationMessage("user", "Where are the pots?"),)
    assert "Where are the pots?" in desk.build("quince", conversation_history=said).serialized
    closed = desk.with_settings(token_budget={"history": 0})
    assert "Where are the pots?" not in closed.build("quince", conversation_history=said).serialized


def test_the_total(desk):
    assert desk.build("quince", focus=FOCUS).metadata.total_tokens > 300
    payload = desk.with_settings(token_budget={"total": 500}).build("quince", focus=FOCUS)
    assert 0 < payload.metadata.total_tokens <= 300


def test_focus_settings(desk):
    around = {"ancestor_depth": 1, "sibling_count": 1, "children_limit": 2}
    payload = desk.with_settings(collectors={"focus": around}).build(focus=FOCUS)
    assert set(found_by(payload, "focus")) == {"focus", "a1", "s2", "s4", "c0", "c1"}
    for name, wide, more in (
        ("ancestor_depth", 5, {"a4", "a5"}),
        ("sibling_count", 3, {"s0", "s6"}),
        ("children_limit", 7, {"c5", "c6"}),
    ):
        found = found_by(desk.with_settings(collectors={"focus": {name: wide}}).build(focus=FOCUS), "focus")
        assert set(found) - set(found_by(desk.build(focus=FOCUS), "focus")) == more


@pytest.mark.parametrize("name", ["focus", "semantic", "relations", "activity"])
def test_each_collector_can_be_switched_off(desk, name):
    assert found_by(desk.build("quince pot", focus=FOCUS), name)
    payload = desk.with_settings(collectors={name: {"enabled": False}}).build("quince pot", focus=FOCUS)
    assert not found_by(payload, name)
    assert name not in payload.metadata.collectors_used


@pytest.mark.parametrize("many", [3, 25])
def test_top_k(desk, many):
    settings = {"semantic": {"top_k": many, "min_threshold": -1.0}}
    payload = desk.with_settings(collectors=settings).build("quince")
    assert len(found_by(payload, "semantic")) == len(found_by(payload, "lexical")) == many


def test_min_threshold(desk):
    low = found_by(desk.with_settings(collectors={"semantic": {"min_threshold": 0.3}}).build("quince pot"), "semantic")
    high = found_by(desk.with_settings(collectors={"semantic": {"min_threshold": 0.7}}).build("quince pot"), "semantic")
    assert min(low.values()) < 0.7 <= min(high.values())
    assert high.keys() < low.keys()


@pytest.mark.parametrize(("model", "threshold"), [("wordllama-l2-supercat-256", 0.3), ("text-embedding-3-small", 0.6)])
def test_the_threshold_is_rescaled_for_the_static_model(model, threshold):
    collectors = recipe_for(WorkspaceConfig(), Variation(model=model)).collectors
    (semantic,) = [each for each in collectors if each.name == "semantic"]
    assert isinstance(semantic, SemanticCollector)
    assert semantic.threshold == threshold


def test_relations_settings(desk):
    assert len(found_by(desk.build(focus=FOCUS), "relations")) == 10
    few = desk.with_settings(collectors={"relations": {"max_items": 4}}).build(focus=FOCUS)
    assert set(found_by(few, "relations")) == {"o00", "o01", "o02", "o03"}
    desk.weft.add([node("far")], [Edge(source="o20", target="far")])
    child = Focus(block_id="c0")
    assert set(found_by(desk.build(focus=child), "relations")) == {"o20", "far"}
    near = desk.with_settings(collectors={"relations": {"max_depth": 1}}).build(focus=child)
    assert set(found_by(near, "relations")) == {"o20"}


def test_activity_settings(desk):
    def found(**settings):
        return set(found_by(desk.with_settings(collectors={"activity": settings}).build(), "activity"))

    usual = found()
    assert usual == {f"o{n:02}" for n in (1, 3, 5, 7, 9, 11, 13, 0, 2, 4, 6, 8)}  # within 72 hours
    assert found(recent_edit_count=2) == {"o01", "o03", "o00", "o02", "o04", "o06", "o08"}
    assert found(recent_view_count=1) == {"o01", "o03", "o05", "o07", "o09", "o11", "o13", "o00"}
    assert found(max_age_hours=6) == {"o00", "o01"}


@pytest.mark.parametrize(
    ("weight", "signal"),
    [
        ("semantic", "relevance"),
        ("structural", "structural"),
        ("recency", "recency_linear"),
        ("type_match", "type_match"),
        ("user_affinity", "affinity"),
    ],
)
def test_each_weight(desk, weight, signal):
    ranking: Any = DEFAULTS["ranking"]
    alone = dict.fromkeys(ranking["weights"], 0) | {weight: 1}
    payload = desk.with_settings(ranking={"weights": alone}).build("tasks with quince", focus=FOCUS)
    signals = {decision.node: decision.signals[signal] for decision in payload.context.trace}
    assert scores(payload) == pytest.approx(signals)
    assert len(set(signals.values())) > 1


@pytest.mark.parametrize(("count", "place"), [(12, 6), (80, 60)])
@pytest.mark.parametrize("strategy", ["keep_start", "keep_end", "extractive", "summarise", "summarize"])
def test_each_truncation_strategy_sees_the_whole_block(tmp_path, strategy, count, place):
    sentences = [f"Sentence number {n} is about the weather of that day in the year." for n in range(count)]
    text = " ".join([*sentences[:place], "Only this one tells of quinces.", *sentences[place:]])
    read = []
    with Weft.open(
        tmp_path / "n.weft", embedder=None, clock=lambda: NOW, summarise=lambda text, _: read.append(text) or SUMMARY
    ) as weft:
        weft.add([node("n", text, type="paragraph", title="")])
        desk = Desk(weft, "me").with_settings(truncation={"default_strategy": strategy})
        payload = desk.build(
            "quinces", focus=Focus(block_id="n"), token_budget=TokenBudget(total=190, focus=130, system=0)
        )
    (item,) = section(payload, "focus").items
    content, _, share = item.content.partition("\n(")
    assert bool(share) is not strategy.startswith("summar")
    shown = {
        "keep_start": content.startswith("Sentence number 0") and content.endswith("…"),
        "keep_end": content.startswith("…") and content.endswith(sentences[-1]),
        "extractive": "Only this one tells of quinces." in item.content,
        "summarise": item.content == SUMMARY and set(read) == {text},
    }
    assert shown[strategy.replace("summarize", "summarise")]
    assert payload.metadata.total_tokens <= 190


def test_min_content_length(desk):
    desk.weft.add([node("long", "medlar " * 150, type="block")])

    def fate(length, query="", focus=None):
        settings = {"truncation": {"min_content_length": length, "default_strategy": "keep_start"}}
        budget = TokenBudget(total=250, focus=130 if focus else 0, semantic=0 if focus else 130, activity=0, system=0)
        payload = desk.with_settings(**settings).build(query, focus=focus, token_budget=budget)
        (decision,) = [each for each in payload.context.trace if each.node == "long"]
        return decision.fate

    assert fate(50, "medlar") == "truncated"
    assert fate(2000, "medlar") == "dropped"
    assert fate(50, focus=Focus(block_id="long")) == "truncated"
    assert fate(2000, focus=Focus(block_id="long")) == "line"  # the focus is there at least by its name


def test_settings_stand_in_weft_toml(tmp_path):
    (tmp_path / FILE).write_text(
        "[recipes.workspace.token_budget]\ntotal = 3000\n[recipes.workspace.collectors.semantic]\ntop_k = 4\n"
        "min_threshold = 1\n[recipes.workspace.ranking.weights]\nrecency = 0.5\n"
    )
    config = WorkspaceConfig.from_mapping(load_config(tmp_path, {}).recipes["workspace"])
    assert config.token_budget == TokenBudget(total=3000)
    assert (config.collectors.semantic.top_k, config.collectors.semantic.min_threshold) == (4, 1.0)
    assert config.ranking.weights.recency == 0.5
    assert config.truncation == WorkspaceConfig().truncation


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[recipes.workspce]\nx = 1", r"weftwork\.toml has settings for an unknown recipe 'workspce': use .*workspace"),
        (
            "[recipes]\nworkspace = 5",
            r"recipes\.workspace in .*weftwork\.toml must be a table \[recipes\.workspace\], got 5",
        ),
        (
            "[recipes.workspace]\nbudget = 1",
            r"unknown setting recipes\.workspace\.budget: use one of token_budget, coll",
        ),
        (
            "[recipes.workspace.collectors.focus]\ndepth = 1",
            r"unknown setting recipes\.workspace\.collectors\.focus\.depth: use one of enabled, ancestor_depth",
        ),
        (
            "[recipes.workspace.collectors]\nfocus = true",
            r"collectors\.focus must be a table \[recipes\.workspace\.collectors\.focus\], got True",
        ),
        (
            '[recipes.workspace.collectors.semantic]\ntop_k = "15"',
            r"recipes\.workspace\.collectors\.semantic\.top_k must be of type int, got '15'",
        ),
        (
            "[recipes.workspace.collectors.semantic]\ntop_k = true",
            r"recipes\.workspace\.collectors\.semantic\.top_k must be of type int, got True",
        ),
        ("[recipes.workspace.collectors.semantic]\ntop_k = 0", r"semantic\] top_k must be from 1 to 1000, got 0"),
        (
            "[recipes.workspace.collectors.semantic]\nmin_threshold = nan",
            r"min_threshold must be from -1 to 1, got nan",
        ),
        ("[recipes.workspace.collectors.relations]\nmax_depth = 6", r"max_depth must be from 1 to 5, got 6"),
        ("[recipes.workspace.collectors.activity]\nmax_age_hours = -1", r"max_age_hours must be from 0 to \d+, got -1"),
        ("[recipes.workspace.collectors.focus]\nsibling_count = -1", r"sibling_count must be from 0 to 1000, got -1"),
        ("[recipes.workspace.collectors.focus]\nenabled = 1", r"focus\.enabled must be of type bool, got 1"),
        ("[recipes.workspace.ranking.weights]\nrecency = -1", r"weight of recency_linear .* must be 0 or more, got -1"),
        (
            '[recipes.workspace.truncation]\ndefault_strategy = "middle"',
            r"\[recipes\.workspace\.truncation\] unknown truncation strategy 'middle': use one of .*, summarize$",
        ),
        (
            "[recipes.workspace.token_budget]\ntotal = 100",
            r"200 of 100 tokens are reserved .* raise total or lower system",
        ),
        ("[recipes.workspace.token_budget]\nfocus = -5", r"the budget of section 'focus' is -5: give a whole number"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_place_and_the_fix(tmp_path, text, message):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(InvalidInput, match=message):
        WorkspaceConfig.from_mapping(load_config(tmp_path, {}).recipes["workspace"])


def test_every_part_of_the_configuration_is_exported():
    def parts(settings):
        for member in fields(settings):
            value = getattr(settings, member.name)
            if is_dataclass(value):
                yield type(value)
                yield from parts(value)

    named = {kind.__name__ for kind in parts(WorkspaceConfig())}
    assert len(named) > 8
    assert named <= set(workspace.__all__)


def test_each_search_can_be_switched_off_by_itself(desk):
    def found(**off):
        payload = desk.with_settings(collectors=off).build("Find overdue pots similar to quince", focus=FOCUS)
        return {name for name in ("lexical", "semantic", "due", "similar") if found_by(payload, name)}

    desk.weft.add([node("late", "Wash the pots", type="todo", fields={"due": "2026-03-01"})])
    all_of_them = {"lexical", "semantic", "due", "similar"}
    on = {"semantic": {"min_threshold": 0.0}}
    assert found(**on) == all_of_them
    for name in all_of_them:
        assert found(**{**on, name: {"enabled": False}}) == all_of_them - {name}


def test_words_have_a_threshold_of_their_own(desk):
    def found(**settings):
        return found_by(desk.with_settings(collectors={"lexical": settings}).build("quince jelly"), "lexical")

    every = found()
    middle = sorted(every.values())[len(every) // 2]
    assert min(every.values()) < middle
    assert found(min_threshold=middle - 1e-6) == {name: score for name, score in every.items() if score >= middle}
    assert found(min_threshold=1.0) == {}


def test_min_evidence(desk):
    def kept(**settings):
        payload = desk.with_settings(ranking=settings).build("quince jelly", type="search")
        return {decision.node for decision in payload.context.trace if "evidence" not in decision.reason}

    desk.weft.add([node("tart", "The tart of Lyon has almonds and a jelly on top.")])
    assert "tart" in kept(min_evidence=0.0)
    assert "tart" not in kept(min_evidence=1.0)
    assert kept(min_evidence=1.0) < kept(min_evidence=0.0)


def test_a_template_that_a_budget_is_too_small_for_is_named_by_a_warning(desk):
    asked = "quince " * 400
    payload = desk.build(asked, focus=FOCUS, token_budget=TokenBudget(total=300, system=0))
    assert payload.context.warnings == (
        "a budget of 300 tokens is too small for template 'workspace': 'plain' is used instead",
    )
