"""Fitting ranked candidates into the budget, and proving it on the text itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from weftwork.clock import Stopwatch
from weftwork.pack import Choice, Outcome, Packing, get_packer, room_for
from weftwork.query import Question
from weftwork.recipe import Recipe
from weftwork.render import (
    FieldChoice,
    ItemRenderer,
    Template,
    Templates,
    citations_of,
    lay_out,
    overhead,
    pieces_of,
    stable_prefix,
)
from weftwork.render.tree import as_a_tree
from weftwork.request import Request
from weftwork.score.duplicates import Collapsed
from weftwork.text.tokens import TokenCounter
from weftwork.text.truncate import Summarise, truncate
from weftwork.types import SECTIONS, Candidate, Context, Decision, Fate, Form, Item, Section

ATTEMPTS = 6
"""How often a text that counts more than its parts is packed again, each time with less room."""

FATES: Mapping[Form, Fate] = {
    "full": "included",
    "truncated": "truncated",
    "summary": "summarised",
    "line": "line",
}

_EARLY = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Fitting:
    """The parts that fitting works with."""

    request: Request
    question: Question
    recipe: Recipe
    counter: TokenCounter
    templates: Templates
    summarise: Summarise | None = None
    watch: Stopwatch = field(default_factory=Stopwatch)
    """Times packing and rendering apart; what a packer has shortened counts as packing."""

    def shorten(self, content: str, limit: int) -> tuple[str, str]:
        """Content within a limit, by the request's strategy, and a note if it had to be another; "" if too short."""
        cut = truncate(
            content,
            limit,
            strategy=self.request.truncation,
            counter=self.counter,
            words=frozenset(self.question.words),
            summarise=self.summarise,
        )
        return (cut.text, cut.note) if len(cut.text) >= self.recipe.min_length else ("", "")


@dataclass(frozen=True, slots=True)
class _Draft:
    text: str
    tokens: int
    sections: tuple[Section, ...]
    overflow: tuple[Item, ...]
    packing: Packing
    template: Template
    choices: Sequence[Choice]


def fit(fitting: Fitting, ranked: Sequence[Candidate], repeats: Sequence[Collapsed]) -> Context:
    """The context that the budget allows; its text never counts more than the budget."""
    lines = fitting.recipe.lines
    template = fitting.templates.get(fitting.recipe.template)
    draft = _drafted(fitting, template, ranked, lines)
    # Headings can take all of a small budget: the plain template has none but that of the list of titles.
    for with_lines in (False, True) if lines else (False,):
        if ranked and not draft.sections and (template.header or template.section):
            draft = _drafted(fitting, fitting.templates.get("plain"), ranked, with_lines)
    with fitting.watch("render"):
        return _context(fitting, draft, repeats)


def _names(ranked: Sequence[Candidate]) -> list[str]:
    present = {candidate.section for candidate in ranked}
    return [name for name in SECTIONS if name in present] + sorted(present - set(SECTIONS))


def _drafted(fitting: Fitting, template: Template, ranked: Sequence[Candidate], lines: bool) -> _Draft:
    """Render, pack and lay out until the text, counted as a whole, keeps the budget."""
    budget, query = fitting.request.budget, fitting.request.query
    fields = FieldChoice(fitting.request.show_fields, fitting.request.key_fields)
    renderer = ItemRenderer(template, fitting.counter, fitting.shorten, fields)
    with fitting.watch("render"):
        choices = [Choice(each, renderer.full(each), renderer.line if lines else None) for each in ranked]
    names = _names(ranked)
    packer = get_packer(fitting.recipe.packer)
    fixed = overhead(template, names, query, lines, fitting.counter)
    excess = 0
    for _ in range(ATTEMPTS):
        with fitting.watch("pack"):
            packing = packer.pack(choices, room_for(budget, fixed + excess, choices), renderer.shorten)
        with fitting.watch("render"):
            sections, overflow = _arranged(packing, names, template, budget.sections)
            shown = sections or overflow or template.empty is not None
            text = lay_out(sections, overflow, template, query) if shown else ""
            tokens = fitting.counter.count(text)
        if tokens <= budget.total:
            return _Draft(text, tokens, sections, overflow, packing, template, choices)
        excess += tokens - budget.total
    nothing = Packing(tuple(Outcome(c.candidate, None, "the budget was too small") for c in choices), 0)
    return _Draft("", 0, (), (), nothing, template, choices)


def _arranged(
    packing: Packing, names: Sequence[str], template: Template, budgets: Mapping[str, int]
) -> tuple[tuple[Section, ...], tuple[Item, ...]]:
    """Chosen items by section, and those that are named in one line."""
    items = [Item(each.candidate, each.rendering) for each in packing.outcomes if each.rendering is not None]
    whole = [item for item in items if item.rendering.form != "line"]
    sections = []
    for name in names:
        own = [item for item in whole if item.candidate.section == name]
        if own:
            ordered = _ORDERS[name](own) if name in _ORDERS else own
            cost = sum(item.rendering.tokens for item in own)
            sections.append(Section(name, template.title_of(name), tuple(ordered), cost, budgets.get(name)))
    return tuple(sections), tuple(item for item in items if item.rendering.form == "line")


def _spoken(item: Item) -> tuple[bool, datetime, int, int, int]:
    """The order in which messages were said: those handed in after those stored, in the order given."""
    node, key = item.candidate.node, item.candidate.key
    if key < 0:
        return (True, _EARLY, 0, 0, -key)
    return (False, node.created_at or _EARLY, node.position, item.candidate.passage.ordinal, key)


_ORDERS: Mapping[str, Callable[[list[Item]], list[Item]]] = {
    "history": lambda items: sorted(items, key=_spoken),
    "graph": as_a_tree,
}
"""Sections whose items do not stand in the order of their scores."""


def _context(fitting: Fitting, draft: _Draft, repeats: Sequence[Collapsed]) -> Context:
    request = fitting.request
    costs = {choice.candidate.key: choice.full.tokens for choice in draft.choices}
    decisions = [_decision(outcome, costs[outcome.candidate.key]) for outcome in draft.packing.outcomes]
    decisions += [_repeat(repeat) for repeat in repeats]
    items = [item for section in draft.sections for item in section.items]
    context = Context(
        id="",
        query=request.query,
        workspace=request.workspace,
        user=request.user,
        text=draft.text,
        tokens=draft.tokens,
        budget=request.budget.total,
        sections=draft.sections,
        overflow=draft.overflow,
        citations=citations_of([*items, *draft.overflow]),
        trace=tuple(sorted(decisions, key=lambda each: (-each.score, each.citation, each.node))),
        stable_prefix_tokens=_stable_tokens(draft, fitting),
        warnings=_warnings(draft, request),
        pieces=pieces_of(draft.sections, draft.overflow, draft.template, request.query) if draft.text else (),
    )
    return replace(context, id=_identity(context))


def _stable_tokens(draft: _Draft, fitting: Fitting) -> int:
    if not draft.text:
        return 0
    prefix = stable_prefix(draft.sections, draft.overflow, draft.template, fitting.request.query)
    return draft.tokens if prefix == draft.text else fitting.counter.count(prefix)


def _decision(outcome: Outcome, cost: int) -> Decision:
    candidate = outcome.candidate
    fate: Fate = "dropped" if outcome.rendering is None else FATES[outcome.rendering.form]
    note = outcome.rendering.note if outcome.rendering else ""
    return Decision(
        citation=candidate.passage.citation,
        node=candidate.node.id,
        type=candidate.node.type,
        title=candidate.node.title,
        section=candidate.section,
        findings=candidate.findings,
        signals=candidate.signals,
        score=candidate.score,
        tokens=cost,
        fate=fate,
        reason=f"{outcome.reason} ({note})" if note else outcome.reason,
        missing_tokens=outcome.missing_tokens,
        start=candidate.reached[0].start if candidate.reached else "",
        path=candidate.path,
    )


def _repeat(repeat: Collapsed) -> Decision:
    kept = "" if repeat.kept is None else repeat.kept.passage.citation
    reason = repeat.reason or f"says the same as [{kept}], which is newer or better"
    return replace(_decision(Outcome(repeat.candidate, None, reason), repeat.candidate.passage.tokens))


def _warnings(draft: _Draft, request: Request) -> tuple[str, ...]:
    if draft.sections or not draft.choices:
        return ()
    smallest = min(choice.full.tokens for choice in draft.choices)
    return (f"a budget of {request.budget.total} tokens holds no item: the smallest needs {smallest}",)


def _identity(context: Context) -> str:
    """The same for the same text to the same user, and different otherwise."""
    named = "\0".join((context.workspace, context.user, context.query, context.text))
    return "ctx-" + hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
