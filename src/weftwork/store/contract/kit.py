"""Fixtures and helpers of the contract's tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from weftwork.embed.hashing import HashingEmbedder
from weftwork.store.protocol import Store
from weftwork.text.tokens import CharacterCounter
from weftwork.types import Edge, Node
from weftwork.write.embed import embedded_texts
from weftwork.write.prepare import prepare

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
DAY = timedelta(days=1)
WORKSPACE = "contract"
EMBEDDER = HashingEmbedder(64)


def opened(store: Store, *users: str, **groups: tuple[str, ...]) -> Store:
    """The store with a workspace, its owner "ana", and more users."""
    store.create_workspace(WORKSPACE, owner="ana")
    with store.atomic(WORKSPACE) as batch:
        for user in users:
            batch.add_user(user)
        for user, teams in groups.items():
            batch.add_user(user, teams)
    return store


def put(store: Store, *nodes: Node, edges: tuple[Edge, ...] = (), workspace: str = WORKSPACE) -> int:
    """Write nodes with their vectors, then edges."""
    entries = [prepare(node, CharacterCounter()) for node in nodes]
    texts = embedded_texts(entries)
    with store.atomic(workspace) as batch:
        changed = batch.put(entries)
        batch.put_vectors(EMBEDDER.model, {digest: EMBEDDER.embed(text) for digest, text in texts.items()})
        batch.link(edges)
    return changed


def node(name: str, text: str = "", **more: Any) -> Node:
    """A node whose id is its title unless told otherwise."""
    return Node(**{"id": name, "title": name, "text": text, "type": "page", **more})


def found(store: Store, query: str, *, user: str = "ana", by: str = "words", **more: Any) -> list[str]:
    """Ids of the nodes that a search finds, best first."""
    with store.view(WORKSPACE, user) as view:
        if by == "words":
            hits = view.search_words(query, limit=10, **more)
        elif by == "fuzzy":
            hits = view.search_fuzzy(query, limit=10, **more)
        else:
            hits = view.search_vector(EMBEDDER.embed(query), model=EMBEDDER.model, limit=10, **more)
        records = view.load([hit.key for hit in hits])
        return list(dict.fromkeys(record.node.id for record in records))


def names(nodes: list[Any]) -> list[str]:
    """Ids of nodes."""
    return [info.id for info in nodes]
