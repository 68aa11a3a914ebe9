"""Reading what people have into nodes and edges. A reader never sees the store."""

from __future__ import annotations

from weftwork.ingest.load import Report, load

__all__ = ["Report", "load"]
