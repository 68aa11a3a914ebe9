"""Pages as many vectors: what Weftwork asks of an embedder of pages, and the one that needs no download."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from weftwork.embed.protocol import EmbeddingProvider, Matrix, Vector
from weftwork.errors import UnknownName
from weftwork.query import STOP_WORDS, words_of

SPECS = ("lines", "none", "colpali:NAME_OR_FOLDER")
MOST_LINES = 400
"""Lines of one page that are embedded: more are no page that anybody looks at."""
MOST_WORDS = 32
"""Words of a query that are looked for one by one."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_MARKS = " \t#>*+|-"


@dataclass(frozen=True, slots=True)
class PageLook:
    """A page as it can be looked at: the text that its text layer or OCR gave, and its picture if there is one."""

    text: str
    image: Path | None = None


class VisualEmbedder(Protocol):
    """Turns a page, and a query, into several vectors of length one each, to be compared by MaxSim."""

    @property
    def dimensions(self) -> int:
        """The length of every vector."""

    @property
    def model(self) -> str:
        """A stable name for the weights and settings: vectors of equal names may be compared."""

    def embed_pages(self, pages: Sequence[PageLook]) -> list[Matrix]:
        """For each page a matrix with a row for each part of it; without rows where there is nothing to see."""

    def embed_query(self, text: str) -> Matrix:
        """A row for each part of a query; none if it says nothing."""


class LineEmbedder:
    """One vector for each line of text on the page, so that a chart is found by its labels.

    Paragraphs that were put together again count by the sentence. A query is looked for as a whole and word by word:
    a title answers the one, the labels of a chart the other.
    """

    def __init__(self, embedder: EmbeddingProvider) -> None:
        self._embedder = embedder

    @property
    def dimensions(self) -> int:
        """Those of the text embedder."""
        return self._embedder.dimensions

    @property
    def model(self) -> str:
        """The text embedder's name, and how it is used."""
        return f"lines-1:{self._embedder.model}"

    def embed_pages(self, pages: Sequence[PageLook]) -> list[Matrix]:
        """All lines of all pages, embedded together."""
        lines = [lines_of(page.text) for page in pages]
        known = list(dict.fromkeys(line for found in lines for line in found))
        rows = dict(zip(known, self._embedder.embed_batch(known), strict=True))
        return [self._matrix([rows[line] for line in found]) for found in lines]

    def embed_query(self, text: str) -> Matrix:
        """The query as a whole and each of its words that means something."""
        words = [word for word in dict.fromkeys(words_of(text)) if word not in STOP_WORDS][:MOST_WORDS]
        parts = list(dict.fromkeys([text.strip(), *words])) if text.strip() else []
        return self._matrix(list(self._embedder.embed_batch(parts)))

    def _matrix(self, rows: Sequence[Vector]) -> Matrix:
        written = [row for row in rows if row.any()]
        return np.stack(written) if written else np.zeros((0, self.dimensions), dtype=np.float32)


def lines_of(text: str) -> list[str]:
    """The lines of a page's Markdown without its marks, each once; sentences where a line is a paragraph."""
    found: dict[str, None] = {}
    for line in text.splitlines():
        plain = " ".join(line.lstrip(_MARKS).replace("|", " ").replace("**", "").split())
        for part in _SENTENCE.split(plain):
            if any(letter.isalnum() for letter in part):
                found[part.strip()] = None
    return list(found)[:MOST_LINES]


def get_visual_embedder(spec: str | None, embedder: EmbeddingProvider | None) -> VisualEmbedder | None:
    """The embedder of pages that a setting names, or None where pages are not looked at."""
    match (spec or "none").partition(":"):
        case ("none", _, ""):
            return None
        case ("lines", _, ""):
            return None if embedder is None else LineEmbedder(embedder)
        case ("colpali", _, name) if name:
            from weftwork.embed.colpali import ColPaliEmbedder  # noqa: PLC0415  (an optional extra)

            return ColPaliEmbedder(name)
    raise UnknownName("visual embedder", str(spec), SPECS)
