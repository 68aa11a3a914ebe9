"""Sources that were renamed and edited between two imports, where that is certain."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping

from weftwork.errors import WeftError
from weftwork.ingest.connectors.protocol import Source
from weftwork.ingest.diff import Diff
from weftwork.ingest.events import Refused
from weftwork.ingest.import_log import SourceState
from weftwork.types import Node

MOST = 40
"""Sources that are new, or gone, up to which they are compared: more of them are another folder."""
ALIKE = 0.5
"""The least share of lines that two texts have in common to be one."""
UNLIKE = 0.25
"""The most that either of them may share with any other."""
FEWEST_LINES = 3

Lines = frozenset[str]


def edited_renames(plan: Diff, states: Mapping[str, SourceState], stored: Callable[[str], Lines]) -> dict[str, str]:
    """Old keys by new ones of sources that share most lines with one that is gone, and few with any other.

    `stored` gives the lines of the source that had a key.
    """
    fresh = [key for key in plan.read if key not in states and key not in plan.renamed and plan.sources[key].movable]
    gone = [key for key in plan.gone if states[key].id]
    if not fresh or not gone or max(len(fresh), len(gone)) > MOST:
        return {}
    new = {key: lines_of(plan.sources[key]) for key in fresh}
    old = {key: stored(key) for key in gone}
    shares = {
        (one, other): _share(new[one], old[other]) for one in fresh for other in gone if _suffix(one) == _suffix(other)
    }
    pairs = {one: other for (one, other), share in shares.items() if share >= ALIKE}
    return {one: other for one, other in pairs.items() if _is_certain(one, other, shares)}


def lines_of(source: Source) -> Lines:
    """The lines that a source says; none if it cannot be read, or is a document."""
    try:
        nodes = [piece for piece in source.read(source.id) if isinstance(piece, Node)]
    except (Refused, OSError, WeftError):
        return frozenset()
    return text_lines(nodes)


def text_lines(nodes: list[Node]) -> Lines:
    """The lines of nodes: titles of headings, and texts."""
    texts = (line.strip() for node in nodes for line in (node.title if node.parent else "", *node.text.splitlines()))
    return frozenset(line for line in texts if len(line) > 3)


def _is_certain(one: str, other: str, shares: Mapping[tuple[str, str], float]) -> bool:
    rivals = [share for pair, share in shares.items() if (pair[0] == one) != (pair[1] == other)]
    return max(rivals, default=0.0) <= UNLIKE


def _share(one: Lines, other: Lines) -> float:
    common = len(one & other)
    return common / max(len(one), len(other)) if common >= FEWEST_LINES else 0.0


def _suffix(key: str) -> str:
    return posixpath.splitext(key)[1].lower()
