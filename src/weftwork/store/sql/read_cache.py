"""The read cache: rows that were read and decoded before, for one state of a workspace and one set of access lists.

Whoever may see the same access lists at the same version of the content reads the same rows. Nothing that depends on a
user, such as activity and usage, is in it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sized
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from weftwork.identity import SHORT
from weftwork.types import Outline, Record

Name = TypeVar("Name", bound=Hashable)
Value = TypeVar("Value")
Rows = TypeVar("Rows", bound=Sized)

MOST_BYTES = 64_000_000
MOST_SCOPES = 64
RECORD_BYTES = 2_000
OUTLINE_BYTES = 3_000
NODE_BYTES = 1_200
"""About what a record without its text, an outline without its nodes, and one of these take, with what is derived."""
RENDERED_BYTES, MOST_RENDERED_BYTES = 30, 100_000
"""About what the excerpts that are kept of a document take: by token of the document, and at most."""
TERM_BYTES = 120
LOOKUP_BYTES, ROW_BYTES = 200, 400
"""About what an answer takes, and each of the rows in it."""

ScopeKey = tuple[int, int, frozenset[int]]
"""The workspace, the version of its content, and the access lists that a viewer may see."""


@dataclass(frozen=True, slots=True)
class CachedRecord:
    """A record, the number of its node, and True if the short form of its citation is another's, too."""

    record: Record
    node: int
    shared: bool


@dataclass(frozen=True, slots=True)
class CachedOutline:
    """An outline at any moment, the numbers of its nodes, and True if some are valid only for a time."""

    outline: Outline
    nodes: frozenset[int]
    limited: bool


@dataclass(frozen=True, slots=True)
class CachedWords:
    """The stems of a passage, each between two NULs, and their number."""

    text: str
    length: int
    node: int


@dataclass(frozen=True, slots=True)
class NextTurn:
    """The first moment after `start` at which a node begins or ceases to be valid; None if there is none."""

    start: int
    at: int | None


@dataclass(frozen=True, slots=True)
class Written:
    """Keys written since an earlier version, where nothing else depends on them."""

    nodes: frozenset[int]
    """The nodes that were written or removed, with all below them."""
    documents: frozenset[int]
    """The documents that they belong to now."""
    beginnings: frozenset[str]
    """The short forms of the citations that they have now."""


@dataclass(slots=True)
class Lookups:
    """Answers of small reads, such as the children of a node, by what was asked."""

    answers: dict[tuple[Hashable, ...], Any] = field(default_factory=dict)
    bytes: int = 0

    def one(self, asked: tuple[Hashable, ...], read: Callable[[], Rows]) -> Rows:
        """The rows of a read, which is done once; nobody may change them."""
        answer = self.answers.get(asked)
        if answer is None:
            answer = self.answers[asked] = read()
            self.bytes += LOOKUP_BYTES + ROW_BYTES * len(answer)
        return cast(Rows, answer)

    def each(
        self,
        asked: tuple[Hashable, ...],
        names: Iterable[Name],
        read: Callable[[list[Name]], Mapping[Name, Value]],
        default: Value,
    ) -> dict[Name, Value]:
        """Map names to values, reading only those that are not cached; `default` where there is none."""
        known: dict[Name, Value] = self.answers.setdefault(asked, {})
        missing = [name for name in names if name not in known]
        if missing:
            found = read(missing)
            known.update({name: found.get(name, default) for name in missing})
            rows = sum(len(value) if isinstance(value, Collection) else 1 for value in found.values())
            self.bytes += LOOKUP_BYTES * len(missing) + ROW_BYTES * rows
        return {name: known[name] for name in names}


@dataclass(slots=True)
class CachedReads:
    """The rows of one scope. Dictionaries only grow, until all are emptied at once."""

    records: dict[int, CachedRecord] = field(default_factory=dict)
    """By the key of the passage."""
    outlines: dict[tuple[str, int], CachedOutline] = field(default_factory=dict)
    """By the id of the document and the most nodes that were asked for."""
    words: dict[int, CachedWords] = field(default_factory=dict)
    """By the key of the passage."""
    frequencies: dict[str, int] = field(default_factory=dict)
    """Document frequencies of terms."""
    totals: tuple[int, int] | None = None
    """The number of visible passages, and of their words."""
    turn: NextTurn | None = None
    """The next turn, as it was read last."""
    lineages: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The numbers of nodes and of all that is visible above them, by id."""
    content: Lookups = field(default_factory=Lookups)
    """What depends on nodes alone."""
    _latest: tuple[int, Lookups] = field(default_factory=lambda: (-1, Lookups()))
    own_bytes: int = 0

    @property
    def bytes(self) -> int:
        """About the memory that all of it takes."""
        return self.own_bytes + self.content.bytes + self._latest[1].bytes

    def latest(self, version: int) -> Lookups:
        """The cache of values that depend on links, activity or usage: any write makes them stale."""
        if self._latest[0] != version:
            self._latest = version, Lookups()
        return self._latest[1]

    def next_turn(self, moment: int) -> NextTurn | None:
        """The next turn after a moment, where the one that was read last tells it."""
        turn = self.turn
        known = turn is not None and turn.start <= moment and (turn.at is None or moment < turn.at)
        return turn if known else None

    def carried(self, written: Written) -> CachedReads:
        """Copy what a write left valid to the version that it made."""
        reads = CachedReads()
        stale = set(written.nodes)
        for key, cached in self.records.copy().items():
            # A citation that another one begins like may be longer or shorter than before.
            citation = cached.record.passage.citation
            if cached.shared or cached.node in written.nodes or citation[:SHORT] in written.beginnings:
                stale.add(cached.node)
            else:
                reads.records[key] = cached
        stale |= written.documents
        for asked, outlined in self.outlines.copy().items():
            if stale.isdisjoint(outlined.nodes):
                reads.outlines[asked] = outlined
        reads.words = {key: words for key, words in self.words.copy().items() if words.node not in written.nodes}
        reads.lineages = {
            name: above for name, above in self.lineages.copy().items() if above and above[0] not in written.nodes
        }
        reads.own_bytes = (
            sum(map(record_bytes, reads.records.values()))
            + sum(map(outline_bytes, reads.outlines.values()))
            + sum(TERM_BYTES + len(words.text) for words in reads.words.values())
        )
        return reads

    def add_record(self, cached: CachedRecord) -> None:
        """Keep a record."""
        self.records[cached.record.passage.key] = cached
        self.own_bytes += record_bytes(cached)

    def add_outline(self, name: str, most: int, cached: CachedOutline) -> None:
        """Keep an outline."""
        self.outlines[name, most] = cached
        self.own_bytes += outline_bytes(cached)

    def add_words(self, key: int, cached: CachedWords) -> None:
        """Keep the stems of a passage."""
        self.words[key] = cached
        self.own_bytes += TERM_BYTES + len(cached.text)

    def add_frequencies(self, counts: dict[str, int]) -> None:
        """Keep document frequencies."""
        self.frequencies.update(counts)
        self.own_bytes += TERM_BYTES * len(counts)

    def empty(self) -> None:
        """Forget everything; readers hold what they have taken out."""
        self.records, self.outlines, self.words, self.frequencies, self.lineages = {}, {}, {}, {}, {}
        self.content, self._latest = Lookups(), (-1, Lookups())
        self.own_bytes = 0


def _version(key: ScopeKey) -> int:
    return key[1]


class ReadCache:
    """The scopes that were read last, within a limit of bytes. Thread-safe."""

    def __init__(self, most_bytes: int = MOST_BYTES, most_scopes: int = MOST_SCOPES) -> None:
        self._most_bytes = most_bytes
        self._most_scopes = most_scopes
        self._scopes: OrderedDict[ScopeKey, CachedReads] = OrderedDict()
        self._guard = threading.Lock()

    def scope(self, key: ScopeKey, since: Callable[[int], Written | None] = lambda version: None) -> CachedReads:
        """The rows of a scope; a new one begins with what the writes `since` its latest version left as it was."""
        workspace, version, acls = key
        with self._guard:
            reads = self._scopes.get(key)
            older = [
                other for other in self._scopes if (other[0], other[2]) == (workspace, acls) and other[1] < version
            ]
            before = self._scopes[max(older, key=_version)] if older and reads is None else None
        if reads is None:
            written = since(_version(max(older, key=_version))) if before is not None else None
            reads = CachedReads() if before is None or written is None else before.carried(written)
        with self._guard:
            reads = self._scopes.setdefault(key, reads)
            # A version that is lower than one that was read means that an older copy of the store was put back.
            newer = [other for other in self._scopes if other[0] == workspace and other[1] > version]
            for other in (*older, *newer):
                self._scopes.pop(other, None)
            self._scopes.move_to_end(key)
            while len(self._scopes) > self._most_scopes or (len(self._scopes) > 1 and self._full()):
                self._scopes.popitem(last=False)
            if self._full():
                reads.empty()
            return reads

    def _full(self) -> bool:
        return sum(reads.bytes for reads in self._scopes.values()) > self._most_bytes


def record_bytes(cached: CachedRecord) -> int:
    """About the memory that a record takes."""
    return RECORD_BYTES + len(cached.record.passage.text)


def outline_bytes(cached: CachedOutline) -> int:
    """About the memory that an outline takes, with what is derived from it."""
    nodes = cached.outline.nodes
    rendered = min(MOST_RENDERED_BYTES, RENDERED_BYTES * sum([sum(node.tokens) for node in nodes]))
    return OUTLINE_BYTES + NODE_BYTES * len(nodes) + rendered
