"""Excerpts as a template shows them: whole, shortened, or as one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from weftwork.compose.offers import Offer
from weftwork.compose.reading import LISTED, ROWS, TURNS, title_tokens
from weftwork.identity import CITATION
from weftwork.render.content import GAP, Fences, ProseFields, Style, content
from weftwork.render.marks import around_focus, rows_shown, rows_that_match, share_shown
from weftwork.render.quote import cite, clean, disown, escape, fence, inline, open_fence, plain
from weftwork.render.stretches import Shown, common_headings, stretches, trim
from weftwork.render.templates import Template, substitute, variables
from weftwork.render.values import ALL_FIELDS, FieldChoice, lead_of, turn_days, values_of
from weftwork.text.tokens import TokenCounter
from weftwork.text.truncate import MARK
from weftwork.types import PAGE, Candidate, Excerpt, Form, Item, NodeInfo

Truncate = Callable[[str, int], tuple[str, str]]
"""From text and a limit in tokens to the shortened text and a note on how it was done."""
Load = Callable[[Sequence[int]], Mapping[int, Candidate]]
"""Passages by their keys: hits, and their surroundings."""

_MIN_CONTENT = 12
_LONGEST_NOTE = 400
_ATTEMPTS = 3
_FULL = 0.95
"""The share of a limit from which a shortened excerpt counts as full."""
_BULLET = re.compile(r"(?:^|\n)[-*+] \Z")
_OWN_LINE = re.compile(rf"\s*\[{CITATION.pattern}\]")
"""The start of a line that Weftwork itself adds; in content, a backslash stands before what looks like it."""
_PLACE = re.compile("\x00(-?[0-9]+)\x00")
"""Keeps the place of a mark while content is disowned; content itself has no control characters."""
_TITLED = LISTED | ROWS | TURNS | {"heading"}
"""Types whose title stands in the content."""
_NAMES = frozenset({"about", "page", "title"})
"""Variables that name the document."""
_RANKED = frozenset({"heading", "number", "route", "score", "similarity"})
"""Variables and details that differ from request to request."""
_SUMMARIES = frozenset({"summarise", "summarize"})
MOST_RENDERED = 4
LONGEST_RENDERED = 8_000
"""Excerpts of one document that are kept for other requests, and the most characters of one."""
CITATION_TOKENS = 4
BLOCK_TOKENS = 2
"""Tokens of the break between two blocks of an excerpt."""


class ExcerptRenderer:
    """Renders parts of a document by a template, and counts them exactly as they stand in the text."""

    def __init__(
        self,
        template: Template,
        counter: TokenCounter,
        load: Load,
        truncate: Truncate,
        strategy: str = "extractive",
        fields: FieldChoice = ALL_FIELDS,
        *,
        words: Collection[str] = (),
    ) -> None:
        """`words` are those of the query, by which the rows of a table are chosen."""
        self._template = template.check()
        self._words = words
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
        self._disowns = self._cites or not (self._plain or self._fenced)
        self._prose_fields: ProseFields = "always" if template.fields_first else "bare"
        if "fields" in self._variables:
            self._prose_fields = "never"
        self._line_variables = frozenset(variables(template.line))
        ranked = _RANKED & (self._variables | self._line_variables | frozenset(fields.details))
        self._priced = None if ranked else (repr((template, fields)), id(counter))

    def heading_tokens(self, offer: Offer) -> int:
        """Tokens of an excerpt beside its passages.

        The citation of the first passage stands in the heading, with no break after it.
        """
        exact = self._once(offer, "heading", self._count_heading)
        return max(0, exact - self._break_tokens(offer, offer.best.key)) if self._shows_content else exact

    def line_tokens(self, offer: Offer) -> int:
        """Tokens of a document as one line."""
        return self._once(offer, "line", lambda offer: self.line(offer).tokens)

    def _count_heading(self, offer: Offer) -> int:
        return self._counter.count(self._piece(self._frame(offer, self._bare(offer, [Item(offer.best, "")])), "x")) - 1

    def _once(self, offer: Offer, name: str, count: Callable[[Offer], int]) -> int:
        """A count that depends on nothing but the document and its best hit, made once for all requests."""
        best = offer.best
        if self._priced is None or best.key <= 0:
            return count(offer)
        # The counter is kept beside its counts, so that no other one gets its identity.
        derived = offer.reading.outline.derived
        _, counts = derived.get(self._priced) or derived.setdefault(self._priced, (self._counter, {}))
        key = (name, best.passage.key, offer.section)
        counted = counts.get(key)
        if counted is None:
            counted = counts[key] = count(offer)
        return int(counted)

    def part_tokens(self, offer: Offer, keys: Iterable[int]) -> int:
        """Tokens that passages add to an excerpt, by their stored counts."""
        if not self._shows_content:
            return 0
        reading, hits, tokens = offer.reading, offer.hits, 0
        costs, between, citation = reading.costs, self._between(offer), CITATION_TOKENS if self._cites else 0
        for key in keys:
            tokens += between + costs[key]
            hit = hits.get(key)
            if hit is None:
                continue
            tokens += citation
            if key <= 0:  # what was handed in with the request has no stored count
                tokens += self._counter.count(hit.passage.text) - reading.tokens[key]
            if hit.node.fields:
                tokens += self._field_tokens(hit)
        return tokens

    def _break_tokens(self, offer: Offer, key: int) -> int:
        """Tokens of the break before a passage, and of its citation."""
        return self._between(offer) + (CITATION_TOKENS if self._cites and key in offer.hits else 0)

    def _between(self, offer: Offer) -> int:
        """Tokens of the break before a passage: a single one that is shown as it is costs what it counts."""
        return 0 if self._plain and len(offer.reading.keys) == 1 else BLOCK_TOKENS

    def _field_tokens(self, candidate: Candidate) -> int:
        node = candidate.node
        if node.type in ("heading", PAGE) or candidate.passage.ordinal:
            return 0
        if node.type not in _TITLED and self._prose_fields != "always" and candidate.passage.tokens:
            return 0
        return sum(2 + (len(name) + len(str(value))) // 4 for name, value in self._fields.of(node.fields).items())

    def line(self, offer: Offer) -> Excerpt:
        """A document as one line, without its content."""
        names = self._line_variables
        bare, node = self._bare(offer, [Item(offer.best, "")]), offer.best.node
        title = node.title if node.id != offer.document.id else ""
        values = values_of(names - {"content"}, bare, self._template, self._fields, title=title)
        if "content" in names:
            values["content"] = inline(offer.best.passage.text)
        text = substitute(self._template.line, values)
        return replace(bare, form="line", text=text, tokens=self._counter.count(text))

    def excerpt(self, offer: Offer, keys: Iterable[int], form: Form, number: int | None = None) -> Excerpt:
        """The passages with these keys, in reading order."""
        return self._build(offer, self._items(offer, keys), form, number)

    def numbered(self, offer: Offer, excerpt: Excerpt, number: int) -> Excerpt:
        """An excerpt under the number that it has in the text."""
        if "number" not in self._variables:
            return excerpt
        piece = self._piece(self._frame(offer, self._bare(offer, excerpt.items), number), excerpt.content)
        return replace(excerpt, text=piece, tokens=self._counter.count(piece))

    def shortened(self, offer: Offer, keys: Sequence[int], form: Form, limit: int) -> Excerpt | None:
        """Shorten these passages to a limit of tokens; None if too little would be left."""
        items = self._items(offer, keys)
        whole = self._build(offer, items, form)
        if whole.tokens <= limit:
            return whole
        around = self._counter.count(self._piece(self._frame(offer, self._bare(offer, items)), "x")) - 1
        room, least = min(limit, whole.tokens - 1) - around, 1
        while room >= _MIN_CONTENT:
            cut = self._shorter(offer, items, form, room)
            if cut is None or self._counter.count(cut.content) < _MIN_CONTENT:
                return None
            if cut.tokens <= limit:
                return self._fuller(offer, items, cut, room, limit) if self._template.reading_marks else cut
            # What passages were taken to cost was too low by this share.
            room -= max(least, (cut.tokens - limit) * room // max(1, cut.tokens - around))
            least *= 2
        return None

    def _fuller(self, offer: Offer, items: Sequence[Item], cut: Excerpt, room: int, limit: int) -> Excerpt:
        """The shortened excerpt with more passages, where those that it has cost less than they were taken to."""
        wider = room * limit // max(1, cut.tokens)
        for _ in range(_ATTEMPTS):
            if cut.tokens >= _FULL * limit or wider <= room:
                break
            more = self._shorter(offer, items, cut.form, wider)
            if more is not None and more.tokens <= limit:
                room, wider, cut = wider, wider * limit // more.tokens, max(cut, more, key=lambda each: each.tokens)
            else:
                wider = (room + wider) // 2
        return cut

    def _items(self, offer: Offer, keys: Iterable[int]) -> list[Item]:
        ordered = sorted(keys, key=offer.reading.place.__getitem__)
        candidates = self._load(ordered)
        return [
            Item(candidates[key], candidates[key].passage.text, hit=key in offer.hits)
            for key in ordered
            if key in candidates
        ]

    def _shorter(self, offer: Offer, items: Sequence[Item], form: Form, room: int) -> Excerpt | None:
        """An excerpt of about `room` tokens of content, by the request's strategy; None if nothing is left."""
        instead = ""
        if self._strategy in _SUMMARIES and len(items) > 1:
            whole = self._text(offer, items)
            text, instead = self._truncate(whole, room)
            if text not in ("", whole) and not instead:
                # The summary stands for all of them: its heading and its citations are theirs.
                summed = [replace(item, text="" if place else text, truncated=True) for place, item in enumerate(items)]
                return replace(self._build(offer, summed, form, summary=clean(text)), truncated=True)
        fitting, note = self._fitting(offer, items, room)
        if not fitting:
            return None
        cut = self._shortened_from(
            offer, [fitting[place] for place in sorted(fitting)], [item.candidate.key for item in items]
        )
        return replace(cut, form=form, note=note or instead)

    def with_more(self, offer: Offer, cut: Excerpt, of: Sequence[int], more: Sequence[int]) -> Excerpt:
        """A shortened excerpt of some passages together with others, which are shown whole."""
        shown = {item.candidate.key for item in cut.items}
        items = [*cut.items, *self._items(offer, [key for key in more if key not in shown])]
        items.sort(key=lambda item: offer.reading.place[item.candidate.key])
        return replace(self._shortened_from(offer, items, [*of, *more]), form=cut.form, note=cut.note)

    def _shortened_from(self, offer: Offer, items: Sequence[Item], keys: Iterable[int]) -> Excerpt:
        """A shortened excerpt of the passages with these keys, with a gap mark where an end is missing."""
        place = offer.reading.place
        places = [place[key] for key in keys if offer.reading.says(key)]
        first, last = items[0], items[-1]
        before = min(places, default=0) < place[first.candidate.key] and not first.text.startswith(MARK)
        after = max(places, default=0) > place[last.candidate.key] and not last.text.rstrip().endswith(MARK)
        counts = self._template.reading_marks and self._strategy not in _SUMMARIES
        asked = counts and any(hit.asked for hit in offer.hits.values())
        note = share_shown(offer.reading, items, keys) if asked else ""
        return replace(self._build(offer, items, "hits", gaps=(before, after), note=note), truncated=True)

    def _fitting(self, offer: Offer, items: Sequence[Item], room: int) -> tuple[dict[int, Item], str]:
        """The items that fit, by place, the last one cut, and a note on how it was."""
        fitting: dict[int, Item] = {}
        left = room
        for place in self._order(offer, items):
            item = items[place]
            node = offer.reading.node_of(item.candidate.key)
            titled = node.depth and node.title and node.keys[0] == item.candidate.key
            extra = (title_tokens(node) if titled else 0) + self._field_tokens(item.candidate)
            cost = item.candidate.passage.tokens + extra + BLOCK_TOKENS
            if cost <= left and len(items) > 1:
                fitting[place] = item
                left -= cost
            elif left >= (2 * _MIN_CONTENT if fitting else _MIN_CONTENT):
                text, note = self._truncate(trim(item.text), left - (BLOCK_TOKENS if fitting else 0))
                if text:
                    space = item.text[len(item.text.rstrip()) :]
                    fitting[place] = replace(item, text=text + space, truncated=True)
                return fitting, note
            else:
                break
        return fitting, ""

    def _order(self, offer: Offer, items: Sequence[Item]) -> list[int]:
        """The places of the items in the order in which they are to be fitted."""
        places = range(len(items))
        if self._strategy == "keep_start":
            return list(places)
        if self._strategy == "keep_end":
            return list(reversed(places))
        searched = {key for key, hit in offer.hits.items() if hit.found_as("words", "vector")}
        scores = {key: hit.score for key, hit in offer.hits.items() if not hit.asked or key in searched}
        # What was asked for comes after what the question is about, and before what only a walk from it led to.
        walked = max((score for key, score in scores.items() if key not in searched), default=0.0)
        scores |= {key: walked for key, hit in offer.hits.items() if hit.asked and key not in searched}
        rows = rows_that_match(items, self._words)
        if rows:
            # The rows that the question is about are a table by themselves.
            return [place for place in places if items[place].candidate.node.type not in ROWS or place in rows]
        return sorted(places, key=lambda place: (-scores.get(items[place].candidate.key, 0.0), place))

    def _build(
        self,
        offer: Offer,
        items: Sequence[Item],
        form: Form,
        number: int | None = None,
        *,
        summary: str | None = None,
        gaps: tuple[bool, bool] = (False, False),
        note: str = "",
    ) -> Excerpt:
        """An excerpt of these items, or of a `summary` of them; `gaps` are around it, the `note` at its end."""
        bare = self._bare(offer, items)
        key = self._rendered_key(bare, number, gaps, note) if summary is None else None
        rendered = None if key is None else self._rendered(offer).get(key)
        if rendered is None:
            text = self._content(offer, bare, summary, gaps, note)
            piece = self._piece(self._frame(offer, bare, number), text)
            rendered = (piece, self._counter.count(piece), text)
            if key is not None and len(piece) <= LONGEST_RENDERED:
                known = self._rendered(offer)
                if len(known) >= MOST_RENDERED:
                    known.clear()
                known[key] = rendered
        piece, tokens, text = rendered
        return Excerpt(bare.document, bare.section, form, bare.items, piece, tokens, bare.score, text, trail=bare.trail)

    def _rendered_key(
        self, bare: Excerpt, number: int | None, gaps: tuple[bool, bool], note: str
    ) -> tuple[object, ...] | None:
        """All that the text of an excerpt depends on beside its document; None if that may be more."""
        if self._priced is None or self._template.reading_marks or any(item.candidate.key <= 0 for item in bare.items):
            return None
        shown = [
            (item.candidate.passage.key, item.hit, item.candidate.note, item.text if item.truncated else None)
            for item in bare.items
        ]
        return (*shown, lead_of(bare).passage.key, bare.section, number, gaps, note)

    def _rendered(self, offer: Offer) -> dict[tuple[object, ...], tuple[str, int, str]]:
        """The latest excerpts of a document, by their keys: text, tokens and content."""
        _, known = offer.reading.outline.derived.setdefault(("rendered", self._priced), (self._counter, {}))
        return cast(dict[tuple[object, ...], tuple[str, int, str]], known)

    def _content(self, offer: Offer, bare: Excerpt, summary: str | None, gaps: tuple[bool, bool], note: str) -> str:
        items = bare.items
        marks = self._marks(offer, items, bare.citation)
        text = self._text(offer, items, marks) if summary is None else summary
        before, after = gaps[0] and not text.startswith(GAP), gaps[1] and not text.endswith(GAP)
        note = note or (rows_shown(offer.reading, items) if self._template.reading_marks else "")
        text = "\n".join(filter(None, (GAP if before else "", text, GAP if after else "", note)))
        return _PLACE.sub(lambda place: marks[int(place[1])], disown(text) if self._disowns else text)

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
        marked = self._template.reading_marks
        shown = [
            self._with_open_fence(offer, stretch)
            for stretch in stretches(offer.reading, items, self._named_in_heading(offer, items), all_headings=marked)
        ]
        return around_focus(offer, shown, style) if marked else content(shown, style)

    def _with_open_fence(self, offer: Offer, stretch: Shown) -> Shown:
        """The stretch with the code fence that it begins in, found by reading the passages before it."""
        item = stretch.items[0]
        candidate = item.candidate
        if (stretch.first and not item.truncated) or not ("```" in stretch.text or "~~~" in stretch.text):
            return stretch
        keys, passage = offer.reading.node_of(candidate.key).keys, candidate.passage.text
        before = keys[: keys.index(candidate.key)]
        earlier = self._load(before)
        cut = passage.rfind(item.text.strip(f"{MARK} \n")) if item.truncated else 0
        text = "".join(earlier[key].passage.text for key in before if key in earlier)
        return replace(stretch, opened=open_fence(clean(text + passage[: max(0, cut)])))

    def _marks(self, offer: Offer, items: Sequence[Item], heading: str) -> dict[int, str]:
        """The marks at the ends of passages, by key: the citation of a hit but that in the `heading`, and its note."""
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
        """Return True if the content has a place for a mark: not for a bare document named in the heading."""
        node = item.candidate.node
        if item.text.strip() or node.id != offer.document.id or not self._variables & _NAMES:
            return True
        return self._prose_fields != "never" and bool(self._fields.of(node.fields))

    def _named_in_heading(self, offer: Offer, items: Sequence[Item]) -> set[str]:
        """Ids of the nodes whose titles need not stand in the content."""
        document, only = offer.document.id, self._only_node(offer, items)
        named = {only.id} if only is not None and self._variables & {"about", "title"} else set()
        has_text = any(item.candidate.node.id == document and item.text.strip() for item in items)
        return named | {document} if has_text or self._variables & _NAMES else named

    def _only_node(self, offer: Offer, items: Sequence[Item]) -> NodeInfo | None:
        """The only node that is shown, if the heading has to name it beside the document."""
        nodes = {item.candidate.node.id: item.candidate.node for item in items}
        if len(nodes) != 1 or offer.document.id in nodes or common_headings(offer.reading, items):
            return None
        (node,) = nodes.values()
        return None if self._shows_content and node.type in _TITLED else node

    def _bare(self, offer: Offer, items: Sequence[Item]) -> Excerpt:
        score = max((item.candidate.score for item in items if item.hit), default=offer.best.score)
        trail = offer.reading.outline.trail
        return Excerpt(offer.document, offer.section, "hits", tuple(items), "", 0, score, trail=trail)

    def _frame(self, offer: Offer, bare: Excerpt, number: int | None = None) -> dict[str, str]:
        items = bare.items
        headings = [offer.reading.nodes[position].title for position in common_headings(offer.reading, items)]
        only = self._only_node(offer, items)
        title = "" if only is None else only.title
        return values_of(
            self._variables, bare, self._template, self._fields, headings=headings, title=title, number=number
        )

    def _piece(self, values: Mapping[str, str], text: str) -> str:
        quoted = self._quote(text)
        item = self._template.item_for(quoted) if self._fenced else self._template.item
        return substitute(item, {**values, "content": quoted}) + self._template.separator

    def _quote(self, text: str) -> str:
        if not text:
            return ""
        if self._template.quote == "fence":
            return fence(text)
        if self._template.quote == "cite":
            return cite(text)
        if self._plain:
            return plain(text, self._template.guards)
        if self._fenced:
            return clean(text)
        escaped = escape(text, block=self._block, own=_OWN_LINE)
        mark = self._template.separator.strip()
        if mark:
            escaped = escaped.replace(mark, f"\\{mark}")
        # The lines after the first belong to the same point of the list.
        return re.sub(r"\n(?=[^\n])", "\n  ", escaped) if self._hanging else escaped
