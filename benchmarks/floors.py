"""What a context costs nothing to beat: pieces of the raw texts, ranked plainly, until the next does not fit.

  bm25     by BM25 over heading and text (tantivy, English stemming)
  vector   by cosine of the static embedder's vectors of the same
  fused    by reciprocal ranks in these two orders

A piece of a Markdown file is a section from a heading to the next one; a long section is cut between lines into pieces
of about 300 tokens. In the text, each piece has a line `title > heading` above it and an empty one below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tantivy

from weftwork.embed.protocol import EmbeddingProvider
from weftwork.text.tokens import TokenCounter

LONG = 1_200
"""Characters of a piece, about 300 tokens."""
RRF = 60
"""Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet (2009)."""
DEPTH = 400
"""Pieces that are ranked: more than fit into any budget that is measured."""
FLOORS = ("bm25", "vector", "fused")

_HEADING = re.compile(r"\s*(?:- )?(#{1,6})\s+(.*)")
_FENCE = re.compile(r"\s*(?:- )?(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, and what is said above it."""

    heading: str
    text: str

    @property
    def shown(self) -> str:
        """The piece as it stands in a context."""
        return f"{self.heading}\n{self.text}\n\n" if self.heading else f"{self.text}\n\n"


def sections(title: str, text: str) -> Iterator[Piece]:
    """The pieces of a Markdown text."""
    lines: list[str] = []
    heading, fenced = "", False
    for line in text.splitlines():
        fenced ^= bool(_FENCE.match(line))
        found = None if fenced else _HEADING.match(line)
        if found:
            yield from cut(_under(title, heading), "\n".join(lines))
            heading, lines = found[2].strip(), []
        else:
            lines.append(line)
    yield from cut(_under(title, heading), "\n".join(lines))


def _under(title: str, heading: str) -> str:
    return f"{title} > {heading}" if heading else title


def cut(heading: str, text: str) -> Iterator[Piece]:
    """A text as pieces that are not much longer than the limit, cut between lines."""
    lines: list[str] = []
    for line in (part for each in text.splitlines() for part in _short(each)):
        if lines and sum(map(len, lines)) + len(line) > LONG:
            yield Piece(heading, "\n".join(lines).strip("\n"))
            lines = []
        lines.append(line)
    if any(line.strip() for line in lines):
        yield Piece(heading, "\n".join(lines).strip("\n"))


def _short(line: str) -> Iterator[str]:
    """A line, cut between words where it is longer than a piece may be."""
    while len(line) > LONG:
        place = line.rfind(" ", 0, LONG)
        place = place if place > 0 else LONG
        yield line[:place]
        line = line[place:].lstrip()
    yield line


class Floors:
    """The plain rankings of the pieces of one workspace."""

    def __init__(self, pieces: Sequence[Piece], embedder: EmbeddingProvider, counter: TokenCounter) -> None:
        self.pieces = tuple(pieces)
        self._embedder = embedder
        self._counter = counter
        self._costs: dict[int, int] = {}
        self._index = _word_index(self.pieces)
        texts = [f"{piece.heading}\n{piece.text}" for piece in self.pieces]
        self._vectors = np.array(embedder.embed_batch(texts))

    def orders(self, question: str) -> Mapping[str, Sequence[int]]:
        """The pieces in the order of each floor, by number."""
        by_words, by_vector = self._by_words(question), self._by_vector(question)
        return {"bm25": by_words, "vector": by_vector, "fused": fused(by_words, by_vector)}

    def filled(self, order: Sequence[int], budget: int) -> str:
        """The text of the first pieces, until the next one does not fit."""
        taken = []
        for number in order:
            if number not in self._costs:
                self._costs[number] = self._counter.count(self.pieces[number].shown)
            budget -= self._costs[number]
            if budget < 0:
                break
            taken.append(self.pieces[number].shown)
        return "".join(taken)

    def _by_words(self, question: str) -> Sequence[int]:
        plain = re.sub(r"\W+", " ", question).strip()
        if not plain:
            return []
        searcher = self._index.searcher()
        hits = searcher.search(self._index.parse_query(plain.lower(), ["text"]), DEPTH).hits
        ranked = sorted((-score, int(searcher.doc(address)["number"][0])) for score, address in hits)
        return [number for _, number in ranked]

    def _by_vector(self, question: str) -> Sequence[int]:
        similar = self._vectors @ self._embedder.embed(question)
        return [int(number) for number in np.argsort(-similar, kind="stable")[:DEPTH]]


def fused(*orders: Sequence[int]) -> list[int]:
    """One order of several, by the sum of the reciprocal ranks."""
    scores: dict[int, float] = {}
    for order in orders:
        for rank, number in enumerate(order):
            scores[number] = scores.get(number, 0.0) + 1 / (RRF + rank + 1)
    return sorted(scores, key=lambda number: (-scores[number], number))


def _word_index(pieces: Sequence[Piece]) -> tantivy.Index:
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("number", stored=True, tokenizer_name="raw")
    schema.add_text_field("text", tokenizer_name="en_stem")
    index = tantivy.Index(schema.build())
    writer = index.writer(num_threads=1)
    for number, piece in enumerate(pieces):
        writer.add_document(tantivy.Document(number=str(number), text=f"{piece.heading}\n{piece.text}"))
    writer.commit()
    index.reload()
    return index
