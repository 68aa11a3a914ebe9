"""Multi-vector embeddings of pages: the protocol, and an embedder of lines that needs no download."""

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
"""Lines of one page that are embedded."""
MOST_WORDS = 32
"""Words of a query that are embedded one by one."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_MARKS = " \t#>*+|-"


@dataclass(frozen=True, slots=True)
class PageLook:
    """A page to embed: its text, from the text layer or OCR, and its image if there is one."""

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
        """Return a matrix per page with a row for each part of it; no rows for an empty page."""

    def embed_query(self, text: str) -> Matrix:
        """Return a row for each part of a query; none for a blank one."""


class LineEmbedder:
    """Embedder of text lines: a vector per line of the page, so that a chart is found by its labels.

    Reflowed paragraphs count by the sentence. A query is embedded as a whole and word by word: a title matches the
    one, the labels of a chart the other.
    """

    def __init__(self, embedder: EmbeddingProvider) -> None:
        self._embedder = embedder

    @property
    def dimensions(self) -> int:
        """The dimensions of the text embedder."""
        return self._embedder.dimensions

    @property
    def model(self) -> str:
        """The text embedder's name with a prefix."""
        return f"lines-1:{self._embedder.model}"

    def embed_pages(self, pages: Sequence[PageLook]) -> list[Matrix]:
        """Embed the lines of all pages in one batch."""
        lines = [lines_of(page.text) for page in pages]
        distinct = list(dict.fromkeys(line for page_lines in lines for line in page_lines))
        rows = dict(zip(distinct, self._embedder.embed_batch(distinct), strict=True))
        return [self._matrix([rows[line] for line in page_lines]) for page_lines in lines]

    def embed_query(self, text: str) -> Matrix:
        """Embed the query as a whole, and each of its words but stop words."""
        words = [word for word in dict.fromkeys(words_of(text)) if word not in STOP_WORDS][:MOST_WORDS]
        parts = list(dict.fromkeys([text.strip(), *words])) if text.strip() else []
        return self._matrix(list(self._embedder.embed_batch(parts)))

    def _matrix(self, rows: Sequence[Vector]) -> Matrix:
        nonzero = [row for row in rows if row.any()]
        return np.stack(nonzero) if nonzero else np.zeros((0, self.dimensions), dtype=np.float32)


def lines_of(text: str) -> list[str]:
    """The lines of a page's Markdown without its marks, each once; sentences where a line is a paragraph."""
    lines: dict[str, None] = {}
    for line in text.splitlines():
        plain = " ".join(line.lstrip(_MARKS).replace("|", " ").replace("**", "").split())
        for part in _SENTENCE.split(plain):
            if any(letter.isalnum() for letter in part):
                lines[part.strip()] = None
    return list(lines)[:MOST_LINES]


def get_visual_embedder(spec: str | None, embedder: EmbeddingProvider | None) -> VisualEmbedder | None:
    """The visual embedder that a setting names; None if it is off."""
    match (spec or "none").partition(":"):
        case ("none", _, ""):
            return None
        case ("lines", _, ""):
            return None if embedder is None else LineEmbedder(embedder)
        case ("colpali", _, name) if name:
            from weftwork.embed.colpali import ColPaliEmbedder  # noqa: PLC0415  (an optional extra)

            return ColPaliEmbedder(name)
    raise UnknownName("visual embedder", str(spec), SPECS)
