"""Excerpts as a template shows them: whole, shortened, or as one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt

from weftwork.compose.offers import Offer
from weftwork.compose.reading import LISTED, ROWS, TURNS
from weftwork.identity import CITATION
from weftwork.pack.protocol import Rendering
from weftwork.render.content import GAP, Fences, ProseFields, Style, content
from weftwork.render.quote import cite, clean, disown, escape, fence, inline, inside_fence, open_fence, plain
from weftwork.render.stretches import Shown, common_headings, stretches, trim
from weftwork.render.templates import Template, substitute, variables
from weftwork.render.values import ALL_FIELDS, FieldChoice, turn_days, values_of
from weftwork.text.tokens import TokenCounter
from weftwork.text.truncate import MARK
from weftwork.types import PAGE, Candidate, Excerpt, Form, Item, NodeInfo

Truncate = Callable[[str, int], tuple[str, str]]
"""From text and a limit in tokens to the shortened text and a note on how it was done."""
Load = Callable[[Sequence[int]], Mapping[int, Candidate]]
"""Passages by their keys: what was found, and what stands around it."""

_MIN_CONTENT = 12
_LONGEST_NOTE = 400
_TRUNCATED_WORTH = 0.99
_BULLET = re.compile(r"(?:^|\n)[-*+] \Z")
_OWN_LINE = re.compile(rf"\s*\[{CITATION.pattern}\]")
"""How a line begins that Weftwork itself has added: in content, a backslash stands before what looks like it."""
_PLACE = re.compile("\x00(-?[0-9]+)\x00")
"""Keeps the place of a mark while content is disowned; content itself has no control characters."""
_TITLED = LISTED | ROWS | TURNS | {"heading"}
"""Types whose title stands in the content."""
_NAMES = frozenset({"about", "page", "title"})
"""Variables that name the document."""
_SUMMARIES = frozenset({"summarise", "summarize"})
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
        self._fences: Fences = "none" if self._fenced else "kept" if template.quote == "plain" else "closed"
        self._hanging = _BULLET.search(template.item.partition("{{content}}")[0]) is not None
        self._cites = "citation" in self._variables
        self._plain = template.quote == "plain"
        self._disowns = self._cites or not self._plain
        self._prose_fields: ProseFields = "always" if template.fields_first else "bare"
        if "fields" in self._variables:
            self._prose_fields = "never"

    def heading_tokens(self, offer: Offer) -> int:
        """What an excerpt of a document costs beside its passages.

        The citation of the first passage stands in the heading, and nothing parts it from it.
        """
        lead = Item(offer.best, "")
        exact = self._counter.count(self._piece(self._frame(offer, [lead]), "x")) - 1
        return max(0, exact - self._apart(offer, offer.best.key)) if self._shows_content else exact

    def part_tokens(self, offer: Offer, keys: Iterable[int]) -> int:
        """What passages add to an excerpt, by their stored counts."""
        if not self._shows_content:
            return 0
        reading, tokens = offer.reading, 0
        for key in keys:
            # What was handed in with the request has no stored count.
            own = reading.tokens[key] if key > 0 else self._counter.count(offer.hits[key].passage.text)
            tokens += own + self._apart(offer, key) + self._title_tokens(offer, key)
            if key in offer.hits and offer.hits[key].node.fields:
                tokens += self._field_tokens(offer.hits[key])
        return tokens

    def _apart(self, offer: Offer, key: int) -> int:
        """What parts a passage from the one before it, and its citation."""
        # A single passage that is shown as it is costs what it counts.
        between = 0 if self._plain and len(offer.reading.keys) == 1 else BLOCK_TOKENS
        return between + (CITATION_TOKENS if self._cites and key in offer.hits else 0)

    def _title_tokens(self, offer: Offer, key: int) -> int:
        """What the title of a node costs before its first passage; that of the document stands in the heading."""
        node = offer.reading.node_of(key)
        return 2 + len(node.title) // 4 if node.keys[0] == key and node.depth and node.title else 0

    def _field_tokens(self, candidate: Candidate) -> int:
        node = candidate.node
        if node.type in ("heading", PAGE) or candidate.passage.ordinal:
            return 0
        if node.type not in _TITLED and self._prose_fields != "always" and candidate.passage.tokens:
            return 0
        return sum(2 + (len(name) + len(str(value))) // 4 for name, value in self._fields.of(node.fields).items())

    def line(self, offer: Offer) -> Excerpt:
        """A document as one line, without its content."""
        names = frozenset(variables(self._template.line))
        bare, node = self._bare(offer, [Item(offer.best, "")]), offer.best.node
        title = node.title if node.id != offer.document.id else ""
        values = values_of(names - {"content"}, bare, self._template, self._fields, title=title)
        if "content" in names:
            values["content"] = inline(offer.best.passage.text)
        text = substitute(self._template.line, values)
        return replace(bare, form="line", text=text, tokens=self._counter.count(text))

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
        room, least = min(limit, whole.tokens - 1) - around, 1
        while room >= _MIN_CONTENT:
            made = self._shorter(offer, items, form, room)
            if made is None or self._counter.count(made.content) < _MIN_CONTENT:
                return None
            if made.tokens <= limit:
                return made
            # What passages were taken to cost was too low by this share.
            room -= max(least, (made.tokens - limit) * room // max(1, made.tokens - around))
            least *= 2
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
        return [Item(known[key], known[key].passage.text, hit=key in offer.hits) for key in wanted if key in known]

    def _shorter(self, offer: Offer, items: Sequence[Item], form: Form, room: int) -> Excerpt | None:
        """What about `room` tokens of content hold, by the request's strategy."""
        instead = ""
        if self._strategy in _SUMMARIES and len(items) > 1:
            whole = self._text(offer, items)
            text, instead = self._truncate(whole, room)
            if text not in ("", whole) and not instead:
                # The summary stands for all of them: its heading and its citations are theirs.
                summed = [replace(item, text="" if place else text, truncated=True) for place, item in enumerate(items)]
                return replace(self._made(offer, summed, form, said=clean(text)), truncated=True)
        kept, note = self._kept(offer, items, room)
        if not kept:
            return None
        made = self._of_more(offer, [kept[place] for place in sorted(kept)], [item.candidate.key for item in items])
        return replace(made, form=form, note=note or instead)

    def with_more(self, offer: Offer, cut: Excerpt, of: Sequence[int], more: Sequence[int]) -> Excerpt:
        """A shortened excerpt of some passages together with others, which are shown whole."""
        shown = {item.candidate.key for item in cut.items}
        items = [*cut.items, *self._items(offer, [key for key in more if key not in shown])]
        items.sort(key=lambda item: offer.reading.place[item.candidate.key])
        return replace(self._of_more(offer, items, [*of, *more]), form=cut.form, note=cut.note)

    def _of_more(self, offer: Offer, items: Sequence[Item], keys: Iterable[int]) -> Excerpt:
        """What is left of the passages with these keys, marked where its ends are not theirs."""
        place = offer.reading.place
        told = [place[key] for key in keys if offer.reading.says(key)]
        first, last = items[0], items[-1]
        before = min(told, default=0) < place[first.candidate.key] and not first.text.startswith(MARK)
        after = max(told, default=0) > place[last.candidate.key] and not last.text.rstrip().endswith(MARK)
        return replace(self._made(offer, items, "hits", gaps=(before, after)), truncated=True)

    def _kept(self, offer: Offer, items: Sequence[Item], room: int) -> tuple[dict[int, Item], str]:
        """The items that fit by their places, the last one to be taken cut."""
        kept: dict[int, Item] = {}
        left = room
        for place in self._order(offer, items):
            item = items[place]
            told = self._title_tokens(offer, item.candidate.key) + self._field_tokens(item.candidate)
            cost = item.candidate.passage.tokens + told + BLOCK_TOKENS
            if cost <= left and len(items) > 1:
                kept[place] = item
                left -= cost
            elif left >= (2 * _MIN_CONTENT if kept else _MIN_CONTENT):
                text, note = self._truncate(trim(item.text), left - (BLOCK_TOKENS if kept else 0))
                if text:
                    space = item.text[len(item.text.rstrip()) :]
                    kept[place] = replace(item, text=text + space, truncated=True)
                return kept, note
            else:
                break
        return kept, ""

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
        self,
        offer: Offer,
        items: Sequence[Item],
        form: Form,
        number: int | None = None,
        *,
        said: str | None = None,
        gaps: tuple[bool, bool] = (False, False),
    ) -> Excerpt:
        """An excerpt of these items; `said` takes the place of their text, and `gaps` are before and after it."""
        marks = self._marks(offer, items)
        text = self._text(offer, items, marks) if said is None else said
        text = "\n".join(filter(None, (GAP if gaps[0] else "", text, GAP if gaps[1] else "")))
        text = _PLACE.sub(lambda place: marks[int(place[1])], disown(text) if self._disowns else text)
        piece = self._piece(self._frame(offer, items, number), text)
        return replace(self._bare(offer, items), form=form, text=piece, tokens=self._counter.count(piece), content=text)

    def _text(self, offer: Offer, items: Sequence[Item], marks: Collection[int] = ()) -> str:
        """The content of an excerpt, with a place for each mark."""
        if not self._shows_content:
            return ""
        style = Style(
            self._fields,
            mark=lambda item: f"\x00{item.candidate.key}\x00" if item.candidate.key in marks else "",
            number_pages="page_number" not in self._variables,
            prose_fields=self._prose_fields,
            fences=self._fences,
            days="about" not in self._variables or len(turn_days(items)) != 1,
        )
        shown = stretches(offer.reading, items, self._named(offer, items))
        return content([self._from_its_fence(offer, each) for each in shown], style)

    def _from_its_fence(self, offer: Offer, stretch: Shown) -> Shown:
        """The stretch with the code fence that it begins in; it takes what stands before it to tell that."""
        item = stretch.items[0]
        candidate = item.candidate
        if (stretch.first and not item.truncated) or not ("```" in stretch.text or "~~~" in stretch.text):
            return stretch
        keys, own = offer.reading.node_of(candidate.key).keys, candidate.passage.text
        before = keys[: keys.index(candidate.key)]
        known = self._load(before)
        cut = own.rfind(item.text.strip(f"{MARK} \n")) if item.truncated else 0
        text = "".join(known[key].passage.text for key in before if key in known)
        return replace(stretch, opened=open_fence(clean(text + own[: max(0, cut)])))

    def _marks(self, offer: Offer, items: Sequence[Item]) -> dict[int, str]:
        """By the keys of passages what stands at their ends: the citation of a hit, and what is to be said of it."""
        heading = self._bare(offer, items).citation
        last = {item.candidate.note: item for item in items if item.candidate.note}
        marks: dict[int, str] = {}
        for item in items:
            candidate = item.candidate
            cited = (
                self._cites and item.hit and candidate.passage.citation != heading and self._has_content(offer, item)
            )
            citation = f"[{candidate.passage.citation}]" if cited else ""
            note = f"({inline(candidate.note, _LONGEST_NOTE)})" if last.get(candidate.note) is item else ""
            if citation or note:
                marks[candidate.key] = " ".join(filter(None, (citation, note)))
        return marks

    def _has_content(self, offer: Offer, item: Item) -> bool:
        """Whether the content has a place for a mark: not for a document that its name in the heading tells in full."""
        node = item.candidate.node
        if item.text.strip() or node.id != offer.document.id or not self._variables & _NAMES:
            return True
        return self._prose_fields != "never" and bool(self._fields.of(node.fields))

    def _named(self, offer: Offer, items: Sequence[Item]) -> set[str]:
        """Ids of the nodes whose titles need not stand in the content."""
        document, told = offer.document.id, self._told(offer, items)
        named = {told.id} if told is not None and self._variables & {"about", "title"} else set()
        has_text = any(item.candidate.node.id == document and item.text.strip() for item in items)
        return named | {document} if has_text or self._variables & _NAMES else named

    def _told(self, offer: Offer, items: Sequence[Item]) -> NodeInfo | None:
        """The node whose title the heading tells beside the document's: the only one that is shown."""
        nodes = {item.candidate.node.id: item.candidate.node for item in items}
        if len(nodes) != 1 or offer.document.id in nodes or common_headings(offer.reading, items):
            return None
        (node,) = nodes.values()
        return None if self._shows_content and node.type in _TITLED else node

    def _bare(self, offer: Offer, items: Sequence[Item]) -> Excerpt:
        score = max((item.candidate.score for item in items if item.hit), default=offer.best.score)
        trail = offer.reading.outline.trail
        return Excerpt(offer.document, offer.section, "hits", tuple(items), "", 0, score, trail=trail)

    def _frame(self, offer: Offer, items: Sequence[Item], number: int | None = None) -> dict[str, str]:
        headings = [offer.reading.nodes[each].title for each in common_headings(offer.reading, items)]
        told = self._told(offer, items)
        title = "" if told is None else told.title
        bare = self._bare(offer, items)
        return values_of(
            self._variables, bare, self._template, self._fields, headings=headings, title=title, number=number
        )

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
        escaped = inside_fence(text) if self._fenced else escape(text, block=self._block, own=_OWN_LINE)
        mark = self._template.separator.strip()
        if mark:
            escaped = escaped.replace(mark, f"\\{mark}")
        # The lines after the first belong to the same point of the list.
        return re.sub(r"\n(?=[^\n])", "\n  ", escaped) if self._hanging else escaped
