"""The store for those who outgrow one machine: PostgreSQL with pgvector and pg_trgm, shared by many servers."""

from __future__ import annotations

from weftwork.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
