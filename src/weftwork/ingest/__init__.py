"""Reading what people have into nodes and edges. A reader never sees the store."""

from __future__ import annotations

from weftwork.ingest.load import Report, load
from weftwork.ingest.sources import open_source

__all__ = ["Report", "load", "open_source"]
