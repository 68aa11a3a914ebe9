"""The edges between the sources of a path: resolved links, and mentions of titles."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_

from weftwork.engine import Weft
from weftwork.ingest.import_log import EdgeRecord, SourceDetails
from weftwork.ingest.links import Names, Unresolved, unique_titles, whole
from weftwork.ingest.mentions import MENTION, WEIGHT, MentionFinder
from weftwork.ingest.report import Options
from weftwork.types import Edge

NODES_AT_ONCE = 1000
UNREAD = frozenset({"code", "folder"})
"""Types of nodes that are not searched for mentions."""
MentionRecord = tuple[str, str, str]


@dataclass(slots=True)
class Connected:
    """The edges to add and to remove, and the records that change with them."""

    linked: list[Edge] = field(default_factory=list)
    unlinked: list[Edge] = field(default_factory=list)
    details: dict[str, SourceDetails | None] = field(default_factory=dict)
    links: int = 0
    mentions: int = 0
    unresolved: list[Unresolved] = field(default_factory=list)
    titles: str = ""
    """The titles that were searched for, as JSON: the next import searches old texts for new ones only."""


def connect(
    weft: Weft, details: Mapping[str, SourceDetails], tops: Mapping[str, str], options: Options, fresh: Collection[str],
    titles: str,
) -> Connected:  # fmt: skip
    """Compute all edges; those that touch a fresh source are written even if their record exists."""
    result = Connected()
    groups = _by_access_list(weft, options.workspace, tops)
    names = [Names(details, tops, among) for among in groups.values()]
    resolved = {key: reduce(or_, (each.resolved(key) for each in names)) for key in details}
    mentions: dict[str, list[MentionRecord]] = {key: [] for key in details}
    if options.mentions:
        before: dict[str, dict[str, str]] = json.loads(titles) if titles else {}
        after = {
            group: unique_titles({key: details[key] for key in details if key in among}, tops)
            for group, among in groups.items()
        }
        result.titles = json.dumps(after, ensure_ascii=False, sort_keys=True)
        search = _Search(weft, options, details, tops)
        for group, current in after.items():
            known = before.get(group) if isinstance(before.get(group), dict) else None
            new = {name for name in current if (known or {}).get(name) != current[name]}
            for key, found in search.mentions(current, new, fresh).items():
                mentions[key] += [mention for mention in found if mention not in mentions[key]]
    owners = {whole(tops[key], local): key for key, record in details.items() for local in record.nodes.values()}
    changed = {node for node, key in owners.items() if key in fresh}
    for key, record in details.items():
        edges = {edge[:4]: edge for edge in resolved[key].edges}
        linked = {(source, tops[owners[target]] if target in owners else target) for source, target, _, _ in edges}
        own_mentions = [mention for mention in mentions[key] if mention[:2] not in linked]
        for source, target, _ in own_mentions:
            edges.setdefault((source, target, MENTION, ""), (source, target, MENTION, "", WEIGHT))
        result.links += resolved[key].links
        result.mentions += len(own_mentions)
        result.unresolved += [Unresolved(key, target) for target in resolved[key].unresolved]
        _compare(result, key, record, list(edges.values()), own_mentions, changed)
    return result


def _by_access_list(weft: Weft, workspace: str, tops: Mapping[str, str]) -> dict[str, set[str]]:
    """The keys of the sources that the same users may see, by a name of their access list.

    What a link or a title means is found out in each group by itself: a note that a reader may not see must not take
    the place of one that they see.
    """
    lists = weft.store.unchecked_access_lists(workspace, list(tops.values()))
    groups: dict[str, set[str]] = {}
    for key, top in tops.items():
        groups.setdefault(str(lists.get(top, "")), set()).add(key)
    return groups or {"": set()}


def _compare(
    result: Connected,
    key: str,
    record: SourceDetails,
    edges: list[EdgeRecord],
    mentions: list[MentionRecord],
    fresh: Collection[str],
) -> None:
    """Add the difference between the edges of a source and its recorded ones to the result."""
    before = {edge[:4]: edge for edge in record.edges}
    after = {edge[:4]: edge for edge in edges}
    result.unlinked += [_edge(edge) for ends, edge in before.items() if ends not in after]
    result.linked += [
        _edge(edge) for ends, edge in after.items() if before.get(ends) != edge or edge[0] in fresh or edge[1] in fresh
    ]
    if before != after or record.mentions != mentions:
        result.details[key] = replace(record, edges=edges, mentions=mentions)


class _Search:
    """Searches the stored texts of the sources for mentions."""

    def __init__(
        self, weft: Weft, options: Options, details: Mapping[str, SourceDetails], tops: Mapping[str, str]
    ) -> None:
        self._weft = weft
        self._options = options
        self._details = details
        self._tops = tops

    def mentions(
        self, titles: Mapping[str, str], new: Collection[str], fresh: Collection[str]
    ) -> dict[str, list[MentionRecord]]:
        """The mentions in each source: fresh ones are searched for all titles, others for new ones."""
        by_source: dict[str, list[MentionRecord]] = {
            key: []
            if key in fresh
            else [mention for mention in record.mentions if titles.get(mention[2]) == mention[1]]
            for key, record in self._details.items()
        }
        self._search([key for key in self._details if key in fresh], titles, by_source)
        if new:
            others = [key for key in self._details if key not in fresh]
            self._search(others, {name: titles[name] for name in new}, by_source)
        return by_source

    def _search(self, keys: list[str], titles: Mapping[str, str], by_source: dict[str, list[MentionRecord]]) -> None:
        finder = MentionFinder(titles)
        for key, node, text in self._texts(keys):
            mentions = [mention for mention in finder.find(node, text) if mention.target != self._tops[key]]
            if mentions:
                recorded = {(source, target) for source, target, _ in by_source[key]}
                by_source[key] += [
                    (node, mention.target, mention.name)
                    for mention in mentions
                    if (node, mention.target) not in recorded
                ]

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


def _edge(record: EdgeRecord) -> Edge:
    source, target, kind, label, weight = record
    return Edge(source=source, target=target, type=kind, label=label, weight=weight)
