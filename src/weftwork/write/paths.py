"""Paths given to `add`: read by the connectors, which stand above the engine."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

Read = Callable[[Any, Path, str], tuple[int, int, int, tuple[str, ...]]]


def read_path(weft: Any, path: str | Path, workspace: str) -> tuple[int, int, int, tuple[str, ...]]:
    """The nodes, links and vectors that were written of a path, and what was skipped.

    The connectors are loaded when a path is given: an application that adds nodes alone never does.
    """
    read = cast(Read, import_module("weftwork.ingest.imports").read_path)
    return read(weft, Path(path), workspace)
