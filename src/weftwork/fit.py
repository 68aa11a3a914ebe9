"""The pack-render loop: fits offers into the budget, and counts the text itself to prove it."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from weftwork.clock import Stopwatch
from weftwork.compose.offers import HISTORY, Offer
from weftwork.errors import InvalidInput
from weftwork.pack import Choice, Choices, Packer, Packing, Room, caps_of, get_packer, room_for
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
)
from weftwork.render.excerpts import Load
from weftwork.request import Request
from weftwork.text.tokens import TokenCounter
from weftwork.text.truncate import Summarise, truncate
from weftwork.types import SECTIONS, Context, Decision, Excerpt, Fate, Form, Item, Section

ATTEMPTS = 8
"""The most times that a text is packed because its parts did not add up as they were priced."""
SLACK = 4
"""Tokens by which a single part may be priced too high."""
FULL = 0.97
"""The share of the budget from which a text counts as full."""
SHORTENED_WORTH = 0.99
"""The most of its score that a part keeps when it is shortened."""
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
class _Draft:
    text: str
    tokens: int
    sections: tuple[Section, ...]
    overflow: tuple[Excerpt, ...]
    packing: Packing
    template: Template
    documents: Sequence[tuple[Offer, range]]
    """Each offer with the positions of its choices."""
    smallest: int = 0
    """The tokens of the smallest excerpt, where not even that fitted."""

    @property
    def wants_more(self) -> bool:
        """True if something was left out or shortened for lack of room."""
        return any(fate == "truncated" or missing is not None for fate, missing in self.packing.missing())


def fit(fitting: Fitting, offers: Sequence[Offer], left_out: Sequence[Decision]) -> Context:
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
        self.load = fitting.load
        self.choices = Choices()
        self.documents: list[tuple[Offer, range]] = []
        """Each offer with the positions of its choices."""
        self._rendered: dict[tuple[int, tuple[int, ...]], Excerpt] = {}
        self._shortened: dict[tuple[tuple[str, str], tuple[int, ...], Form, int], Excerpt | None] = {}
        self._exact = False
        for offer in offers:
            first = len(self.choices)
            self.choices += self._priced(offer, first, lines=lines)
            self.documents.append((offer, range(first, len(self.choices))))
        self.document_of = [number for number, (_, places) in enumerate(self.documents) for _ in places]
        """The position of the document of each choice."""
        self._offers = {(offer.section, offer.document.id): offer for offer in offers}

    def _priced(self, offer: Offer, first: int, *, lines: bool) -> Iterator[Choice]:
        """The parts of a document with their prices; `first` is the position of the first among all choices."""
        heading = self.renderer.heading_tokens(offer)
        # Most documents are shown, or do not even need a line: it is counted when a packer asks.
        line = cache(partial(self.renderer.line_tokens, offer)) if lines or offer.is_pinned else None
        for part in offer.parts:
            yield Choice(
                part.candidate,
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

    def smallest(self, packer: Packer) -> int:
        """The fewest tokens of which a packer makes an excerpt; one that goes by rank begins with the best."""
        self.price_exactly()

        def packs(tokens: int) -> bool:
            packing = packer.pack(self.choices, Room(tokens), self.shorten)
            return any(choice.fate in {"included", "truncated"} for choice in packing.outcomes)

        most = max((choice.tokens + choice.heading for choice in self.choices), default=0)
        return bisect_left(range(most), True, key=packs)

    def price_exactly(self) -> bool:
        """Price the first parts of each document by rendering them; False if that was done before.

        Where hardly anything fits, an estimate is not good enough.
        """
        if self._exact:
            return False
        self._exact = True
        self.choices = Choices(self.choices)  # a packing holds on to those that it was made of
        for offer, places in self.documents:
            for place in places:
                choice = self.choices[place]
                if choice.after is None:
                    tokens = self.renderer.excerpt(offer, choice.keys, choice.form).tokens
                    self.choices[place] = replace(choice, tokens=tokens - choice.heading)
        return True

    def shorten(self, choice: Choice, limit: int) -> Choice | None:
        """Shorten a choice for a packer; None if too little would be left."""
        asked = (choice.group, choice.keys, choice.form, limit)
        if asked not in self._shortened:
            self._shortened[asked] = self.renderer.shortened(self._offers[choice.group], *asked[1:])
        excerpt = self._shortened[asked]
        if excerpt is None:
            return None
        share = excerpt.tokens / max(1, choice.tokens + choice.heading)
        score = choice.score * min(SHORTENED_WORTH, math.sqrt(share))
        return replace(choice, tokens=excerpt.tokens - choice.heading, score=score, excerpt=excerpt)

    def excerpt(self, offer: Offer, outcomes: Sequence[Choice]) -> Excerpt | None:
        """The document as the fates of its parts show it; None if nothing of it is shown."""
        taken = [choice for choice in outcomes if choice.fate == "included"]
        cut = next((choice for choice in outcomes if choice.fate == "truncated"), None)
        if cut is not None and cut.excerpt is not None:
            more = [key for choice in taken for key in choice.keys]
            return self.renderer.with_more(offer, cut.excerpt, cut.keys, more) if more else cut.excerpt
        if taken:
            keys = tuple(sorted(key for choice in taken for key in choice.keys))
            form = max((choice.form for choice in taken), key=FORMS.index)
            cached = (id(offer), keys)
            if cached not in self._rendered:
                titles = {choice.candidate.key for choice in taken} - set(keys)
                excerpt = self.renderer.excerpt(offer, keys, form)
                if titles:
                    # Bare titles that were found, for which the text below them stands.
                    items = [*excerpt.items, *(Item(offer.hits[key], "") for key in titles if key in offer.hits)]
                    items.sort(key=lambda item: offer.reading.place[item.candidate.key])
                    excerpt = replace(excerpt, items=tuple(items))
                self._rendered[cached] = excerpt
            return self._rendered[cached]
        return self.renderer.line(offer) if any(choice.fate == "line" for choice in outcomes) else None


def _drafted(fitting: Fitting, template: Template, offers: Sequence[Offer], *, lines: bool) -> _Draft:
    """Price, pack and lay out until the text as a whole keeps the budget and is as full as possible."""
    budget, query = fitting.request.budget, fitting.request.query
    with fitting.watch("render"):
        pricing = _Pricing(fitting, template, offers, lines=lines)
    present = {offer.section for offer in offers}
    names = [name for name in SECTIONS if name in present] + sorted(present - set(SECTIONS))
    packer = get_packer(fitting.recipe.packer)
    fixed = overhead(template, names, query, lines, fitting.counter)
    bare = overhead(template, names[:1], query, False, fitting.counter)
    # The last item stands without the separator that it is priced with.
    spare, crowded, best, step = fitting.counter.count(template.separator), Counter[str](), None, 1
    for _ in range(ATTEMPTS):
        with fitting.watch("pack"):
            lowered = {name: max(0, tokens - crowded[name]) for name, tokens in budget.sections.items()}
            room = room_for(replace(budget, sections=lowered), fixed - spare, pricing.choices)
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
        caps = caps_of(budget)
        excess = {section.name: section.tokens - caps.get(section.name, section.tokens) for section in sections}
        over = +Counter(excess)
        if tokens <= budget.total and not over:
            least = 0 if sections else bare + pricing.smallest(packer)
            draft = _Draft(text, tokens, sections, overflow, packing, template, pricing.documents, least)
            if best is not None and tokens <= best.tokens:
                break
            best = draft
            too_high = fixed + packing.used - tokens
            nearly = any(0 < (missing or 0) <= too_high for _, missing in packing.missing())
            if (tokens >= FULL * budget.total and not nearly) or not draft.wants_more:
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
    nothing = Packing(tuple(replace(choice, reason=reason) for choice in pricing.choices), 0)
    return _Draft("", 0, (), (), nothing, template, pricing.documents, bare + pricing.smallest(packer))


def _arranged(
    pricing: _Pricing, packing: Packing, names: Sequence[str], budgets: Mapping[str, int]
) -> tuple[tuple[Section, ...], tuple[Excerpt, ...]]:
    """Excerpts by section, pinned ones first, then the best first; and those of one line."""
    shown: list[tuple[tuple[bool, float, str], Offer, Excerpt]] = []
    overflow: list[tuple[float, str, Excerpt]] = []
    # One query for all, before they are rendered one document after the other.
    places_shown = packing.shown()
    shown_choices = [packing.outcomes[place] for place in places_shown]
    pricing.load([key for choice in shown_choices if choice.fate == "included" for key in choice.keys])
    documents: dict[int, list[Choice]] = {}
    for place, choice in zip(places_shown, shown_choices, strict=True):
        documents.setdefault(pricing.document_of[place], []).append(choice)
    for number, outcomes in documents.items():
        offer, _ = pricing.documents[number]
        excerpt = pricing.excerpt(offer, outcomes)
        if excerpt is None:
            continue
        best = max(choice.score for choice in outcomes)
        if excerpt.form == "line" and not offer.is_pinned:
            overflow.append((-best, excerpt.document.id, excerpt))
        else:
            # Messages that were handed in with the request were said after all that are stored.
            latest = offer.section == HISTORY and excerpt.items[0].candidate.key < 0
            rank = math.inf if latest else -best
            shown.append(((not offer.is_pinned, rank, excerpt.document.id), offer, excerpt))
    shown.sort(key=lambda entry: entry[0])
    sections, number = [], 0
    for name in names:
        excerpts = []
        for _, offer, excerpt in shown:
            if offer.section == name:
                number += 1
                excerpts.append(pricing.renderer.numbered(offer, excerpt, number))
        if excerpts:
            cost = sum(excerpt.tokens for excerpt in excerpts)
            sections.append(Section(name, pricing.template.title_of(name), tuple(excerpts), cost, budgets.get(name)))
    return tuple(sections), tuple(excerpt for *_, excerpt in sorted(overflow, key=lambda entry: entry[:2]))


def _context(fitting: Fitting, draft: _Draft, left_out: Sequence[Decision]) -> Context:
    request = fitting.request
    decisions = list(_decisions(draft))
    # A repeat may stand in a document that is shown whole.
    decided = {(decision.node, decision.citation) for decision in decisions}
    decisions += [decision for decision in left_out if (decision.node, decision.citation) not in decided]
    excerpts = [excerpt for section in draft.sections for excerpt in section.excerpts]
    # The same for the same text to the same user, and different otherwise.
    named = "\0".join((request.workspace, request.user, request.query, draft.text))
    digest = hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Context(
        id=f"ctx-{digest}",
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
        warnings=_warnings(draft, request),
        pieces=pieces_of(draft.sections, draft.overflow, draft.template, request.query) if draft.text else (),
    )


def _decisions(draft: _Draft) -> Iterator[Decision]:
    """Decisions on each candidate, and on passages that are shown because they surround one."""
    shown = {
        (excerpt.section, item.candidate.key): (item, excerpt)
        for section in draft.sections
        for excerpt in section.excerpts
        for item in excerpt.items
        if excerpt.form != "line"
    }
    for offer, places in draft.documents:
        parts = draft.packing.outcomes[places.start : places.stop]
        outcomes = {key: choice for choice in parts for key in choice.keys}
        # What stands for a bare title is the first text below it.
        first = {choice.candidate.key: choice for choice in reversed(parts)}
        section = offer.section
        lined = any(choice.fate == "line" for choice in outcomes.values())
        for key, hit in offer.hits.items():
            choice = outcomes.get(key) or first.get(key) or parts[0]
            fate, reason, missing = _fate(choice, shown.get((section, key)), hit.passage.tokens, lined=lined)
            yield Decision.on(hit, fate, reason, missing)
        for key, choice in outcomes.items():
            if key not in offer.hits and (section, key) in shown:
                item, _ = shown[section, key]
                reason = f"stands around [{choice.candidate.passage.citation}]: {choice.form}"
                fate = "truncated" if item.truncated else "included"
                yield Decision.on(replace(item.candidate, section=section), fate, reason)


def _fate(
    choice: Choice, shown: tuple[Item, Excerpt] | None, tokens: int, *, lined: bool
) -> tuple[Fate, str, int | None]:
    """The fate of a hit, the reason, and the tokens that it lacked."""
    note = "" if choice.excerpt is None else choice.excerpt.note
    reason, missing = f"{choice.reason} ({note})" if note else choice.reason, choice.missing_tokens
    if shown is not None:
        item, excerpt = shown
        if item.truncated:
            return "truncated", reason, missing
        priced_too_high = choice.fate == "truncated" and not excerpt.truncated
        return "included", "among the best that fit" if priced_too_high else reason, None
    if choice.fate == "truncated":
        return "dropped", "left out when its document was shortened", missing or tokens
    if choice.fate == "included":
        return "dropped", "a title alone: what stands below it is shown", None
    return "line" if lined else "dropped", reason, missing


def _warnings(draft: _Draft, request: Request) -> tuple[str, ...]:
    """Warnings of pinned documents that did not fit even as a line, or of a budget too small for all."""
    lost = [
        offer.document
        for offer, places in draft.documents
        if offer.is_pinned and all(draft.packing.outcomes[place].fate == "dropped" for place in places)
    ]
    warnings = [
        f"{document.title or document.id!r} was asked for and does not fit into {request.budget.total} tokens, "
        "not even by name"
        for document in lost
    ]
    if not draft.sections and draft.documents and not lost:
        least = f"the smallest needs {draft.smallest}"
        warnings.append(f"a budget of {request.budget.total} tokens holds no excerpt: {least}")
    return tuple(warnings)
