"""A cross-encoder in a local folder, an ONNX graph and a tokenizer.json: a reranker without torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weftwork.embed.card import ModelCard, card_of
from weftwork.embed.lazy import Lazy
from weftwork.embed.library import Library
from weftwork.embed.onnx import CHARACTERS_PER_TOKEN, feeds, graph_inputs, open_model
from weftwork.errors import EmbeddingError, InvalidInput, ModelError, UnknownName
from weftwork.score.rerank import Reranker
from weftwork.text.snippet import excerpt

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SECONDS = 0.15
"""The time after which no further text is read."""
WINDOW = 300
"""Characters of a text that are read, around the words of the question: the time grows with them."""


class OnnxReranker:
    """Reads the question with one text at a time, the best first, until its time is over."""

    def __init__(
        self,
        folder: str | Path,
        *,
        card: ModelCard | None = None,
        seconds: float = SECONDS,
        window: int = WINDOW,
        threads: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if seconds <= 0 or window < 1:
            raise InvalidInput(f"a reranker needs time and a window, not {seconds} seconds and {window} characters")
        path = Path(folder)
        self._graph = Lazy(lambda: _Graph(path, card or card_of(path), threads))
        self._seconds, self._window, self._clock = seconds, window, clock

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """Return one number per text; None for those that were not read in time."""
        try:
            graph = self._graph.get()
        except EmbeddingError as error:
            raise ModelError(str(error)) from error
        end = self._clock() + self._seconds
        grades: list[float | None] = []
        for text in texts:
            window = text if len(text) <= self._window else excerpt(text, query, length=self._window, start="", stop="")
            grades.append(graph.grade(query, window) if self._clock() < end else None)
        return grades


class _Graph:
    def __init__(self, folder: Path, card: ModelCard, threads: int) -> None:
        tokenizer, session = open_model(folder, card.max_tokens, threads)
        self._tokenizer: Tokenizer = tokenizer
        self._session = session
        self._inputs = graph_inputs(session)
        self._longest = card.max_tokens * CHARACTERS_PER_TOKEN

    def grade(self, query: str, text: str) -> float:
        encoding = self._tokenizer.encode(query[: self._longest], text[: self._longest])
        output = self._session.run(None, feeds(encoding, self._inputs))[0]
        if output.size != 1:
            raise ModelError(f"the graph gives {output.size} numbers for a text: use a model with a single label")
        return float(output.reshape(-1)[0])


def get_reranker(name: str | None) -> Reranker | None:
    """The reranker that a setting names; None if there is to be none."""
    if not name or name == "none":
        return None
    library = Library.from_environment()
    folder = library.find(name, "reranker")
    if folder is None:
        raise UnknownName("reranker", name, ("none", "a reranker of  weftwork models list", *library.installed()))
    return OnnxReranker(folder)
