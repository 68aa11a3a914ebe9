"""The sample workspace: an observatory builds telescopes that libraries lend like books."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path

from weftwork.engine import Weft
from weftwork.ingest.events import Person, Piece
from weftwork.ingest.jsonlines import read_json_lines
from weftwork.ingest.load import load as load_pieces
from weftwork.store.protocol import Batch

NOW = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)
"""The moment at which the sample is to be read: its dates stand around it, so a demo never ages."""
WORKSPACE = "studio"
OWNER = "ana"

EDITS = (
    ("ana", "finch", 65),
    ("ana", "terms", 64),
    ("ben", "t-van", 70),
)
"""User, node, and hours before NOW."""
VIEWS = (
    ("ana", "r-coating", 66),
    ("ana", "mail-calder", 48),
    ("ana", "mem-pinholes", 3),
    ("ana", "t-mirrors", 2),
    ("ana", "news-soup", 1),
    ("ben", "t-labels", 69),
    ("ben", "news-new", 20),
)
USED = (("ana", "file-inspection"), ("ana", "mem-pinholes"), ("ana", "t-mirrors"), ("ben", "file-manual"))
"""Nodes that answers were built on before."""
FEEDBACK = (
    ("ana", "mem-pinholes", True),
    ("ben", "file-manual", True),
    ("ana", "mem-chamber", False),
)
"""User, node, and whether it was useful."""


def load(weft: Weft) -> None:
    """Create the workspace and fill it; existing content stays as it is."""
    if WORKSPACE not in weft.store.workspaces():
        weft.create_workspace(WORKSPACE, owner=OWNER)
    with resources.as_file(resources.files(__name__) / "workspace.jsonl") as path:
        load_pieces(weft, _pieces(weft, path), workspace=WORKSPACE)
    with weft.store.view(WORKSPACE, OWNER) as view:
        has_history = bool(view.events("edit", limit=1))
    if not has_history:
        # In one transaction, so that it is there once or not at all.
        with weft.atomic(WORKSPACE) as batch:
            record(batch)


def _pieces(weft: Weft, path: Path) -> Iterator[Piece]:
    """The pieces of the sample without users whose groups are set: setting them again would be a write."""
    users = weft.store.users(WORKSPACE)
    for piece in read_json_lines(path):
        if not (isinstance(piece, Person) and users.get(piece.name) == piece.groups):
            yield piece


def record(batch: Batch, nodes: Collection[str] | None = None) -> None:
    """Record the sample's edits, views, uses and feedback, for these nodes or for all."""
    for user, node, hours in EDITS:
        if nodes is None or node in nodes:
            batch.record(user, node, "edit", NOW - timedelta(hours=hours))
    for user, node, hours in VIEWS:
        if nodes is None or node in nodes:
            batch.record(user, node, "view", NOW - timedelta(hours=hours))
    for user, node in USED:
        if nodes is None or node in nodes:
            batch.count_use(user, [node])
    for user, node, useful in FEEDBACK:
        if nodes is None or node in nodes:
            batch.give_feedback(user, node, useful, NOW)
