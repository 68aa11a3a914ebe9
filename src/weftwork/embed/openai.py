"""Embeddings from OpenAI, or from any server with the same `/embeddings` endpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from weftwork.embed.card import ModelCard
from weftwork.embed.lazy import Lazy
from weftwork.embed.protocol import Matrix
from weftwork.embed.retry import seconds_to_wait
from weftwork.embed.vectors import BatchEmbedding, unit_rows
from weftwork.errors import DimensionError, EmbeddingError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    import httpx

DEFAULT_MODEL = "text-embedding-3-small"
DEFAULT_URL = "https://api.openai.com/v1"
LONGEST_WAIT = 60.0
KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}

_FIXES = {
    400: "a text may be too long for the model, or the model may not accept `dimensions`",
    401: "check the API key (OPENAI_API_KEY)",
    403: "the API key may not use this model",
    404: "check the model's name and the base URL (OPENAI_BASE_URL)",
    413: "lower batch_size",
    429: "wait, raise max_retries or check the quota",
}


class OpenAIEmbedder(BatchEmbedding):
    """Sends batches to a server, with retries when it is busy; blank texts are never sent."""

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        api_key: str | None = None,
        base_url: str = DEFAULT_URL,
        dimensions: int | None = None,
        timeout: float = 30.0,
        max_retries: int = 5,
        batch_size: int = 128,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._host = _host(base_url)
        self._name = model
        self.card = ModelCard(name=model)
        self._asked_dimensions = dimensions
        self._dimensions = dimensions or KNOWN_DIMENSIONS.get(model)
        self._max_retries = _at_least(0, "max_retries", max_retries)
        self._batch_size = _at_least(1, "batch_size", batch_size)
        self._sleep = sleep
        self._client = Lazy(lambda: _client(base_url, api_key, timeout))

    @classmethod
    def from_env(cls, model: str = DEFAULT_MODEL, environ: Mapping[str, str] | None = None) -> Self:
        """An embedder with the key and address of OPENAI_API_KEY and OPENAI_BASE_URL."""
        values = os.environ if environ is None else environ
        base_url = values.get("OPENAI_BASE_URL") or DEFAULT_URL
        return cls(model, api_key=values.get("OPENAI_API_KEY"), base_url=base_url)

    @property
    def model(self) -> str:
        """The model's name, with `@dimensions` if these were chosen and the host if it is not OpenAI's."""
        name = self._name if self._asked_dimensions is None else f"{self._name}@{self._asked_dimensions}"
        return name if self._host == _host(DEFAULT_URL) else f"{self._host}/{name}"

    @property
    def dimensions(self) -> int:
        """The length of every vector; a model that is not known here is asked once."""
        if self._dimensions is None:
            self._encode(["dimensions"])
        assert self._dimensions is not None
        return self._dimensions

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if (client := self._client.take()) is not None:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _encode(self, texts: list[str]) -> Matrix:
        size = self._batch_size
        return np.concatenate([self._request(texts[at : at + size]) for at in range(0, len(texts), size)])

    def _request(self, texts: list[str]) -> Matrix:
        body: dict[str, object] = {"model": self._name, "input": texts, "encoding_format": "float"}
        if self._asked_dimensions is not None:
            body["dimensions"] = self._asked_dimensions
        response = self._post(body)
        try:
            payload = response.json()
        except ValueError:
            raise EmbeddingError(f"{self._host} did not answer in JSON: check the base URL") from None
        return unit_rows(self._checked(_rows(payload, len(texts), self._host)))

    def _checked(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        width = rows.shape[1]
        if self._dimensions is None:
            self._dimensions = width
        if width != self._dimensions:
            raise DimensionError(
                f"{self._host} gave vectors of {width} numbers for {self._name}, not {self._dimensions}: "
                f"pass dimensions={width}, or check the model's name"
            )
        return rows

    def _post(self, body: dict[str, object]) -> httpx.Response:
        client = self._client.get()
        for attempt in range(self._max_retries + 1):
            outcome = _send(client, body)
            if not isinstance(outcome, str) and outcome.is_success:
                return outcome
            wait = seconds_to_wait(attempt, {} if isinstance(outcome, str) else outcome.headers)
            if attempt == self._max_retries or wait > LONGEST_WAIT or not _may_pass(outcome):
                break
            self._sleep(wait)
        raise EmbeddingError(self._failure(outcome, attempt + 1, wait))

    def _failure(self, outcome: httpx.Response | str, attempts: int, wait: float) -> str:
        tries = f" after {attempts} attempts" if attempts > 1 else ""
        if isinstance(outcome, str):
            return f"{self._host} could not be reached ({outcome}){tries}: check the base URL and the network"
        fix = _FIXES.get(outcome.status_code, "try again later")
        if _may_pass(outcome) and wait > LONGEST_WAIT:
            fix = f"it asks to wait {wait:.0f} seconds"
        return f"{self._host} answered HTTP {outcome.status_code} for {self._name}{tries}: {fix}"


def _client(base_url: str, api_key: str | None, timeout: float) -> httpx.Client:
    try:
        import httpx  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("httpx", "openai") from error
    headers = {}
    if api_key is not None:
        key = api_key.strip()
        if not (key.isascii() and key.isprintable()):
            raise EmbeddingError("the API key has characters that a header cannot carry: check OPENAI_API_KEY")
        headers["Authorization"] = f"Bearer {key}"
    return httpx.Client(base_url=base_url, headers=headers, timeout=timeout)


def _send(client: httpx.Client, body: dict[str, object]) -> httpx.Response | str:
    """The response, or the kind of failure that prevented one."""
    import httpx  # noqa: PLC0415

    try:
        return client.post("embeddings", json=body)
    except httpx.RequestError as error:
        return type(error).__name__


def _may_pass(outcome: httpx.Response | str) -> bool:
    return isinstance(outcome, str) or outcome.status_code == 429 or outcome.status_code >= 500


def _rows(payload: object, count: int, host: str) -> npt.NDArray[np.float64]:
    """The vectors of an answer in the order of its `index` fields."""
    rows: dict[int, list[float]] = {}
    items = payload.get("data") if isinstance(payload, dict) else None
    for item in items if isinstance(items, list) else []:
        match item:
            case {"index": int(index), "embedding": list(values)}:
                rows[index] = values
            case _:
                raise EmbeddingError(f"{host} sent an item without `index` or `embedding`: check the base URL")
    if not isinstance(items, list) or len(items) != count or sorted(rows) != list(range(count)):
        received = f"{len(items)} items" if isinstance(items, list) else "no `data` list"
        raise EmbeddingError(f"{host} sent {received} for {count} texts: check the base URL or lower batch_size")
    return _numbers([rows[index] for index in range(count)], host)


def _numbers(rows: list[list[float]], host: str) -> npt.NDArray[np.float64]:
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise EmbeddingError(f"{host} sent vectors of mixed length or of other things than numbers")
    if not (np.abs(matrix) < 1e30).all():
        raise EmbeddingError(f"{host} sent a vector with an infinite or missing number")
    return matrix


def _host(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInput("the base URL must start with http:// or https:// and name a host")
    return parts.hostname


def _at_least(least: int, name: str, value: int) -> int:
    if value < least:
        raise InvalidInput(f"{name} must be at least {least}, not {value}")
    return value
