"""Reranking the best candidates by a model that reads the question and each passage together.

    recipe = replace(get_recipe("default"), reranker=CrossEncoderReranker("cross-encoder/ms-marco-MiniLM-L6-v2"))
    weft.context("Who signed the contract?", recipe=recipe)

Only candidates that a search or links found are reordered, among themselves: what was asked for by name, the focus and
the history keep their places. If the model fails, the order stays and a warning says why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from weftwork.collect.inquiry import Inquiry
from weftwork.embed.lazy import Lazy
from weftwork.errors import InvalidInput, MissingExtra, ModelError
from weftwork.types import SEARCHED, Candidate, Kind

if TYPE_CHECKING:
    import httpx
    from sentence_transformers import CrossEncoder

PLACED: tuple[Kind, ...] = ("reference", "focus", "due", "history")
"""Kinds of findings whose order a reranker does not change."""
ASKED = 20
"""Candidates that a reranker is asked about: its time grows with each of them."""


class Reranker(Protocol):
    """Scores texts by how well they answer a question."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """Return a number for each text, higher is better, on any scale; raise ModelError on failure.

        Texts that there was no time for have None: they come after the others, in the order that they had.
        """


def reranked(candidates: list[Candidate], inquiry: Inquiry, reranker: Reranker | None) -> list[Candidate]:
    """Return the candidates with the best hits in the reranker's order.

    They share out the scores that they had, the highest to the first; the reranker's number becomes a signal.
    """
    if reranker is None:
        return candidates
    places = [
        place
        for place, candidate in enumerate(candidates)
        if candidate.found_as(*SEARCHED, "link_rank") is not None and candidate.found_as(*PLACED) is None
    ][:ASKED]
    if len(places) < 2 or not inquiry.request.query.strip():
        return candidates
    asked = [candidates[place] for place in places]
    try:
        texts = [f"{candidate.node.title}\n{candidate.passage.text}".strip() for candidate in asked]
        answer = reranker.rerank(inquiry.request.query, texts)
        grades = [float(grade) for grade in answer if grade is not None]
        if len(answer) != len(asked) or not all(map(math.isfinite, grades)):
            raise ModelError(f"it gave {len(grades)} usable numbers for {len(asked)} texts")
    except ModelError as error:
        inquiry.warnings.append(f"the reranker failed ({error}): the order is the one without it")
        return candidates
    read = {index: float(grade) for index, grade in enumerate(answer) if grade is not None}
    if len(read) < len(asked):
        inquiry.warnings.append(f"the reranker had time for {len(read)} of {len(asked)} passages")
    best = sorted(read, key=lambda index: (-read[index], index))
    places = [places[index] for index in sorted(read)]
    result = list(candidates)
    for place, index in zip(places, best, strict=True):
        signals = {**asked[index].signals, "rerank": round(read[index], 9), "rank": asked[index].score}
        result[place] = replace(asked[index], score=candidates[place].score, signals=signals)
    return result


class CrossEncoderReranker:
    """A cross-encoder of the sentence-transformers library, by name or folder."""

    def __init__(self, name_or_folder: str) -> None:
        self._model: Lazy[CrossEncoder] = Lazy(lambda: _cross_encoder(name_or_folder))

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one number per text."""
        pairs = [(query, text) for text in texts]
        scores = self._model.get().predict(pairs, show_progress_bar=False, convert_to_numpy=True)
        if scores.ndim != 1:
            raise ModelError(
                f"the cross-encoder gives {scores.shape[-1]} numbers for a text: use one with a single label"
            )
        return [float(score) for score in scores]


def _cross_encoder(name: str) -> CrossEncoder:
    try:
        from sentence_transformers import CrossEncoder  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "sentence-transformers") from error
    try:
        return CrossEncoder(name)
    except (OSError, ValueError) as error:
        raise ModelError(f"the cross-encoder {name!r} cannot be loaded: {error}") from error


class HttpReranker:
    """A server with a `/rerank` endpoint, in the style of Cohere and Jina, or text-embeddings-inference."""

    def __init__(
        self,
        url: str,
        *,
        model: str = "",
        api_key: str | None = None,
        style: Literal["cohere", "tei"] = "cohere",
        timeout: float = 30.0,
    ) -> None:
        if style not in ("cohere", "tei"):
            raise InvalidInput(f"the style of a reranker must be 'cohere' or 'tei', got {style!r}")
        self._url, self._model, self._style = url, model, style
        self._client: Lazy[httpx.Client] = Lazy(lambda: _client(api_key, timeout))

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one number per text."""
        client = self._client.get()
        import httpx  # noqa: PLC0415

        try:
            response = client.post(self._url, json=self._asked(query, texts))
            response.raise_for_status()
            return self._read(response.json(), len(texts))
        except httpx.HTTPError as error:
            raise ModelError(f"{self._url} could not be asked: {error}") from error
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(f"{self._url} answered something else than scores: check the style") from error

    def _asked(self, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
        if self._style == "tei":
            return {"query": query, "texts": list(texts), "truncate": True}
        return {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}

    def _read(self, answer: Any, count: int) -> list[float]:
        rows, name = (answer, "score") if self._style == "tei" else (answer["results"], "relevance_score")
        scores = {int(row["index"]): float(row[name]) for row in rows}
        return [scores[index] for index in range(count)]

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if (client := self._client.take()) is not None:
            client.close()


def _client(api_key: str | None, timeout: float) -> httpx.Client:
    try:
        import httpx  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("httpx", "openai") from error
    return httpx.Client(headers={"Authorization": f"Bearer {api_key}"} if api_key else {}, timeout=timeout)
