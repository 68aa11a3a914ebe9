"""Result types: `Ok` with a value, or `Err` with an error of the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from weftwork.errors import (
    AccessDenied,
    DimensionError,
    EmbeddingError,
    InvalidInput,
    MissingExtra,
    NotFound,
    RemoteError,
    StoreError,
    UnknownName,
)

T = TypeVar("T")

ErrorKind = Literal["embedding_error", "search_error", "storage_error", "validation_error", "template_not_found"]


@dataclass(frozen=True, slots=True)
class ContextError:
    """An error, in words that give away nothing of how the store or the provider works."""

    type: ErrorKind
    message: str
    cause: str | None = None
    """The class of the exception; all of it is in the log."""
    template: str | None = None
    """The template that was not found."""
    available: tuple[str, ...] = ()
    """The templates that there are."""


@dataclass(frozen=True, slots=True)
class Ok(Generic[T]):
    """A value."""

    value: T
    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class Err:
    """An error."""

    error: ContextError
    ok: Literal[False] = False


Result = Ok[T] | Err


class MissingVectors(EmbeddingError):
    """Texts have no vector of the engine's model: they cannot be found by meaning."""


_KINDS: tuple[tuple[type[Exception], ErrorKind, str | None], ...] = (
    (InvalidInput, "validation_error", None),
    (NotFound, "storage_error", None),
    (AccessDenied, "storage_error", None),
    (RemoteError, "storage_error", None),
    (MissingVectors, "embedding_error", None),
    (EmbeddingError, "embedding_error", "the query could not be embedded: see the log"),
    (MissingExtra, "embedding_error", "the query could not be embedded: see the log"),
    (StoreError, "storage_error", "the store could not be read: check it with  weftwork doctor"),
    (Exception, "search_error", "the search failed: see the log"),
)
"""The kind and message of each class of error; None for its own message, which repeats only what the caller said."""


def explained(error: Exception, *, by_vector: bool = False) -> ContextError:
    """An error as the caller may read it; a wrong length is theirs only if the vector was."""
    cause = type(error).__name__
    if isinstance(error, UnknownName) and error.kind == "template":
        return ContextError("template_not_found", str(error), template=error.name, available=error.available)
    if isinstance(error, DimensionError) and not by_vector:
        return ContextError("embedding_error", "the query's vector has not the model's length: see the log", cause)
    kind, message = next((kind, message) for cls, kind, message in _KINDS if isinstance(error, cls))
    return ContextError(kind, message or str(error), cause)
