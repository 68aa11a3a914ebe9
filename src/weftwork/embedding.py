"""The vectors that passages and pages still lack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weftwork.embed.protocol import EmbeddingProvider
from weftwork.embed.visual import PageLook, VisualEmbedder
from weftwork.errors import NotFound
from weftwork.store.protocol import Store
from weftwork.text.split import embedded_text
from weftwork.types import Entry, Node, subject_of

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

PAGES_AT_ONCE = 16
"""Document pages that are looked at together, and written in one transaction: an interruption loses no more."""

TEXTS_AT_ONCE = 256
"""Texts that a worker takes on together: an interruption loses no more."""


class PageVectors:
    """Keeps the vectors of document pages in step with the pages: like an index, before it is searched."""

    def __init__(self, visual: VisualEmbedder | None, store: Store) -> None:
        self._visual = visual
        self._store = store
        self._versions: dict[str, int] = {}
        """At which version of a workspace nothing was missing."""

    def catch_up(self, workspace: str) -> None:
        """Embed the document pages that have no vectors yet, unless nothing was written since the last time."""
        while self._visual is not None:
            version = self._store.version(workspace)
            if self._versions.get(workspace) == version:
                return
            if not self._embed(self._visual, workspace, version):
                self._versions[workspace] = version

    def _embed(self, visual: VisualEmbedder, workspace: str, version: int) -> bool:
        pages = self._store.unchecked_pages_without_vectors(workspace, visual.model, PAGES_AT_ONCE)
        if pages:
            looks = [PageLook(page.text, _image(page, self._store, workspace)) for page in pages]
            vectors = dict(zip([page.id for page in pages], visual.embed_pages(looks), strict=True))
            with self._store.atomic(workspace) as batch:
                batch.put_page_vectors(visual.model, vectors, version)
        return bool(pages)


def _image(page: Node, store: Store, workspace: str) -> Path | None:
    try:
        return store.files(workspace).path(page, "image_path")
    except NotFound:
        return None


def embed_waiting(store: Store, embedder: EmbeddingProvider, workspace: str, *, limit: int = TEXTS_AT_ONCE) -> int:
    """Embed some of the texts that were added without a vector and that nobody else works on; how many there were."""
    with store.claim(workspace, embedder.model, limit) as texts:
        if texts:
            vectors = dict(zip(texts, embedder.embed_batch(list(texts.values())), strict=True))
            with store.atomic(workspace) as batch:
                batch.put_vectors(embedder.model, vectors)
        return len(texts)


def missing_vectors(
    entries: Sequence[Entry], embedder: EmbeddingProvider | None, store: Store, workspace: str
) -> dict[str, Vector]:
    """Vectors of the passages that have none yet, by digest: text that is known is not embedded again."""
    if embedder is None:
        return {}
    texts = {
        passage.digest: embedded_text(subject_of(entry.node.title, entry.node.fields), passage)
        for entry in entries
        for passage in entry.passages
    }
    known = store.unchecked_vectors(workspace, embedder.model, list(texts))
    missing = {digest: text for digest, text in texts.items() if digest not in known}
    return dict(zip(missing, embedder.embed_batch(list(missing.values())), strict=True)) if missing else {}
