"""The embedding queue: texts without a vector. A file lock gives them to one worker at a time."""

from __future__ import annotations

from weftwork.store.sql.codec import text_to_embed
from weftwork.store.sql.session import Session

_WITHOUT_VECTOR = """FROM nodes n CROSS JOIN passages p ON p.node = n.pk WHERE n.workspace = :ws AND NOT EXISTS (
    SELECT 1 FROM vectors v WHERE v.workspace = :ws AND v.digest = p.digest AND v.model = :model)"""


def some(session: Session, model: str, limit: int) -> dict[str, str]:
    """Some texts without a vector, by digest."""
    rows = session.rows(
        f"SELECT p.digest, n.title, n.fields, p.text {_WITHOUT_VECTOR} LIMIT :limit", model=model, limit=limit
    )
    return {digest: text_to_embed(title, fields, text) for digest, title, fields, text in rows}


def count(session: Session, model: str) -> int:
    """The number of texts without a vector."""
    return int(session.rows(f"SELECT COUNT(DISTINCT p.digest) {_WITHOUT_VECTOR}", model=model)[0][0])
