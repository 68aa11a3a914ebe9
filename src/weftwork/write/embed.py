"""The vectors of passages: the texts to embed, and those without a vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from weftwork.embed.protocol import EmbeddingProvider
from weftwork.store.protocol import Store
from weftwork.text.split import embedded_text
from weftwork.types import Entry

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

NO_VECTORS: Mapping[str, Vector] = MappingProxyType({})
TEXTS_AT_ONCE = 256
"""Texts that a worker claims at once: an interruption loses no more."""


def embedded_texts(entries: Iterable[Entry]) -> dict[str, str]:
    """The text to embed for each passage, by the digest that keys its vector."""
    return {
        passage.digest: embedded_text(entry.node.title, entry.node.fields, passage.text)
        for entry in entries
        for passage in entry.passages
    }


def missing_vectors(
    texts: Mapping[str, str],
    embedder: EmbeddingProvider | None,
    store: Store,
    workspace: str,
    known: Mapping[str, Vector] = NO_VECTORS,
) -> dict[str, Vector]:
    """The vectors of the texts that have none yet, embedded unless they are known; both are keyed by digest."""
    if embedder is None or not texts:
        return {}
    present = store.unchecked_vectors(workspace, embedder.model, list(texts))
    missing = {digest: text for digest, text in texts.items() if digest not in present}
    unknown = [digest for digest in missing if digest not in known]
    vectors = {digest: known[digest] for digest in missing if digest in known}
    if unknown:
        vectors |= zip(unknown, embedder.embed_batch([missing[digest] for digest in unknown]), strict=True)
    return vectors


def embed_waiting(store: Store, embedder: EmbeddingProvider, workspace: str, *, limit: int = TEXTS_AT_ONCE) -> int:
    """Claim texts without a vector that no other worker has claimed, embed them, and return their number."""
    with store.claim(workspace, embedder.model, limit) as texts:
        if texts:
            vectors = dict(zip(texts, embedder.embed_batch(list(texts.values())), strict=True))
            with store.atomic(workspace) as batch:
                batch.put_vectors(embedder.model, vectors)
        return len(texts)
