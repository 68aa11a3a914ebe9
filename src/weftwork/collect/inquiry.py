"""The state of one request that collectors share: view, question, and searches run once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import numpy as np

from weftwork.collect.aliases import long_forms, short_forms
from weftwork.collect.cached import once
from weftwork.collect.exact_names import Named, named
from weftwork.collect.follow_up import LOOKED_BACK, borrowed, is_follow_up, spoken_of
from weftwork.collect.fusion import Weighing
from weftwork.embed.cached import query_vector
from weftwork.embed.card import Trust, trust_of
from weftwork.embed.protocol import EmbeddingProvider
from weftwork.embed.vectors import blend
from weftwork.embed.visual import VisualEmbedder
from weftwork.errors import DimensionError, InvalidInput
from weftwork.frozen import frozen
from weftwork.history import Event
from weftwork.identity import SHORT, citation_id, text_hash
from weftwork.query import INTENTS, Question
from weftwork.request import Message, Request
from weftwork.store.protocol import View
from weftwork.text.analysis import whole_words
from weftwork.types import (
    Filters,
    Hit,
    Kind,
    Node,
    NodeInfo,
    Passage,
    Reach,
    Record,
    Step,
)

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

FEWEST_HITS, MOST_HITS = 15, 400
USUAL_TOKENS = 200
"""The length of a passage where nothing else is known."""
TOKENS_A_WORD = 1.4
HEADING_TOKENS = 8
"""Tokens around a passage: its share of the heading, its citation."""
OFFERED = 2.0
"""Passages offered, as a multiple of what fits."""
OVERLAP = 1.5
"""Two searches with limit k return about this many times k distinct passages."""
DEEPER = 1.3
"""Least ratio of depths for which a second search is worth its time."""
SAID_BEFORE = 0.7
"""The weight of the words of earlier turns beside the question, in a search by vector."""
_QUOTES = re.compile('["\u201c\u201d\u201e]')
_QUOTED = re.compile('["\u201c\u201d\u201e][^"\u201c\u201d\u201e]+["\u201c\u201d\u201e]')
MOST_CORRECTED = 8
CORRECTED = 0.7
"""Words of a query that are corrected, and the weight of a correction beside a word of the query."""
DEFINING = 3
"""The best hits in which an acronym is looked for that stands for words of the query."""
RECENT_EVENTS = 50
"""The user's own edits and views that are read."""


@frozen
class Found:
    """A passage that a collector found: stored, by its key, or not stored, with its record."""

    key: int
    score: float
    why: str = ""
    kind: Kind = "other"
    """The kind of evidence; "other" lets the score count by itself."""
    distance: int | None = None
    path: tuple[Step, ...] = ()
    record: Record | None = None
    asked: bool = False
    """Named by the request or the query: then it has to be there."""
    levels: int | None = None
    """Levels below its node that may be shown; None for all."""
    by_id: bool = False
    """Named by its id in the request: then it is shown even when it is no longer valid."""
    reached: tuple[Reach, ...] = ()
    hubs: tuple[str, ...] = ()
    more: bool = False

    @classmethod
    def unstored(cls, node: Node, score: float, why: str = "", kind: Kind = "other") -> Found:
        """A finding outside the store: a document by itself, cited by an id made of its content.

        The caller vouches that the viewer may see it.
        """
        text, citation = node.text, citation_id(node.id, node.text)
        # Stored passages have keys above 0; below, the citation tells findings of all collectors apart.
        key = -1 - int(text_hash(citation)[:12], 16)
        passage = Passage(0, 0, len(text), text, 0, text_hash(text), citation[:SHORT], key)
        info = NodeInfo(**{attribute.name: getattr(node, attribute.name) for attribute in fields(NodeInfo)})
        return cls(key, score, why, kind, record=Record(info, passage))


@dataclass
class Inquiry:
    """A request on its way through the collectors."""

    view: View
    request: Request
    question: Question
    now: datetime
    embedder: EmbeddingProvider | None = None
    search_depth: int = 20
    """Hits that are read from each index and shared by the collectors; see `settle_depth`."""
    visual: VisualEmbedder | None = None
    warnings: list[str] = field(default_factory=list)
    """Warnings of collectors, for the result."""
    pages: dict[str, Record] = field(default_factory=dict)
    """Whole pages of documents that were read so far, by node."""
    _running: Future[list[Hit]] | None = None
    _narrowed: dict[tuple[frozenset[str], int], Inquiry] = field(default_factory=dict)
    _named: dict[str, Named | None] = field(default_factory=dict)
    _records: dict[int, Record] = field(default_factory=dict)

    @once
    def vector(self) -> Vector | None:
        """The embedding of the query, or of its topics together; None without a provider or any known word."""
        if self.request.vector is not None:
            return self._checked_vector(self.request.vector)
        if self.embedder is None:
            return None
        texts = [(self.meaning(topic.text), topic.weight) for topic in self.request.topics]
        if not texts and self.question.search.strip():
            texts = [(self.question.search, 1.0)]
            if self.said_before:
                texts.append((self.said_before, SAID_BEFORE))
        if not texts:
            return None
        vectors = [(query_vector(self.embedder, text), weight) for text, weight in texts]
        vector = vectors[0][0] if len(vectors) == 1 else blend(vectors)
        return vector if vector.any() else None

    def named(self, text: str) -> Named | None:
        """Return the nodes that a topic names exactly; cached."""
        if text not in self._named:
            self._named[text] = named(self.view, text, self.now)
        return self._named[text]

    def meaning(self, text: str) -> str:
        """Return the text to embed for a topic: the node's words if the topic is an id."""
        node = self.named(text)
        return text if node is None else node.meaning

    def _checked_vector(self, values: Sequence[float]) -> Vector | None:
        if self.embedder is None:
            raise InvalidInput("a search by vector needs an embedding provider: open the store with one")
        if len(values) != self.embedder.dimensions:
            raise DimensionError(
                f"the vector has {len(values)} dimensions, {self.embedder.model!r} has "
                f"{self.embedder.dimensions}: embed the query with this model"
            )
        vector = np.array(values, dtype=np.float32)
        return vector if vector.any() else None

    @once
    def given_keys(self) -> frozenset[int]:
        """Keys of the passages that the reader has from earlier turns."""
        given = sorted(self.request.given)
        return frozenset(record.passage.key for record in self.view.cited(given)) if given else frozenset()

    @once
    def said_before(self) -> str:
        """Words of earlier turns, where the question refers to them; else empty."""
        if not self.question.search.strip():
            return ""
        return spoken_of(self.question.text, self.request.history or self._thread_turns())

    def _thread_turns(self) -> list[Message]:
        """The latest messages of the request's thread, without the question itself."""
        if self.request.thread is None or not is_follow_up(self.question.text):
            return []
        latest = self.view.children(self.request.thread, LOOKED_BACK, last=True)
        nodes = self.view.nodes([node.id for node in latest if node.id not in self.request.filters.exclude])
        return [Message(node.title, node.text) for node in nodes if node.text.strip() != self.question.text.strip()]

    @property
    def weighted_words(self) -> dict[str, float]:
        """Words that are searched for beside those of the question: borrowed ones, aliases, and corrections."""
        near = {other: CORRECTED for others in self.corrections.values() for other in others}
        borrows = borrowed(self.said_before, self.question.text) if self.said_before else {}
        return {**borrows, **self._long_forms, **near}

    @once
    def _long_forms(self) -> dict[str, float]:
        return long_forms(self.view, self.question.search)

    @once
    def unknown_words(self) -> list[str]:
        """The words of the query that occur nowhere in what the user may see."""
        return self.view.unknown_words(self.question.words)

    @once
    def corrections(self) -> dict[str, tuple[str, ...]]:
        """The known words that may be meant by those of the query that occur nowhere."""
        # A word for a type of node, such as "tasks", is no misspelt "asks".
        words = [word for word in self.unknown_words if word not in INTENTS]
        unknown = [part for word in words for part in whole_words(word)]
        near = self.view.corrections(unknown[:MOST_CORRECTED]) if unknown else {}
        return {word: others for word, others in near.items() if others}

    def search_words(self, query: str, filters: Filters, limit: int) -> list[Hit]:
        """Search by the words of the query; what a misspelt one may stand for counts less."""
        return self.view.search_words(query, limit=limit, filters=filters, also=self.weighted_words)

    @once
    def word_hits(self) -> list[Hit]:
        """Hits by words: passages with all quoted phrases first, then others if there is more to the query."""
        query, filters = self.question.search, self.request.filters
        if not query.strip():
            return []
        hits = self.search_words(query, filters, self.search_depth)
        texts = [record.passage.text for record in self.load([hit.key for hit in hits[:DEFINING]])]
        if short := short_forms(texts, query):
            also = {**self.weighted_words, **short}
            hits = self.view.search_words(query, limit=self.search_depth, filters=filters, also=also)
        if len(hits) >= self.search_depth or not _QUOTED.search(query) or not _QUOTED.sub("", query).strip():
            return hits
        keys = {hit.key for hit in hits}
        more = self.search_words(_QUOTES.sub(" ", query), filters, self.search_depth)
        return [*hits, *(hit for hit in more if hit.key not in keys)][: self.search_depth]

    @once
    def cosines(self) -> dict[int, float]:
        """Cosine with the query for each word or vector hit; empty without an embedding."""
        if self.vector is None or self.embedder is None:
            return {}
        cosines = {hit.key: hit.score for hit in self.vector_hits}
        others = [hit.key for hit in self.word_hits if hit.key not in cosines]
        return cosines | self.view.similarities(self.vector, others, model=self.embedder.model)

    @property
    def known_cosines(self) -> dict[int, float]:
        """Cosines that have been computed so far; runs no search."""
        if "cosines" in vars(self):
            return self.cosines
        return {hit.key: hit.score for hit in self.vector_hits} if self.searched else {}

    @once
    def evidence(self) -> dict[int, float]:
        """The fused score of words and vectors for each hit."""
        words = {hit.key: hit.score for hit in self.word_hits}
        return {key: self.weighing(words.get(key), self.cosines.get(key, 0.0)) for key in {**words, **self.cosines}}

    @once
    def trust(self) -> Trust:
        """Weight of vectors beside words."""
        return trust_of(self.embedder)

    @once
    def weighing(self) -> Weighing:
        """The weights of words and vectors for this query."""
        return Weighing.of(self.word_hits, self.search_depth, self.trust)

    def load(self, keys: Sequence[int]) -> list[Record]:
        """The visible passages among these keys, in the order asked for, each read once for all who need it."""
        for record in self.view.load([key for key in keys if key not in self._records]):
            self._records[record.passage.key] = record
        return [self._records[key] for key in keys if key in self._records]

    def without_types(self, types: frozenset[str], depth: int) -> Inquiry:
        """Return the same inquiry without nodes of these types, with another search depth; cached."""
        if (types, depth) not in self._narrowed:
            filters = replace(self.request.filters, exclude_types=self.request.filters.exclude_types | types)
            request = replace(self.request, filters=filters)
            self._narrowed[types, depth] = replace(self, request=request, search_depth=depth, _running=None)
        return self._narrowed[types, depth]

    @once
    def edits(self) -> list[Event]:
        """The user's own latest edits."""
        return self.view.events("edit", limit=RECENT_EVENTS)

    @once
    def views(self) -> list[Event]:
        """The user's own latest views."""
        return self.view.events("view", limit=RECENT_EVENTS)

    def start(self, pool: Executor) -> None:
        """Start the vector search in `pool`, while the collectors read the database.

        It releases the GIL most of the time. Named topics need no search, and several are searched for one by one.
        """
        texts = [topic.text for topic in self.request.topics]
        one = texts == [self.request.query] and self.named(self.request.query) is None
        if self.vector is not None and (one or not texts):
            self._running = pool.submit(self._vector_search())

    def settle_depth(self) -> None:
        """Set the search depth so that about twice what the budget holds is offered.

        Call it before any other search. It goes by the mean length of the passages that the viewer may see, and
        searches again where the hits turn out to be much shorter.
        """
        total, (passages, words) = self.request.budget.total, self.view.size()
        self.search_depth = depth_for(total, round(words / passages * TOKENS_A_WORD) if words else USUAL_TOKENS)
        hits = self.word_hits
        if len(hits) < self.search_depth:
            return
        records = self.load([hit.key for hit in hits])
        needed = depth_for(total, sum(record.passage.tokens for record in records) // len(records))
        if needed >= DEEPER * self.search_depth:
            self.search_depth = needed
            vars(self).pop("word_hits")

    @property
    def searched(self) -> bool:
        """True if a vector search is running or done."""
        return self._running is not None or "vector_hits" in vars(self)

    @once
    def vector_hits(self) -> list[Hit]:
        """Passages found by vector."""
        if self.vector is None:
            return []
        return self._running.result() if self._running is not None else self._vector_search()()

    def _vector_search(self) -> Callable[[], list[Hit]]:
        assert self.vector is not None and self.embedder is not None
        return self.view.prepare_vector_search(
            self.vector, model=self.embedder.model, limit=self.search_depth, filters=self.request.filters
        )


def depth_for(tokens: int, passage_tokens: int) -> int:
    """Return the limit at which two searches together offer twice the passages that a budget holds."""
    return min(MOST_HITS, max(FEWEST_HITS, int(OFFERED / OVERLAP * tokens / (passage_tokens + HEADING_TOKENS))))


class Collector(Protocol):
    """Finds passages for one section of the context."""

    @property
    def name(self) -> str:
        """Its name in the trace."""

    @property
    def section(self) -> str:
        """The section that its findings go to."""

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Findings, the best first."""
