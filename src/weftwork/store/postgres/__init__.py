"""The store for several servers: PostgreSQL with pgvector and pg_trgm."""

from __future__ import annotations

from weftwork.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
