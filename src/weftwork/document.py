"""Reading a document, or a part of one: whole, in reading order, as its author laid it out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import PurePath

from weftwork.compose.reading import LISTED, ROWS, TURNS, Reading
from weftwork.errors import InvalidInput, NotFound
from weftwork.reference import resolve
from weftwork.render.citations import citations_of
from weftwork.render.content import Style, content
from weftwork.render.quote import clean, disown, inline, open_fence
from weftwork.render.stretches import HEADING, LEVEL, Shown, heading_text, one_line, stretches_of_part, trim
from weftwork.store.protocol import View
from weftwork.text.tokens import TokenCounter
from weftwork.text.truncate import clean_end
from weftwork.types import (
    UNSEEN,
    Candidate,
    Citation,
    Excerpt,
    FieldValue,
    Item,
    NodeInfo,
    Outline,
    OutlineNode,
    Record,
    shown_fields,
)

READ_TOKENS = 10_000
"""Tokens of a document to read at once by default."""
LEAST_TOKENS = 50
MOST_NODES = 200_000
"""Nodes of a document that is read whole; of a larger one, each part is read by itself."""
MOST_CHILDREN = 100
_START = re.compile(r"\[?([a-z]\d{6,12})\]?(?:\+(\d{1,9}))?")
_PLACE = re.compile("\x00(\\d+)\x00")
"""Keeps the place of a citation while content is disowned; content itself has no control characters."""
_TELLS_TITLE = LISTED | ROWS | TURNS | {"heading"}
"""Types whose title stands in their content."""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document, or the part of it that was asked for, as text; `next` says where it goes on."""

    node: NodeInfo
    """The node that is read: the document itself, or one in it with all that is below it."""
    document: NodeInfo
    """The document that it is, or is a part of."""
    trail: tuple[str, ...]
    """Titles above the node, from the nearest upwards."""
    text: str
    tokens: int
    citations: tuple[Citation, ...]
    """The passages that are shown, in the order of the text."""
    before: int = 0
    """Tokens before this part."""
    left: int = 0
    """Tokens after this part."""
    next: str = ""
    """The place to go on, for use as `start`; empty at the end."""
    holds: tuple[NodeInfo, ...] = ()
    """Documents that stand in it, and are read by themselves."""


@dataclass(frozen=True, slots=True)
class _Cursor:
    """A place in a document: a passage, and how many of its characters were read."""

    place: int = 0
    offset: int = 0


def read_document(
    view: View,
    reference: str,
    counter: TokenCounter,
    *,
    start: str = "",
    tokens: int | None = READ_TOKENS,
    ids: bool = True,
) -> DocumentText:
    """Read what a reference names, from `start` on, within `tokens`; None for all of it."""
    if tokens is not None and (not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < LEAST_TOKENS):
        raise InvalidInput(f"tokens must be a whole number of at least {LEAST_TOKENS}, got {tokens!r}")
    referred = resolve(view, reference, titles=True)
    part = _Part.of(view, referred.node, counter, ids=ids)
    if start:
        return part.read(part.cursor(start), tokens)
    text = part.read(_Cursor(), tokens)
    cited = None if referred.passage is None else part.place(referred.passage.passage.key)
    if cited is None or cited < part.keys_read(text):
        return text
    # A citation in a long text is answered with its passage, not with the start of the text.
    return part.read(_Cursor(cited), tokens)


@dataclass(slots=True)
class _Part:
    """A node of a document with all that is below it."""

    view: View
    record: Record
    reading: Reading
    position: int
    keys: list[int]
    counter: TokenCounter
    ids: bool
    loaded: dict[int, Record] = field(default_factory=dict)

    @classmethod
    def of(cls, view: View, node: str, counter: TokenCounter, *, ids: bool) -> _Part:
        keys = view.passages([node], MOST_NODES)[node]
        records = view.load(keys)
        document = records[0].document or node
        outline = view.outlines([document], most=MOST_NODES).get(document)
        if outline is None or all(entry.id != node for entry in outline.nodes):
            head = records[0].node
            counts = tuple(record.passage.tokens for record in records)
            alone = OutlineNode(node, head.type, head.title, 0, tuple(keys), counts)
            outline = Outline(outline.head if outline else head, records[0].trail, (alone,))
        reading = Reading(outline)
        position = reading.position[node]
        return cls(view, records[0], reading, position, reading.below(position), counter, ids)

    def place(self, key: int) -> int | None:
        """The index of a passage in `keys`; None if it is not there."""
        return self.keys.index(key) if key in self.reading.place and key in self.keys else None

    def keys_read(self, text: DocumentText) -> int:
        """The number of passages shown by a text that begins at the start."""
        return self.cursor(text.next).place if text.next else len(self.keys)

    def cursor(self, start: str) -> _Cursor:
        """The place that a value of `next` names."""
        named = _START.fullmatch(start.strip()) if isinstance(start, str) else None
        if named is None:
            raise InvalidInput(f"start must be what `next` of the part before says, such as k482913, got {start!r}")
        for record in self.view.cited([named[1]]):
            place = self.place(record.passage.key)
            if place is not None:
                return _Cursor(place, min(int(named[2] or 0), len(record.passage.text)))
        name = inline(self.record.node.title or self.record.node.id, 80)
        raise NotFound(f"there is no passage {named[1]} in {name!r} any more: read it again without start")

    def read(self, start: _Cursor, tokens: int | None) -> DocumentText:
        """The text from a place on, within `tokens`."""
        lead = "" if start != _Cursor() else self._lead(tokens)
        end, text = self._fill(start, lead, tokens)
        shown = self._items(start, end)
        counts = [self.reading.tokens[key] for key in self.keys]
        done = self.loaded[self.keys[end.place]].passage if end.offset else None
        part = 0 if done is None else self.counter.count(done.text[: end.offset])
        node, document = self.record.node, self.reading.outline.head
        return DocumentText(
            node=node,
            document=document,
            trail=self.record.trail,
            text=text,
            tokens=self.counter.count(text),
            citations=citations_of([Excerpt(document, "", "whole", tuple(shown), "", 0, 0.0)]),
            before=sum(counts[: start.place]) + self._tokens_read(start),
            left=max(0, sum(counts[end.place :]) - part),
            next="" if end.place == len(self.keys) else self._start_at(end),
            holds=self._documents_below() if end.place == len(self.keys) else (),
        )

    def _tokens_read(self, cursor: _Cursor) -> int:
        if not cursor.offset:
            return 0
        return self.counter.count(self._load([self.keys[cursor.place]])[0].passage.text[: cursor.offset])

    def _start_at(self, cursor: _Cursor) -> str:
        citation = self._load([self.keys[cursor.place]])[0].passage.citation
        return f"{citation}+{cursor.offset}" if cursor.offset else citation

    def _documents_below(self) -> tuple[NodeInfo, ...]:
        """Documents directly below the node, which are read by themselves."""
        children = self.view.children(self.record.node.id, 10 * MOST_CHILDREN)
        return tuple(child for child in children if child.id not in self.reading.position)[:MOST_CHILDREN]

    def _load(self, keys: Sequence[int]) -> list[Record]:
        missing = [key for key in keys if key not in self.loaded]
        self.loaded.update({record.passage.key: record for record in self.view.load(missing)} if missing else {})
        return [self.loaded[key] for key in keys]

    def _lead(self, tokens: int | None) -> str:
        """The title, fields and tags that the text lacks, in at most half of the tokens."""
        node = self.record.node
        if node.type in _TELLS_TITLE:
            return ""
        title = "" if self._begins_with_its_title() else heading_text(node.fields, node.title)
        shown = {**shown_fields(node.fields), **self._unwritten_tags(tokens)}
        fields = [f"{one_line(name)}: {_value(value)}".rstrip() for name, value in shown.items()]
        lines = [*([f"# {title}"] if title else []), *(["", *fields] if title and fields else fields)]
        if tokens is None or self.counter.count("\n".join(lines)) <= tokens // 2:
            return "\n".join(lines)
        text = self.counter.truncate("\n".join(lines), tokens // 2 - 4)
        return text[: clean_end(text)].rstrip() + " […]"

    def _unwritten_tags(self, tokens: int | None) -> Mapping[str, FieldValue]:
        """The tags that are not written in what is shown first, as a field."""
        tags = self.record.node.tags
        if not tags:
            return {}
        shown = self._load(self.keys[: self._most(_Cursor(), tokens)])
        written = "\n".join(f"{record.node.title}\n{record.passage.text}" for record in shown).casefold()
        unwritten = tuple(tag for tag in tags if f"#{tag.casefold()}" not in written)
        return {"tags": unwritten} if unwritten else {}

    def _begins_with_its_title(self) -> bool:
        """Return True if it is named after its file and begins with a heading of the first level."""
        node, below = self.record.node, self.position + 1
        if HEADING in node.fields or PurePath(node.source).stem != node.title:
            return False
        if self.reading.tokens[self.keys[0]] or below >= self.reading.ends[self.position]:
            return False
        first = self.reading.nodes[below]
        return first.type == "heading" and self._load(first.keys[:1])[0].node.fields.get(LEVEL) == 1

    def _fill(self, start: _Cursor, lead: str, tokens: int | None) -> tuple[_Cursor, str]:
        """The place up to which passages from `start` on fit, and their text."""
        most = self._most(start, tokens)
        whole = self._text(start, _Cursor(most), lead)
        if tokens is None or self.counter.count(whole) <= tokens:
            return _Cursor(most), whole
        ends = range(start.place + 1, most)
        fitting = bisect_left(
            ends, 1, key=lambda end: int(self.counter.count(self._text(start, _Cursor(end), lead)) > tokens)
        )
        end = _Cursor(start.place + fitting)
        if fitting:
            return end, self._text(start, end, lead)
        return self._cut(start, lead, tokens)

    def _most(self, start: _Cursor, tokens: int | None) -> int:
        """The place after the last passage that may fit, by stored counts without titles and marks."""
        if tokens is None:
            return len(self.keys)
        sums = list(accumulate(self.reading.tokens[key] for key in self.keys[start.place :]))
        return min(len(self.keys), start.place + 1 + bisect_left(sums, tokens + self._tokens_read(start) + 1))

    def _cut(self, start: _Cursor, lead: str, tokens: int) -> tuple[_Cursor, str]:
        """The start of a passage that is too long to fit."""
        passage = self._load([self.keys[start.place]])[0].passage.text[start.offset :]
        for bare in (False, True):
            room = tokens
            while room > 0:
                piece = self.counter.truncate(passage, room)
                piece = piece if len(piece) == len(passage) else piece[: clean_end(piece)]
                end = _Cursor(start.place, start.offset + len(piece))
                text = trim(clean(piece)) if bare else self._text(start, end, lead)
                excess = self.counter.count(text) - tokens
                if excess <= 0 and piece:
                    return end if len(piece) < len(passage) else _Cursor(start.place + 1), text
                room = min(room - 1, room - excess)
        return _Cursor(start.place, start.offset + 1), clean(passage[:1])

    def _items(self, start: _Cursor, end: _Cursor) -> list[Item]:
        """The passages between two places, as they are shown."""
        items = []
        keys = self.keys[start.place : end.place + (1 if end.offset else 0)]
        for place, record in enumerate(self._load(keys), start.place):
            first = start.offset if place == start.place else 0
            last = end.offset if end.offset and place == end.place else None
            node = replace(record.node, fields=self._unwritten_fields(record))
            candidate = Candidate(node, record.passage, "", (), record.trail)
            text = record.passage.text[first:last]
            items.append(Item(candidate, text, truncated=len(text) < len(record.passage.text)))
        return items

    def _unwritten_fields(self, record: Record) -> Mapping[str, FieldValue]:
        """The fields that neither the text nor the lead shows; of a heading, those for its layout."""
        node, text = record.node, record.passage.text
        if node.type == "heading" or (node.id == self.record.node.id and node.type not in _TELLS_TITLE):
            return {name: value for name, value in node.fields.items() if name in (LEVEL, HEADING, UNSEEN)}
        return {name: value for name, value in node.fields.items() if f"{name}::" not in text}

    def _text(self, start: _Cursor, end: _Cursor, lead: str) -> str:
        items = self._items(start, end)
        marks = {item.candidate.key: f"[{item.candidate.passage.citation}]" for item in items if self._is_cited(item)}
        style = Style(
            mark=lambda item: f"\x00{item.candidate.key}\x00" if item.candidate.key in marks else "",
            ends=False,
        )
        named = {self.record.node.id, self.reading.outline.head.id}
        shown = stretches_of_part(self.reading, items, named, self.position, self.record.node.fields)
        if shown:
            shown[0] = self._with_open_fence(shown[0], start)
        text = "\n\n".join(filter(None, (lead, content(shown, style))))
        return _PLACE.sub(lambda place: marks[int(place[1])], disown(text)) if self.ids else text

    def _is_cited(self, item: Item) -> bool:
        """Return True if a passage has words to cite; a bare heading has none."""
        node = item.candidate.node
        return self.ids and bool(item.text.strip() or (node.title and node.type in LISTED | ROWS))

    def _with_open_fence(self, stretch: Shown, start: _Cursor) -> Shown:
        """The first stretch of a part, with the code fence that it begins in."""
        candidate = stretch.items[0].candidate
        if candidate.passage.ordinal == 0 and not start.offset:
            return stretch
        keys = self.reading.node_of(candidate.key).keys
        before = self._load(keys[: keys.index(candidate.key)])
        text = "".join(record.passage.text for record in before) + candidate.passage.text[: start.offset]
        if start.offset:
            stretch = replace(stretch, first=False, headings=())
        return replace(stretch, opened=open_fence(clean(text)))


def _value(value: FieldValue) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(one_line, value))
    return "" if value is None else one_line(str(value))
