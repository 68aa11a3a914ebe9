"""The change to another embedding model: the old vectors are searched until there are as many new ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from weftwork.embed.cache import EmbeddingCache
from weftwork.embed.cached import CachedEmbedder
from weftwork.embed.protocol import AnyProvider, EmbeddingProvider
from weftwork.store.protocol import Store

Provider = Callable[[str], AnyProvider | None]
"""Returns the local provider behind the name of a model; None where none can be had."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A change to another model that is not finished in a workspace."""

    model: str
    """The model that was chosen."""
    done: int
    """Texts with a vector of it."""
    searched: str
    """The model whose vectors are searched meanwhile."""
    of: int
    """Texts with a vector of that."""

    def __str__(self) -> str:
        return (
            f"{self.done:,} of {self.of:,} texts have a vector of {self.model}; searches use those of "
            f"{self.searched} until all do: run  weftwork worker --once"
        )


class Changeover:
    """Tells which model's vectors are searched in each workspace. Thread-safe."""

    def __init__(self, store: Store, provider_of: Provider) -> None:
        self._store = store
        self._provider_of = provider_of
        self._finished: set[tuple[str, str]] = set()
        self._unfinished: dict[tuple[str, str], tuple[int, Progress | None]] = {}
        self._providers: dict[str, EmbeddingProvider | None] = {}
        self._lock = Lock()

    def searched(self, workspace: str, chosen: EmbeddingProvider | None) -> EmbeddingProvider | None:
        """The provider for searches: the chosen one, or the one before it while that has more vectors."""
        progress = self.progress(workspace, chosen)
        return chosen if progress is None else self._provider(progress.searched)

    def progress(self, workspace: str, chosen: EmbeddingProvider | None) -> Progress | None:
        """The state of the change to the chosen model; None where it is finished or nothing else can be searched."""
        if chosen is None or (workspace, chosen.model) in self._finished:
            return None
        key, version = (workspace, chosen.model), self._store.version(workspace)
        with self._lock:
            read = self._unfinished.get(key)
        if read is not None and read[0] == version:
            return read[1]
        progress = self._read(workspace, chosen.model)
        with self._lock:
            self._unfinished[key] = (version, progress)
            if progress is None:  # from now on every write has a vector of it
                self._finished.add(key)
        return progress

    def _read(self, workspace: str, model: str) -> Progress | None:
        counts = self._store.vector_counts(workspace)
        done = counts.pop(model, 0)
        for other, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
            if count > done and self._provider(other) is not None:
                return Progress(model, done, other, count)
        return None

    def _provider(self, model: str) -> EmbeddingProvider | None:
        with self._lock:
            if model not in self._providers:
                provider = self._provider_of(model)
                self._providers[model] = None if provider is None else CachedEmbedder(provider, EmbeddingCache())
            return self._providers[model]
