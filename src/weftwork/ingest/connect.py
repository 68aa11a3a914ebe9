"""The edges of all sources of a path: what links resolve to, and what titles are mentioned where."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from weftwork.engine import Weft
from weftwork.ingest.import_log import Details, Made
from weftwork.ingest.links import Names, Unresolved, unique_titles, whole
from weftwork.ingest.mentions import MENTION, WEIGHT, MentionFinder
from weftwork.ingest.report import Options
from weftwork.types import Edge

NODES_AT_ONCE = 1000
UNREAD = frozenset({"code", "folder"})
"""Types of nodes in which no mention is looked for."""
Known = tuple[str, str, str]


@dataclass(slots=True)
class Connected:
    """Which edges are to be made and removed, and the records that change with them."""

    linked: list[Edge] = field(default_factory=list)
    unlinked: list[Edge] = field(default_factory=list)
    details: dict[str, Details | None] = field(default_factory=dict)
    links: int = 0
    mentions: int = 0
    unresolved: list[Unresolved] = field(default_factory=list)
    titles: str = ""
    """What was looked for, to tell new titles from those that were looked for before."""


def connect(
    weft: Weft, details: Mapping[str, Details], tops: Mapping[str, str], options: Options, fresh: Collection[str],
    titles: str,
) -> Connected:  # fmt: skip
    """Work out all edges; those that touch a fresh source are made even if the record says that they are there."""
    result = Connected()
    names = Names(details, tops)
    resolved = {key: names.resolved(key) for key in details}
    mentions: dict[str, list[Known]] = {key: [] for key in details}
    if options.mentions:
        found = unique_titles(details, tops)
        result.titles = json.dumps(found, ensure_ascii=False, sort_keys=True)
        search = _Search(weft, options, details, tops)
        known = json.loads(titles) if titles else {}
        mentions = search.mentions(found, {name for name in found if known.get(name) != found[name]}, fresh)
    owners = {whole(tops[key], local): key for key, record in details.items() for local in record.nodes.values()}
    changed = {node for node, key in owners.items() if key in fresh}
    for key, record in details.items():
        edges = {edge[:4]: edge for edge in resolved[key].edges}
        linked = {(source, tops[owners[target]] if target in owners else target) for source, target, _, _ in edges}
        own = [each for each in mentions[key] if each[:2] not in linked]
        for source, target, _ in own:
            edges.setdefault((source, target, MENTION, ""), (source, target, MENTION, "", WEIGHT))
        result.links += resolved[key].links
        result.mentions += len(own)
        result.unresolved += [Unresolved(key, target) for target in resolved[key].unresolved]
        _compare(result, key, record, list(edges.values()), own, changed)
    return result


def _compare(
    result: Connected, key: str, record: Details, edges: list[Made], mentions: list[Known], fresh: Collection[str]
) -> None:
    """Note the difference between the edges of a source and those that were made for it before."""
    before = {edge[:4]: edge for edge in record.edges}
    after = {edge[:4]: edge for edge in edges}
    result.unlinked += [_edge(edge) for ends, edge in before.items() if ends not in after]
    result.linked += [
        _edge(edge) for ends, edge in after.items() if before.get(ends) != edge or edge[0] in fresh or edge[1] in fresh
    ]
    if before != after or record.mentions != mentions:
        result.details[key] = replace(record, edges=edges, mentions=mentions)


class _Search:
    """Looks for mentions in what is stored of the sources."""

    def __init__(self, weft: Weft, options: Options, details: Mapping[str, Details], tops: Mapping[str, str]) -> None:
        self._weft = weft
        self._options = options
        self._details = details
        self._tops = tops

    def mentions(
        self, titles: Mapping[str, str], new: Collection[str], fresh: Collection[str]
    ) -> dict[str, list[Known]]:
        """The mentions of each source: fresh ones are searched for all titles, others for new ones."""
        found: dict[str, list[Known]] = {
            key: [] if key in fresh else [each for each in record.mentions if titles.get(each[2]) == each[1]]
            for key, record in self._details.items()
        }
        self._search([key for key in self._details if key in fresh], titles, found)
        if new:
            others = [key for key in self._details if key not in fresh]
            self._search(others, {name: titles[name] for name in new}, found)
        return found

    def _search(self, keys: list[str], titles: Mapping[str, str], found: dict[str, list[Known]]) -> None:
        finder = MentionFinder(titles)
        for key, node, text in self._texts(keys):
            mentions = [each for each in finder.find(node, text) if each.target != self._tops[key]]
            if mentions:
                known = {(source, target) for source, target, _ in found[key]}
                found[key] += [(node, each.target, each.name) for each in mentions if (node, each.target) not in known]

    def _texts(self, keys: list[str]) -> Iterator[tuple[str, str, str]]:
        owners = {
            whole(self._tops[key], local): key for key in keys for local in self._details[key].nodes.values()
        }  # fmt: skip
        ids = list(owners)
        for start in range(0, len(ids), NODES_AT_ONCE):
            with self._weft.store.view(self._options.workspace, self._options.user) as view:
                nodes = view.nodes(ids[start : start + NODES_AT_ONCE])
            for node in nodes:
                if node.type not in UNREAD:
                    title = node.title if node.id != self._tops[owners[node.id]] else ""
                    yield owners[node.id], node.id, f"{title}\n{node.text}" if title else node.text


def _edge(made: Made) -> Edge:
    source, target, kind, label, weight = made
    return Edge(source=source, target=target, type=kind, label=label, weight=weight)
