"""Excerpts as a template shows them: whole, shortened, or as one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import sqrt

from weftwork.compose.offers import Offer
from weftwork.compose.reading import Reading
from weftwork.render.content import GAP, LISTED, Shown, content, heading_line, stretches_of, trim
from weftwork.render.quote import cite, disown, escape, fence, inline, inside_fence, plain
from weftwork.render.templates import Template, substitute, variables
from weftwork.render.values import ALL_FIELDS, FieldChoice, values_of
from weftwork.text.tokens import TokenCounter
from weftwork.types import PAGE, Candidate, Excerpt, Form, Item, Rendering

Truncate = Callable[[str, int], tuple[str, str]]
"""From text and a limit in tokens to the shortened text and a note on how it was done."""
Load = Callable[[Sequence[int]], Mapping[int, Candidate]]
"""Passages by their keys: what was found, and what stands around it."""

_MIN_CONTENT = 12
_TRUNCATED_WORTH = 0.99
_BULLET = re.compile(r"(?:^|\n)[-*+] \Z")
_LIKE_AN_ID = re.compile(r"\[(?=[a-z]\d{6}(?:\d{3})*\])")
CITATION_TOKENS = 4
BLOCK_TOKENS = 2
"""What parts one block of an excerpt from the next."""


class ExcerptRenderer:
    """Renders what a document offers by a template, and counts it exactly as it will stand in the text."""

    def __init__(
        self,
        template: Template,
        counter: TokenCounter,
        load: Load,
        truncate: Truncate,
        strategy: str = "extractive",
        fields: FieldChoice = ALL_FIELDS,
    ) -> None:
        self._template = template.check()
        self._counter = counter
        self._load = load
        self._truncate = truncate
        self._strategy = strategy
        self._fields = fields
        self._variables = frozenset(variables(template.item)) - {"content"}
        self._shows_content = "{{content}}" in template.item
        self._block = template.content_on_own_lines
        self._fenced = template.content_in_fence
        self._hanging = _BULLET.search(template.item.partition("{{content}}")[0]) is not None
        self._cites = "citation" in self._variables
        self._plain = template.quote == "plain"

    def heading_tokens(self, offer: Offer) -> int:
        """What an excerpt of a document costs beside its content."""
        lead = Item(offer.best, "")
        return self._counter.count(self._piece(self._frame(offer, [lead]), "x")) - self._shows_content

    def part_tokens(self, offer: Offer, keys: Iterable[int]) -> int:
        """What passages add to an excerpt, by their stored counts."""
        if not self._shows_content:
            return 0
        reading, tokens = offer.reading, 0
        # A single passage that is shown as it is costs what it counts.
        apart = 0 if self._plain and len(reading.keys) == 1 else BLOCK_TOKENS
        for key in keys:
            node = reading.node_of(key)
            # What was handed in with the request has no stored count.
            own = reading.tokens[key] if key > 0 else self._counter.count(offer.hits[key].passage.text)
            tokens += own + apart + (CITATION_TOKENS if self._cites and key in offer.hits else 0)
            if node.keys[0] == key and node.depth and node.title:
                tokens += 2 + len(node.title) // 4
            if key in offer.hits and offer.hits[key].node.fields:
                tokens += self._field_tokens(offer.hits[key])
        return tokens

    def _field_tokens(self, candidate: Candidate) -> int:
        if candidate.node.type in ("heading", PAGE) or candidate.passage.ordinal:
            return 0
        shown = self._fields.of(candidate.node.fields)
        return sum(2 + (len(name) + len(str(value))) // 4 for name, value in shown.items())

    def line(self, offer: Offer) -> Excerpt:
        """A document as one line, without its content."""
        names = frozenset(variables(self._template.line))
        lead = Item(offer.best, "")
        values = values_of(names - {"content"}, self._bare(offer, [lead]), self._template, self._fields)
        if "content" in names:
            values["content"] = inline(offer.best.passage.text)
        text = substitute(self._template.line, values)
        return replace(self._bare(offer, [lead]), form="line", text=text, tokens=self._counter.count(text), content="")

    def excerpt(self, offer: Offer, keys: Iterable[int], form: Form, number: int | None = None) -> Excerpt:
        """The passages with these keys, in reading order."""
        return self._made(offer, self._items(offer, keys), form, number)

    def numbered(self, offer: Offer, excerpt: Excerpt, number: int) -> Excerpt:
        """An excerpt under the number that it has in the text."""
        if "number" not in self._variables:
            return excerpt
        piece = self._piece(self._frame(offer, excerpt.items, number), excerpt.content)
        return replace(excerpt, text=piece, tokens=self._counter.count(piece))

    def shortened(self, offer: Offer, keys: Sequence[int], form: Form, limit: int) -> Excerpt | None:
        """As much of these passages as a limit of tokens allows; None if too little would be left."""
        items = self._items(offer, keys)
        whole = self._made(offer, items, form)
        if whole.tokens <= limit:
            return whole
        around = self._counter.count(self._piece(self._frame(offer, items), "x")) - 1
        full = max(1, whole.tokens - around)
        room = min(limit - around, full - 1)
        while room >= _MIN_CONTENT:
            cut, note = self._cut(offer, items, room)
            if not cut:
                return None
            made = self._made(offer, cut, form, of=items)
            if made.tokens <= limit:
                return replace(made, truncated=True, note=note)
            room -= max(made.tokens - limit, 1)
        return None

    def worth(self, part: Excerpt, whole: int) -> float:
        """The share of its worth that a shortened excerpt keeps."""
        return min(_TRUNCATED_WORTH, sqrt(part.tokens / max(1, whole)))

    def rendering(self, excerpt: Excerpt, whole: int) -> Rendering:
        """A shortened excerpt as what a packer weighs."""
        return Rendering(excerpt.text, excerpt.tokens, self.worth(excerpt, whole), excerpt.note)

    def _items(self, offer: Offer, keys: Iterable[int]) -> list[Item]:
        wanted = sorted(keys, key=offer.reading.place.__getitem__)
        known = self._load(wanted)
        return [
            Item(known[key], self._own(known[key].passage.text), hit=key in offer.hits)
            for key in wanted
            if key in known
        ]

    def _own(self, text: str) -> str:
        """The words of a passage, none of which can be taken for a citation."""
        return text if self._plain else _LIKE_AN_ID.sub(r"\\[", text)

    def _cut(self, offer: Offer, items: Sequence[Item], room: int) -> tuple[list[Item], str]:
        """The items that fit, one of them cut, by the request's strategy."""
        if len(items) == 1 or self._strategy in ("summarise", "summarize"):
            text, note = self._truncate(trim("".join(item.text for item in items)), room)
            if self._counter.count(text) < min(_MIN_CONTENT, room):
                return [], ""
            return [replace(items[0], text=text, truncated=True)], note
        kept: dict[int, Item] = {}
        left, note = room, ""
        for place in self._order(offer, items):
            item = items[place]
            cost = item.candidate.passage.tokens + BLOCK_TOKENS
            if cost <= left:
                kept[place] = item
                left -= cost
                continue
            if left >= 2 * _MIN_CONTENT:
                text, note = self._truncate(trim(item.text), left - BLOCK_TOKENS)
                if text:
                    space = item.text[len(item.text.rstrip()) :] or "\n"
                    kept[place] = replace(item, text=text + space, truncated=True)
            break
        return [kept[place] for place in sorted(kept)], note

    def _order(self, offer: Offer, items: Sequence[Item]) -> list[int]:
        """The places of the items in the order in which they are kept."""
        places = range(len(items))
        if self._strategy == "keep_start":
            return list(places)
        if self._strategy == "keep_end":
            return list(reversed(places))
        scores = {key: hit.score for key, hit in offer.hits.items() if not hit.asked or hit.found_as("words", "vector")}
        return sorted(places, key=lambda place: (-scores.get(items[place].candidate.key, 0.0), place))

    def _made(
        self, offer: Offer, items: Sequence[Item], form: Form, number: int | None = None, of: Sequence[Item] = ()
    ) -> Excerpt:
        """These items as an excerpt, with marks where it is cut at its ends, if they are a part `of` others."""
        bare = self._bare(offer, items)
        shown = _shown(offer.reading, items)
        first, base = items[0] if items else None, _base(offer.reading, items)

        def cited(item: Item) -> str:
            return f"[{item.candidate.passage.citation}]" if self._cites and item.hit and item is not first else ""

        text = ""
        if self._shows_content:
            numbers = "page_number" not in self._variables
            text = content(shown, fields=self._fields, base=base, cited=cited, number_pages=numbers)
            text = "\n".join((*_mark(of[:1], items[:1]), text, *_mark(of[-1:], items[-1:])))
        notes = "; ".join(dict.fromkeys(item.candidate.note for item in items if item.candidate.note))
        said = (text if self._plain else disown(text)) + (f" ({notes})" if notes else "")
        piece = self._piece(self._frame(offer, items, number), said)
        return replace(bare, form=form, items=tuple(items), text=piece, tokens=self._counter.count(piece), content=said)

    def _bare(self, offer: Offer, items: Sequence[Item]) -> Excerpt:
        score = max((item.candidate.score for item in items if item.hit), default=offer.best.score)
        trail = offer.reading.outline.trail
        return Excerpt(offer.document, offer.section, "hits", tuple(items), "", 0, score, trail=trail)

    def _frame(self, offer: Offer, items: Sequence[Item], number: int | None = None) -> dict[str, str]:
        headings = tuple(offer.reading.nodes[each].title for each in _common_headings(offer.reading, items))
        return values_of(self._variables, self._bare(offer, items), self._template, self._fields, headings, number)

    def _piece(self, values: Mapping[str, str], text: str) -> str:
        return substitute(self._template.item, {**values, "content": self._quote(text)}) + self._template.separator

    def _quote(self, text: str) -> str:
        if not text:
            return ""
        if self._template.quote == "fence":
            return fence(text)
        if self._template.quote == "cite":
            return cite(text)
        if self._plain:
            return plain(text, self._template.guards)
        escaped = inside_fence(text) if self._fenced else escape(text, block=self._block)
        mark = self._template.separator.strip()
        if mark:
            escaped = escaped.replace(mark, f"\\{mark}")
        # The lines after the first belong to the same point of the list.
        return re.sub(r"\n(?=[^\n])", "\n  ", escaped) if self._hanging else escaped


def _common_headings(reading: Reading, items: Sequence[Item]) -> list[int]:
    """The headings above all passages of an excerpt, which its own heading names, by position."""
    above = [
        reading.headings(reading.owner[item.candidate.key]) for item in items if item.candidate.key in reading.owner
    ]
    if not above:
        return []
    common = [each for places in zip(*above, strict=False) if len(set(places)) == 1 for each in places[:1]]
    return [each for each in common if reading.nodes[each].title]


def _base(reading: Reading, items: Sequence[Item]) -> int:
    """The depth of the list items that stand furthest left."""
    owners = [reading.owner[item.candidate.key] for item in items if item.candidate.key in reading.owner]
    return min((node.depth for node in map(reading.nodes.__getitem__, owners) if node.type in LISTED), default=0)


def _shown(reading: Reading, items: Sequence[Item]) -> list[Shown]:
    """The items as stretches, each with the headings that nothing before it has shown."""
    placed = [(item, reading.place.get(item.candidate.key, place)) for place, item in enumerate(items)]
    told = set(_common_headings(reading, items))
    shown: list[Shown] = []
    last: int | None = None
    for stretch in stretches_of(placed):
        first, place = stretch[0]
        position = reading.owner.get(first.candidate.key, 0)
        entry = reading.nodes[position] if position < len(reading.nodes) else reading.nodes[0]
        above = reading.headings(position)
        new = [each for each in above if each not in told]
        told.update(above)
        entries = [reading.nodes[each] for each in new if reading.nodes[each].title]
        lines = tuple(heading_line(first.candidate.node, each) for each in entries)
        gap = last is not None and place != last + 1 and _left_out(reading, last, place)
        begins = first.candidate.passage.ordinal == 0
        shown.append(Shown(first.candidate.node, entry, tuple(each for each, _ in stretch), begins, gap, lines))
        last = stretch[-1][1]
    return shown


def _mark(end: Sequence[Item], shown: Sequence[Item]) -> Iterator[str]:
    """A mark where the item at an end is left out, unless the one that is shown there is cut and says so itself."""
    if end and end[0].candidate.key != shown[0].candidate.key and not shown[0].truncated:
        yield GAP


def _left_out(reading: Reading, last: int, place: int) -> bool:
    """Whether a passage with words stands between two places; bare headings are no gap."""
    return any(reading.tokens[key] for key in reading.keys[last + 1 : place])
