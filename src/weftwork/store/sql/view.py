"""A user's snapshot of a workspace, but for the searches by words and by vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from weftwork.history import Change, Event, Usage, Vote
from weftwork.identity import CITATION, LONGER, SHORT
from weftwork.provenance import Trust, origins_below
from weftwork.store.protocol import USES_BY_ANOTHER, Closed
from weftwork.store.sql.codec import (
    INFO_WIDTH,
    NAMES,
    folded_name,
    from_micros,
    node_info,
    optional_moment,
    to_micros,
    whole_node,
)
from weftwork.store.sql.outlines import OutlineRow, in_reading_order
from weftwork.store.sql.page_ranking import Stage, best_pages, check_width
from weftwork.store.sql.read_cache import CachedOutline, CachedRecord
from weftwork.store.sql.session import Row
from weftwork.store.sql.tree import TreeReads, trails_of
from weftwork.text import bm25
from weftwork.text.analysis import MAX_TERMS, NO_WORDS, stem_forms, whole_words
from weftwork.text.languages import ENGLISH, FUNCTION_WORDS, language_of, marker
from weftwork.types import (
    Filters,
    Hit,
    Node,
    NodeInfo,
    Outline,
    Passage,
    Record,
)

if TYPE_CHECKING:
    from weftwork.embed.protocol import Matrix, Vector

NO_FILTERS = Filters()
NOT_CLOSED = Closed()
RARE = 100
"""A language of less than one in so many passages is rare."""
TRAIL = 8
"""Ancestors in the breadcrumbs of a passage."""
AHEAD = timedelta(days=2)
"""Dates this far ahead are not past in any time zone."""
EVER = -(2**62)
"""Before any moment."""
CITATION_COLUMN = 6
"""The index of the citation id among the columns of a passage."""


class SqlView(TreeReads, ABC):
    """Implements `weftwork.store.protocol.View` on the statements of a store."""

    def nodes(self, names: Sequence[str]) -> list[Node]:
        """The visible nodes among these ids, in the order asked for."""
        rows = self._reader.rows(self._sql.NODES, names=list(names)) if names else []
        nodes = {row[0]: whole_node(row) for row in rows}
        return [nodes[name] for name in names if name in nodes]

    def load(self, keys: Sequence[int]) -> list[Record]:
        """The visible passages among these keys, in the order asked for, with their breadcrumbs."""
        cached = self._cached.records
        records = {key: entry.record for key in keys if (entry := cached.get(key)) is not None}
        missing = [key for key in keys if key not in records]
        if missing:
            records.update(self._read_records(missing))
        return [records[key] for key in keys if key in records]

    def _read_records(self, keys: Sequence[int]) -> Iterator[tuple[int, Record]]:
        rows, ancestors = self._reader.together(self._sql.RECORDS, self._sql.TRAILS, keys=list(keys), depth=TRAIL)
        trails = trails_of(ancestors)
        for row in rows:
            number, document, name, shared, *passage = row[INFO_WIDTH:]
            above = trails.get(number, ())
            # As far as the document can be seen without a gap; else the node is its own.
            depth = next((level for level, (other, _) in enumerate(above, start=1) if other == document), 0)
            # As much of the citation id as is unique among what the viewer may see.
            passage[CITATION_COLUMN] = passage[CITATION_COLUMN][: LONGER if shared else SHORT]
            stored = Passage(*passage)
            info, titles = node_info(row), tuple([title for _, title in above])
            if len(above) < TRAIL:
                self._cached.lineages[info.id] = (number, *[other for other, _ in above])
            record = Record(info, stored, titles, name if depth else info.id, depth)
            self._cached.add_record(CachedRecord(record, number, bool(shared)))
            yield stored.key, record

    def outlines(
        self, documents: Sequence[str], *, most: int = 2_000, as_of: datetime | None = None
    ) -> dict[str, Outline]:
        """The visible documents among these with their visible nodes in reading order; large ones alone."""
        cached = self._cached.outlines
        entries = {name: entry for name in documents if (entry := cached.get((name, most))) is not None}
        missing = [name for name in documents if name not in entries]
        if missing:
            read = self._read_outlines(missing, most, None)
            for name, entry in read.items():
                self._cached.add_outline(name, most, entry)
            entries |= read
        limited = [] if as_of is None else [name for name, entry in entries.items() if entry.limited]
        if limited:
            entries |= self._read_outlines(limited, most, as_of)
        return {name: entry.outline for name, entry in entries.items()}

    def _read_outlines(self, documents: Sequence[str], most: int, as_of: datetime | None) -> dict[str, CachedOutline]:
        heads = {row[INFO_WIDTH]: node_info(row) for row in self._reader.rows(self._sql.HEADS, names=list(documents))}
        moment = {"ever": as_of is None, "as_of": 0 if as_of is None else to_micros(as_of)}
        rows: dict[int, list[OutlineRow]] = {}
        for row in self._reader.rows(self._sql.OUTLINES, documents=list(heads), most=most, **moment):
            rows.setdefault(row[0], []).append(row[1:])
        firsts = [
            key
            for number, document_rows in rows.items()
            if (key := next((row[5] for row in document_rows if row[0] == number), None)) is not None
        ]
        trails = trails_of(self._reader.rows(self._sql.TRAILS, keys=firsts, depth=TRAIL)) if firsts else {}
        entries = {}
        for number, head in heads.items():
            own = rows.get(number, ())
            titles = tuple(title for _, title in trails.get(number, ()))
            outline = Outline(head, titles, in_reading_order(own, number))
            entries[head.id] = CachedOutline(
                outline, frozenset([number, *(row[0] for row in own)]), any(row[7] for row in own)
            )
        return entries

    def passages(self, names: Sequence[str], limit: int = 1) -> dict[str, list[int]]:
        """Keys of the first passages of each visible node."""

        def read(missing: list[str]) -> dict[str, list[int]]:
            keys: dict[str, list[int]] = {}
            for name, key in self._reader.rows(self._sql.PASSAGE_KEYS, names=missing, limit=limit):
                keys.setdefault(name, []).append(key)
            return keys

        keys: dict[str, list[int]] = self._cached.content.each(("passages", limit), names, read, [])
        return {name: list(of_node) for name, of_node in keys.items() if of_node}

    def nodes_of(self, keys: Sequence[int]) -> list[str]:
        """Ids of the visible nodes that these passages belong to, in their order, each once."""
        owners = {key: name for key, name in self._reader.rows(self._sql.OWNERS, keys=list(keys))} if keys else {}
        return list(dict.fromkeys(owners[key] for key in keys if key in owners))

    def cited(self, citations: Sequence[str]) -> list[Record]:
        """The visible passages whose citation ids begin like these, in the order asked for."""
        valid = [citation for citation in citations if CITATION.fullmatch(citation)]
        rows = sorted(self._reader.rows(self._sql.CITED, citations=valid)) if valid else []
        keys = [key for citation in valid for key, whole in rows if whole.startswith(citation)]
        return self.load(list(dict.fromkeys(keys)))

    def find(self, title: str) -> list[str]:
        """Ids of the visible nodes whose title, source, alias or id in an export is this, ignoring case."""

        def read() -> list[str]:
            rows = self._reader.rows(self._sql.FIND, title=title, name=folded_name(title), names=list(NAMES))
            return [row[0] for row in rows]

        return list(self._cached.content.one(("find", title), read))

    def select(self, filters: Filters, *, limit: int, sort: Literal["updated", "title"] = "updated") -> list[NodeInfo]:
        """Visible nodes that pass the filters."""
        statement = self._sql.RECENT if sort == "updated" else self._sql.BY_TITLE
        # Between two turns, the same nodes are valid.
        period = None if filters.as_of is None else self._turn(to_micros(filters.as_of)).start

        def read() -> list[NodeInfo]:
            return [node_info(row) for row in self._reader.filtered(statement, filters, limit=limit)]

        asked = ("select", replace(filters, as_of=None), period, limit, sort)
        return list(self._cached.content.one(asked, read))

    def below_trust(self, trust: Trust) -> list[str]:
        """Ids of the visible nodes whose text deserves less trust than this."""
        asked = {"origins": origins_below(trust), "own": trust == "own", "user": self.user}
        return [row[0] for row in self._reader.rows(self._sql.BELOW_TRUST, **asked)]

    def past(
        self,
        fields: Sequence[str],
        now: datetime,
        *,
        closed: Closed = NOT_CLOSED,
        limit: int,
        filters: Filters = NO_FILTERS,
        since: datetime | None = None,
    ) -> list[NodeInfo]:
        """Visible nodes with a date in one of these fields that has passed, the earliest first."""
        # The index of fields tells upper case from lower.
        spellings = [spelling for name in fields for spelling in (name, name.capitalize(), name.title(), name.upper())]
        rows = self._reader.filtered(
            self._sql.PAST,
            filters,
            names=list(dict.fromkeys(spellings)),
            latest=(now + AHEAD).date().isoformat(),
            earliest="" if since is None else since.date().isoformat(),
            today=now.date().isoformat(),
            now=now.isoformat(),
            closing=list(closed.fields),
            closed=list(closed.values),
            limit=limit,
        )
        return [node_info(row) for row in rows]

    @abstractmethod
    def search_words(
        self, text: str, *, limit: int, filters: Filters = NO_FILTERS, also: Mapping[str, float] = NO_WORDS
    ) -> list[Hit]:
        """BM25 with the statistics of what the viewer may see."""

    @abstractmethod
    def corrections(self, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Known words that misspelt ones may stand for."""

    @abstractmethod
    def search_fuzzy(
        self, text: str, *, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.3
    ) -> list[Hit]:
        """Titles, paths and words that nearly match."""

    def search_vector(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.0
    ) -> list[Hit]:
        """Nearest passages by cosine."""
        return self.prepare_vector_search(vector, model=model, limit=limit, filters=filters, threshold=threshold)()

    @abstractmethod
    def prepare_vector_search(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.0
    ) -> Callable[[], list[Hit]]:
        """Return the search as a callable that may run in another thread beside other reads of this view."""

    def search_pages(self, vectors: Matrix, *, model: str, limit: int, filters: Filters = NO_FILTERS) -> list[Hit]:
        """Document pages by MaxSim, as the keys of their first passages."""
        if not len(vectors) or not self._reader.acls or limit < 1:
            return []
        pages = self._reader.filtered(self._sql.PAGES, filters, model=model)
        for _, width in pages[:1]:
            check_width(vectors, width, model)

        def stored(nodes: Sequence[int], stage: Stage) -> list[Row]:
            statement = self._sql.PAGE_SKETCHES if stage == "sketch" else self._sql.PAGE_VECTORS
            return self._reader.rows(statement, model=model, nodes=list(nodes))

        return best_pages(vectors, [node for node, _ in pages], limit, stored)

    @abstractmethod
    def similarities(self, vector: Vector, keys: Sequence[int], *, model: str) -> dict[int, float]:
        """Cosine of each of these passages that has a vector."""

    def unknown_words(self, words: Sequence[str]) -> list[str]:
        """The words that occur in no visible passage."""
        return [word for word, counts in self._stem_counts(words).items() if not any(counts)]

    def size(self) -> tuple[int, int]:
        """The number of visible passages, and of their words."""
        return self._reader.passages, self._reader.words

    def idf(self, words: Sequence[str]) -> dict[str, float]:
        """Inverse document frequency of words among the visible passages."""
        passages = self._reader.passages
        if not passages:
            return {}
        return {
            word: max(bm25.idf(passages, count) for count in counts)
            for word, counts in self._stem_counts(words).items()
        }

    def _languages(self) -> dict[str, int]:
        """English, and the other languages of visible passages, with the numbers of passages."""
        counts = self._frequencies([marker(language) for language in FUNCTION_WORDS])
        others = {language: count for language in FUNCTION_WORDS if (count := counts[marker(language)])}
        return {ENGLISH: self._reader.passages - sum(others.values())} | others

    def _languages_for(self, query: str) -> tuple[str, ...]:
        """The languages in whose stems a query is searched, English first.

        Stems of a language that hardly any passage has would match words of others by accident. They are used where
        the query is in that language, or has words that are found by no other stem.
        """
        present, own = self._languages(), language_of(query, least=1)
        usual = tuple(
            language
            for language, count in present.items()
            if language in (ENGLISH, own) or RARE * count >= self._reader.passages
        )
        if len(usual) == len(present):
            return usual
        known = self._stem_counts(whole_words(query)[:MAX_TERMS], usual)
        return usual if all(any(counts) for counts in known.values()) else tuple(present)

    def _stem_counts(self, words: Sequence[str], languages: Sequence[str] = ()) -> dict[str, list[int]]:
        """Document frequencies of the stems of each word; words without a stem are left out."""
        languages = languages or tuple(self._languages())
        forms = {word: stem_forms(word, languages) for word in words}
        terms = sorted({stem for parts in forms.values() for part in parts for stem in part})
        counts = self._frequencies(terms) if terms else {}
        return {
            word: [sum(counts[stem] for stem in set(part)) for part in parts] for word, parts in forms.items() if parts
        }

    @abstractmethod
    def _frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Document frequencies of terms in visible passages."""

    def events(self, kind: Literal["view", "edit"], *, limit: int, since: datetime | None = None) -> list[Event]:
        """The user's own latest views or edits, newest first, once per node."""
        start = EVER if since is None else to_micros(since)

        def read() -> list[Event]:
            rows = self._reader.rows(self._sql.EVENTS, user=self.user, kind=kind, since=start, limit=limit)
            return [Event(name, key, kind, from_micros(at)) for name, key, at in rows]

        return list(self._latest.one(("events", self.user, kind, start, limit), read))

    def usage(self, nodes: Sequence[str]) -> dict[str, Usage]:
        """Use of the visible nodes among these that have any."""

        def read(missing: list[str]) -> dict[str, Usage | None]:
            rows = self._reader.rows(self._sql.USAGE, names=missing, user=self.user, most=USES_BY_ANOTHER)
            return {name: Usage(*numbers) for name, *numbers in rows if any(numbers)}

        usage = self._latest.each(("usage", self.user), nodes, read, None)
        return {name: of_node for name, of_node in usage.items() if of_node is not None}

    def votes(self, limit: int) -> list[Vote]:
        """The user's own latest feedback on visible nodes, the newest first."""

        def read() -> list[Vote]:
            rows = self._reader.rows(self._sql.VOTES, user=self.user, limit=limit)
            return [Vote(name, bool(useful), query) for name, useful, query in rows]

        return list(self._latest.one(("votes", self.user, limit), read))

    def changes(self, since: int) -> list[Change]:
        """Visible nodes written or removed after a version of the workspace."""
        rows = self._reader.rows(self._sql.CHANGES, since=since)
        # What was erased has no id any more.
        return [Change(name, version, bool(deleted)) for name, version, deleted in rows if name]

    def next_turn(self, moment: datetime) -> datetime | None:
        """The first moment after this one at which a visible node begins or ceases to be valid."""
        return optional_moment(self._turn(to_micros(moment)).at)

    @abstractmethod
    def vectors(self, digests: Sequence[str], *, model: str) -> dict[str, Vector]:
        """Vectors stored under those of these digests that belong to a visible passage."""

    def counts(self) -> dict[str, int]:
        """The number of visible nodes by type, edges, tags and passages."""
        types, ((edges,),), ((tags,),) = self._reader.together(
            self._sql.COUNT_BY_TYPE, self._sql.COUNT_EDGES, self._sql.COUNT_TAGS
        )
        nodes = sum(number for _, number in types)
        totals = {"nodes": nodes, "passages": self._reader.passages, "edges": edges, "tags": tags}
        return totals | {f"nodes.{kind}": number for kind, number in types}
