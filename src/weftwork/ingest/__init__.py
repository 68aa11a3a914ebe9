"""Import: connectors and readers turn files and exports into nodes and edges."""

from __future__ import annotations

from weftwork.ingest.load import Report, load

__all__ = ["Report", "load"]
