"""Following a folder by whatever connector recognises it."""

from __future__ import annotations

from pathlib import Path

from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import NotFound
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.follow import follow
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

    Content decides, by its hash: a file that was only touched is left alone. One that stands elsewhere with the same
    content was moved: it keeps its id, its links, its access list and what readers said of it. What cannot be
    opened now is not taken for gone; what is no text any more is.
    """
    if not root.is_dir():
        raise NotFound(f"{root} is no folder: give one to follow, or add single files with  weftwork add")
    return follow(weft, root, recognise(root), Options(workspace=workspace, user=user, mentions=mentions))
