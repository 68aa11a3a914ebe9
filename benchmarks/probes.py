"""What is asked for by name and therefore has to be there: a focused block, a note by its title, a block by its id.

Lines and files are drawn from the vault itself, with a fixed seed; some lines stand in two notes, and their own words
are the question, so that one may be taken for the other. A block has to be there with its line, as a part of its own
document; of a note or a block that is much longer than the line, any part will do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.context_sets import USER, ContextSet
from benchmarks.measures import Shown, words
from benchmarks.vaults import title_of
from weftwork import Context, Weft
from weftwork.types import Filters, Node

SHORTEST, LONGEST = 4, 30
"""Words of a line that is asked for."""
MUCH = 60
"""Words from which on a node is more than a line of it."""
Kind = Literal["focus", "id", "title"]
PLAN: tuple[tuple[Kind, str, int], ...] = (
    ("focus", "line", 2),
    ("focus", "twin", 3),
    ("id", "line", 1),
    ("id", "twin", 1),
    ("title", "file", 3),
)
"""How many are asked for of what; lines stand in one file only, twins in several."""

_MARK = re.compile(r"^\s*(?:(?:[-*+>]|\d+[.)]|\[[ x]\])\s+)*")
_NO_TEXT = re.compile(r"#|\||\[[^\]]*\]:|[\w -]{1,30}::?(?:\s|$)|[`~]{3}")
"""How headings, tables, definitions of links, fields and fences begin."""

Drawn = tuple[str, str]
"""A file, and the words of a line of it."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Something that is asked for."""

    kind: Kind
    file: str
    line: str
    """Words that have to be there; empty if anything of the file will do."""
    node: str
    query: str

    def request(self) -> dict[str, Any]:
        """The arguments of a context that asks for it."""
        return {"query": self.query} | ({"focus": self.node} if self.kind == "focus" else {})


def pools(documents: Mapping[str, str], rng: random.Random) -> dict[str, list[Drawn]]:
    """What can be asked for, in a random order."""
    places: dict[str, set[str]] = {}
    for file, text in documents.items():
        for line in text.splitlines():
            body = _MARK.sub("", line, count=1)
            if SHORTEST <= len(words(body).split()) <= LONGEST and not _NO_TEXT.match(body):
                places.setdefault(words(body), set()).add(file)
    found = {
        "line": [(min(files), line) for line, files in places.items() if len(files) == 1],
        "twin": [(rng.choice(sorted(files)), line) for line, files in places.items() if len(files) > 1],
        "file": list(
            {file: line for line, files in places.items() for file in sorted(files) if _is_note(file)}.items()
        ),
    }
    for pool in found.values():
        rng.shuffle(pool)
    return found


def _is_note(file: str) -> bool:
    return not file.endswith(".base")


class Prober:
    """Asks for what was drawn, and looks whether it is there."""

    def __init__(self, weft: Weft, chosen: ContextSet, seed: int) -> None:
        assert chosen.vault is not None
        self._set = chosen
        room = chosen.rooms["main"]
        self._sources = room.sources
        with weft.store.view("main", USER) as view:
            infos = view.select(Filters(), limit=1_000_000, sort="title")
            by_file = _by_file(view.nodes([info.id for info in infos]), chosen.vault)
        drawn = pools(room.documents, random.Random(f"probes/{seed}"))
        left = {name: iter(pool) for name, pool in drawn.items()}
        self.probes = [
            probe
            for kind, pool, count in PLAN
            for probe, _ in zip(_probes(kind, pool, left[pool], by_file), range(count), strict=False)
        ]

    def present(self, ask: Callable[..., Context]) -> list[bool]:
        """Whether each of them is in the context that asks for it."""
        return [self._present(probe, ask(**probe.request())) for probe in self.probes]

    def _present(self, probe: Probe, context: Context) -> bool:
        wanted = self._set.document_of(probe.node)
        nodes = {cited.id: cited.node for cited in context.citations}
        cited = (piece for piece in context.pieces if self._set.document_of(nodes.get(piece.citation, "")) == wanted)
        shown = Shown("".join(piece.text for piece in cited), self._sources, nodes)
        if probe.line:
            return f" {probe.line} " in shown.words
        start, end = self._sources.span_of(probe.file)
        return any(start <= place < end for place, _ in shown.spans)


def _probes(kind: Kind, pool: str, left: Iterator[Drawn], by_file: Mapping[str, list[Node]]) -> Iterator[Probe]:
    """What of a pool is in the store, with the smallest node that has it."""
    for file, line in left:
        nodes = by_file.get(file) or by_file.get("", [])
        having = [node for node in nodes if f" {line} " in f" {words(node.text or node.title)} "]
        if having:
            node = min(having, key=lambda node: (len(node.text), node.id))
            whole = kind == "title" or len(words(node.text).split()) > MUCH
            focused = line if pool == "twin" else "Explain this"
            query = {"title": f"What does [[{title_of(file)}]] say?", "id": node.id, "focus": focused}[kind]
            yield Probe(kind, file, "" if whole else line, node.id, query)


def _by_file(nodes: list[Node], vault: Path) -> Mapping[str, list[Node]]:
    """The nodes of each file; those of an export all belong to it."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        where = Path(node.source)
        inside = vault.is_dir() and where.is_relative_to(vault)
        found.setdefault(str(where.relative_to(vault)) if inside else "", []).append(node)
    return found
