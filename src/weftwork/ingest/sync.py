"""Importing a folder with the connector that recognises it."""

from __future__ import annotations

from pathlib import Path

from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import NotFound
from weftwork.ingest.imports import add_path
from weftwork.ingest.report import Followed, Options


def sync(
    weft: Weft,
    root: Path,
    *,
    workspace: str = DEFAULT_WORKSPACE,
    user: str = DEFAULT_USER,
    mentions: bool = True,
) -> Followed:
    """Make the workspace agree with a folder.

    Content decides, by its hash: a touched file is left alone. A moved one, with the same content elsewhere, keeps
    its id, links, access list and feedback. Unreadable files are kept; files that are no longer text are removed.
    """
    if not root.is_dir():
        raise NotFound(f"{root} is no folder: give one to follow, or add single files with  weftwork add")
    return add_path(weft, root, options=Options(workspace=workspace, user=user, mentions=mentions))
