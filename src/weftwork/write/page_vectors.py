"""The vectors of document pages, computed by a visual embedder after the pages were written."""

from __future__ import annotations

from pathlib import Path

from weftwork.embed.visual import PageLook, VisualEmbedder
from weftwork.errors import NotFound
from weftwork.store.protocol import Store
from weftwork.types import Node

PAGES_AT_ONCE = 16
"""Pages that are embedded and committed together: an interruption loses no more."""


class PageVectors:
    """Keeps page vectors in sync with the pages; called before they are searched."""

    def __init__(self, visual: VisualEmbedder | None, store: Store) -> None:
        self._visual = visual
        self._store = store
        self._versions: dict[str, int] = {}
        """The version of each workspace at which no vector was missing."""

    def catch_up(self, workspace: str) -> None:
        """Embed the pages that have no vectors, unless nothing was written since the last time."""
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
