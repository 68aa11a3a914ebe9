"""The pack-render loop: fits offers into the budget, and counts the text itself to prove it."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weftwork.clock import Stopwatch
from weftwork.compose.offers import HISTORY, Offer
from weftwork.compose.repeats import LeftOut
from weftwork.errors import InvalidInput
from weftwork.pack import Choice, Outcome, Packing, Rendering, caps_of, get_packer, room_for
from weftwork.query import Question
from weftwork.recipe import Recipe
from weftwork.render import (
    ExcerptRenderer,
    FieldChoice,
    Template,
    Templates,
    citations_of,
    lay_out,
    overhead,
    pieces_of,
    stable_prefix,
)
from weftwork.render.excerpts import Load
from weftwork.request import Request
from weftwork.text.tokens import TokenCounter
from weftwork.text.truncate import Summarise, truncate
from weftwork.types import SECTIONS, Budget, Candidate, Context, Decision, Excerpt, Fate, Form, Item, Section

ATTEMPTS = 8
"""The most times that a text is packed because its parts did not add up as they were priced."""
SLACK = 4
"""Tokens by which a single part may be priced too high."""
FULL = 0.97
"""The share of the budget from which a text counts as full."""
FORMS: tuple[Form, ...] = ("line", "hits", "window", "section", "whole")


@dataclass(frozen=True, slots=True)
class Fitting:
    """The parts that fitting works with."""

    request: Request
    question: Question
    recipe: Recipe
    counter: TokenCounter
    templates: Templates
    load: Load
    summarise: Summarise | None = None
    watch: Stopwatch = field(default_factory=Stopwatch)
    """Times packing and rendering apart; shortening for a packer counts as packing."""

    def shorten(self, content: str, limit: int) -> tuple[str, str]:
        """Shorten content to a limit by the request's strategy; the note names another that was used.

        The text is "" if too little would be left.
        """
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
class _Priced:
    """An offer, and the choices that were made of its parts."""

    offer: Offer
    choices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    text: str
    tokens: int
    sections: tuple[Section, ...]
    overflow: tuple[Excerpt, ...]
    packing: Packing
    template: Template
    choices: Sequence[Choice]
    priced: Sequence[_Priced]
    smallest: int = 0
    """The tokens of the smallest excerpt, where not even that fitted."""

    @property
    def wants_more(self) -> bool:
        """True if something was left out for lack of room."""
        return any(outcome.taken is None and outcome.missing_tokens is not None for outcome in self.packing.outcomes)


def fit(fitting: Fitting, offers: Sequence[Offer], left_out: Sequence[LeftOut]) -> Context:
    """The context that the budget allows; its text never counts more than the budget."""
    template = fitting.templates.get(fitting.recipe.template)
    draft = _drafted(fitting, template, offers, lines=fitting.recipe.lines)
    # Headings can take all of a small budget: the plain template has none but that of the list of titles.
    if offers and not draft.sections and (template.header or template.section) and fitting.recipe.plain:
        for lines in (False, True) if fitting.recipe.lines else (False,):
            if not draft.sections:
                draft = _drafted(fitting, fitting.templates.get("plain"), offers, lines=lines)
    with fitting.watch("render"):
        context = _context(fitting, draft, left_out)
    if draft.template is template or not draft.text or context.warnings:
        return context
    budget = f"a budget of {fitting.request.budget.total} tokens is too small for template {template.name!r}"
    return replace(context, warnings=(f"{budget}: {draft.template.name!r} is used instead",))


class _Pricing:
    """Offers with prices by a template; renders each excerpt once for each set of passages."""

    def __init__(self, fitting: Fitting, template: Template, offers: Sequence[Offer], *, lines: bool) -> None:
        request = fitting.request
        fields = FieldChoice(request.show_fields, request.key_fields, request.show)
        self.renderer = ExcerptRenderer(
            template,
            fitting.counter,
            fitting.load,
            fitting.shorten,
            request.truncation,
            fields,
            words=fitting.question.words,
        )
        self.template = template
        self._load = fitting.load
        self.choices: list[Choice] = []
        self.priced: list[_Priced] = []
        self._rendered: dict[tuple[int, tuple[int, ...]], Excerpt] = {}
        self._cut: dict[int, tuple[Rendering, Excerpt]] = {}
        self._homes: dict[int, Offer] = {}
        self._exact = False
        for offer in offers:
            self._price(offer, lines)

    def _price(self, offer: Offer, lines: bool) -> None:
        heading = self.renderer.heading_tokens(offer)
        line = self.renderer.line(offer).tokens if lines or any(part.pinned for part in offer.parts) else None
        first = len(self.choices)
        for part in offer.parts:
            candidate = part.hit if part.hit.section == offer.section else replace(part.hit, section=offer.section)
            choice = Choice(
                candidate,
                self.renderer.part_tokens(offer, part.keys),
                part.score,
                part.form,
                offer.document.id,
                heading,
                None if part.after is None else first + part.after,
                line,
                part.pinned,
                part.keys,
            )
            self._homes[id(choice)] = offer
            self.choices.append(choice)
        self.priced.append(_Priced(offer, tuple(range(first, len(self.choices)))))

    def load(self, keys: Iterable[int]) -> None:
        """Read passages with one query, before they are rendered one document after the other."""
        self._load(list(keys))

    def smallest(self) -> int:
        """The tokens of the smallest excerpt of all, counted."""
        self.price_exactly()
        return min((choice.tokens + choice.heading for choice in self.choices if choice.after is None), default=0)

    def price_exactly(self) -> bool:
        """Price the first parts of each document by rendering them; False if that was done before.

        Where hardly anything fits, an estimate is not good enough.
        """
        if self._exact:
            return False
        self._exact = True
        for priced in self.priced:
            for index in priced.choices:
                choice = self.choices[index]
                if choice.after is None:
                    tokens = self.renderer.excerpt(priced.offer, choice.keys, choice.form).tokens
                    self.choices[index] = replace(choice, tokens=tokens - choice.heading)
                    self._homes[id(self.choices[index])] = priced.offer
        return True

    def shorten(self, choice: Choice, limit: int) -> Rendering | None:
        """Shorten a choice for a packer; None if too little would be left."""
        offer = self._homes[id(choice)]
        excerpt = self.renderer.shortened(offer, choice.keys, choice.form, limit)
        if excerpt is None:
            return None
        rendering = self.renderer.rendering(excerpt, choice.tokens + choice.heading)
        self._cut[id(rendering)] = (rendering, excerpt)
        return rendering

    def excerpt(self, priced: _Priced, outcomes: Sequence[Outcome]) -> Excerpt | None:
        """The document as the outcomes of its parts show it; None if nothing of it is shown."""
        taken = [outcome for outcome in outcomes if outcome.taken == "whole"]
        cut = next((outcome for outcome in outcomes if outcome.taken == "truncated"), None)
        if cut is not None:
            more = [key for outcome in taken for key in outcome.choice.keys]
            excerpt = self._cut[id(cut.rendering)][1]
            return self.renderer.with_more(priced.offer, excerpt, cut.choice.keys, more) if more else excerpt
        if taken:
            keys = tuple(sorted(key for outcome in taken for key in outcome.choice.keys))
            form = max((outcome.choice.form for outcome in taken), key=FORMS.index)
            cached = (id(priced.offer), keys)
            if cached not in self._rendered:
                titles = {outcome.choice.candidate.key for outcome in taken} - set(keys)
                self._rendered[cached] = _with_titles(
                    self.renderer.excerpt(priced.offer, keys, form), priced.offer, titles
                )
            return self._rendered[cached]
        lined = any(outcome.taken == "line" for outcome in outcomes)
        return self.renderer.line(priced.offer) if lined else None


def _with_titles(excerpt: Excerpt, offer: Offer, titles: Collection[int]) -> Excerpt:
    """The excerpt with the bare titles that were found, for which the text below them stands."""
    if not titles:
        return excerpt
    place = offer.reading.place
    items = [*excerpt.items, *(Item(offer.hits[key], "") for key in titles if key in offer.hits)]
    return replace(excerpt, items=tuple(sorted(items, key=lambda item: place[item.candidate.key])))


def _drafted(fitting: Fitting, template: Template, offers: Sequence[Offer], *, lines: bool) -> _Draft:
    """Price, pack and lay out until the text as a whole keeps the budget and is as full as possible."""
    budget, query = fitting.request.budget, fitting.request.query
    with fitting.watch("render"):
        pricing = _Pricing(fitting, template, offers, lines=lines)
    present = {offer.section for offer in offers}
    names = [name for name in SECTIONS if name in present] + sorted(present - set(SECTIONS))
    packer = get_packer(fitting.recipe.packer)
    fixed = overhead(template, names, query, lines, fitting.counter)
    # The last item stands without the separator that it is priced with.
    spare, crowded, best, step = fitting.counter.count(template.separator), Counter[str](), None, 1
    for _ in range(ATTEMPTS):
        with fitting.watch("pack"):
            room = room_for(_lower_caps(budget, crowded), fixed - spare, pricing.choices)
            packing = packer.pack(pricing.choices, room, pricing.shorten)
        if len(packing.outcomes) != len(pricing.choices):
            raise InvalidInput(
                f"packer {packer.name!r} must give an outcome for each of {len(pricing.choices)} choices"
            )
        with fitting.watch("render"):
            sections, overflow = _arranged(pricing, packing, names, budget.sections)
            shown = sections or overflow or template.empty is not None
            text = lay_out(sections, overflow, template, query) if shown else ""
            tokens = fitting.counter.count(text)
        over = _excess(sections, budget)
        if tokens <= budget.total and not over:
            least = 0 if sections else pricing.smallest()
            draft = _Draft(text, tokens, sections, overflow, packing, template, pricing.choices, pricing.priced, least)
            if best is not None and tokens <= best.tokens:
                break
            best = draft
            if tokens >= FULL * budget.total or not draft.wants_more:
                break
            if not sections and pricing.price_exactly():
                continue
            # What the parts were priced too high is there for the next one, which may be priced too high itself.
            spare = max(spare, fixed + packing.used - tokens) + SLACK
        else:
            # A few tokens less may change nothing: each time it does not fit, it is given twice as many less.
            spare -= max(0, tokens - budget.total) + (step if tokens > budget.total else 0)
            step *= 2
            crowded += over
    if best is not None:
        return best
    reason = "the budget was too small"
    nothing = Packing(tuple(Outcome(choice, None, reason) for choice in pricing.choices), 0)
    return _Draft("", 0, (), (), nothing, template, pricing.choices, pricing.priced, pricing.smallest())


def _excess(sections: Sequence[Section], budget: Budget) -> Counter[str]:
    """Tokens by which sections exceed hard caps."""
    caps = caps_of(budget)
    return Counter(
        {
            section.name: section.tokens - caps[section.name]
            for section in sections
            if section.tokens > caps.get(section.name, section.tokens)
        }
    )


def _lower_caps(budget: Budget, crowded: Mapping[str, int]) -> Budget:
    """Lower the caps of sections by the tokens that they exceeded them by."""
    if not crowded:
        return budget
    caps = {name: max(0, tokens - crowded.get(name, 0)) for name, tokens in budget.sections.items()}
    return replace(budget, sections=caps)


def _arranged(
    pricing: _Pricing, packing: Packing, names: Sequence[str], budgets: Mapping[str, int]
) -> tuple[tuple[Section, ...], tuple[Excerpt, ...]]:
    """Excerpts by section, pinned ones first, then the best first; and those of one line."""
    shown: list[tuple[tuple[bool, float, str], _Priced, Excerpt]] = []
    overflow: list[tuple[float, str, Excerpt]] = []
    pricing.load(key for outcome in packing.outcomes if outcome.taken == "whole" for key in outcome.choice.keys)
    for priced in pricing.priced:
        outcomes = [packing.outcomes[index] for index in priced.choices]
        excerpt = pricing.excerpt(priced, outcomes)
        if excerpt is None:
            continue
        asked = any(part.pinned for part in priced.offer.parts)
        best = max((outcome.choice.score for outcome in outcomes if outcome.taken), default=excerpt.score)
        if excerpt.form == "line" and not asked:
            overflow.append((-best, excerpt.document.id, excerpt))
        else:
            # Messages that were handed in with the request were said after all that are stored.
            latest = priced.offer.section == HISTORY and excerpt.items[0].candidate.key < 0
            rank = math.inf if latest else -best
            shown.append(((not asked, rank, excerpt.document.id), priced, excerpt))
    shown.sort(key=lambda entry: entry[0])
    sections, number = [], 0
    for name in names:
        excerpts = []
        for _, priced, excerpt in shown:
            if priced.offer.section == name:
                number += 1
                excerpts.append(pricing.renderer.numbered(priced.offer, excerpt, number))
        if excerpts:
            cost = sum(excerpt.tokens for excerpt in excerpts)
            sections.append(Section(name, pricing.template.title_of(name), tuple(excerpts), cost, budgets.get(name)))
    return tuple(sections), tuple(excerpt for *_, excerpt in sorted(overflow, key=lambda entry: entry[:2]))


def _context(fitting: Fitting, draft: _Draft, left_out: Sequence[LeftOut]) -> Context:
    request = fitting.request
    decisions = list(_decisions(draft))
    # A repeat may stand in a document that is shown whole.
    decided = {(decision.node, decision.citation) for decision in decisions}
    repeats = map(_left_out_decision, left_out)
    decisions += [decision for decision in repeats if (decision.node, decision.citation) not in decided]
    excerpts = [excerpt for section in draft.sections for excerpt in section.excerpts]
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
        citations=citations_of([*excerpts, *draft.overflow]),
        trace=tuple(sorted(decisions, key=lambda decision: (-decision.score, decision.citation, decision.node))),
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


def _decisions(draft: _Draft) -> Iterator[Decision]:
    """Decisions on each candidate, and on passages that are shown because they surround one."""
    shown = {
        (excerpt.section, item.candidate.key): (item, excerpt)
        for section in draft.sections
        for excerpt in section.excerpts
        for item in excerpt.items
        if excerpt.form != "line"
    }
    for priced in draft.priced:
        parts = [draft.packing.outcomes[index] for index in priced.choices]
        outcomes = {key: outcome for outcome in parts for key in outcome.choice.keys}
        # What stands for a bare title is the first text below it.
        first = {outcome.choice.candidate.key: outcome for outcome in reversed(parts)}
        section, tokens = priced.offer.section, priced.offer.reading.tokens
        lined = any(outcome.taken == "line" for outcome in outcomes.values())
        for key, hit in priced.offer.hits.items():
            outcome = outcomes.get(key) or first.get(key) or parts[0]
            fate, reason, missing = _fate(outcome, shown.get((section, key)), tokens[key], lined=lined)
            yield _decision(hit, section, fate, reason, tokens[key], missing)
        for key, outcome in outcomes.items():
            if key not in priced.offer.hits and (section, key) in shown:
                item, _ = shown[section, key]
                reason = f"stands around [{outcome.choice.candidate.passage.citation}]: {outcome.choice.form}"
                fate = "truncated" if item.truncated else "included"
                yield _decision(item.candidate, section, fate, reason, tokens[key], None)


def _fate(
    outcome: Outcome, shown: tuple[Item, Excerpt] | None, tokens: int, *, lined: bool
) -> tuple[Fate, str, int | None]:
    """The fate of a hit, the reason, and the tokens that it lacked."""
    note = "" if outcome.rendering is None else outcome.rendering.note
    reason, missing = f"{outcome.reason} ({note})" if note else outcome.reason, outcome.missing_tokens
    if shown is not None:
        item, excerpt = shown
        if item.truncated:
            return "truncated", reason, missing
        priced_too_high = outcome.taken == "truncated" and not excerpt.truncated
        return "included", "among the best that fit" if priced_too_high else reason, None
    if outcome.taken == "truncated":
        return "dropped", "left out when its document was shortened", missing or tokens
    return "line" if lined else "dropped", reason, missing


def _decision(
    candidate: Candidate, section: str, fate: Fate, reason: str, tokens: int, missing: int | None
) -> Decision:
    return Decision(
        citation=candidate.passage.citation,
        node=candidate.node.id,
        type=candidate.node.type,
        title=candidate.node.title,
        section=section,
        findings=candidate.findings,
        signals=candidate.signals,
        score=candidate.score,
        tokens=tokens,
        fate=fate,
        reason=reason,
        missing_tokens=missing,
        start=candidate.reached[0].start if candidate.reached else "",
        path=candidate.path,
    )


def _left_out_decision(left_out: LeftOut) -> Decision:
    original = "" if left_out.kept is None else left_out.kept.passage.citation
    reason = left_out.reason or f"a repeat of [{original}]"
    candidate = left_out.candidate
    return _decision(candidate, candidate.section, "dropped", reason, candidate.passage.tokens, None)


def _warnings(draft: _Draft, request: Request) -> tuple[str, ...]:
    """Warnings of pinned documents that did not fit even as a line, or of a budget too small for all."""
    lost = [
        priced.offer.document
        for priced in draft.priced
        if any(part.pinned for part in priced.offer.parts)
        and not any(draft.packing.outcomes[index].taken for index in priced.choices)
    ]
    warnings = [
        f"{document.title or document.id!r} was asked for and does not fit into {request.budget.total} tokens, "
        "not even by name"
        for document in lost
    ]
    if not draft.sections and draft.choices and not lost:
        least = f"the smallest needs {draft.smallest}"
        warnings.append(f"a budget of {request.budget.total} tokens holds no excerpt: {least}")
    return tuple(warnings)


def _identity(context: Context) -> str:
    """The same for the same text to the same user, and different otherwise."""
    named = "\0".join((context.workspace, context.user, context.query, context.text))
    return "ctx-" + hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
