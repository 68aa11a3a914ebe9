"""The diff between the sources of a path and their recorded states: new, changed, renamed or gone."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from weftwork.ingest.connectors.protocol import Connector, Listed, Source, Unread
from weftwork.ingest.events import Skipped
from weftwork.ingest.import_log import SourceState, by_fingerprint


@dataclass(slots=True)
class Diff:
    """The sources to read, rename, restamp and remove."""

    sources: dict[str, Source] = field(default_factory=dict)
    """All current sources by key, in order."""
    read: dict[str, str] = field(default_factory=dict)
    """Fingerprints of the sources to read."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Old keys by new ones."""
    gone: list[str] = field(default_factory=list)
    restamped: dict[str, SourceState] = field(default_factory=dict)
    """States of sources with the same content and a new timestamp."""
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)


def diff_sources(
    listed: Iterable[Listed],
    connector: Connector,
    states: Mapping[str, SourceState],
    present: Collection[str],
    possible: Collection[str] = (),
) -> Diff:
    """Compare sources with their recorded states; `present` are the ids of top nodes that exist.

    A source that lacks something which is `possible` now is read again.
    """
    result = Diff()
    unread: list[str] = []
    for item in listed:
        if isinstance(item, Source):
            if item.key in result.sources:
                result.skipped.append(Skipped(item.what, f"has the same key as another source ({item.key})"))
            else:
                result.sources[item.key] = item
        elif isinstance(item, Unread):
            unread.append(item.key)
            result.skipped.append(Skipped(item.what, item.why))
        else:
            result.skipped.append(item)
    edition = f"{connector.name}/{connector.version}:"
    for key, source in result.sources.items():
        _compare(result, source, _usable(states.get(key), present, possible), edition)
    result.gone = [key for key in states if key not in result.sources and not _covered(key, unread)]
    result.renamed = _renamed(result, states)
    renamed = set(result.renamed.values())
    result.gone = [key for key in result.gone if key not in renamed]
    return result


def _usable(state: SourceState | None, present: Collection[str], possible: Collection[str]) -> SourceState | None:
    """The state of a source; None if somebody removed its node, or if what it lacks can be read now."""
    if state is None or (state.id and state.id not in present) or state.lacks.intersection(possible):
        return None
    return state


def _compare(result: Diff, source: Source, state: SourceState | None, edition: str) -> None:
    same_edition = state is not None and state.fingerprint.startswith(edition)
    if state and same_edition and source.stamp and source.stamp == state.stamp:
        _unchanged(result, source, state)
        return
    try:
        fingerprint = edition + source.fingerprint()
    except OSError as error:
        result.skipped.append(Skipped(source.what, f"cannot be read ({error.strerror})"))
        return
    if state and state.content == fingerprint:
        _unchanged(result, source, state)
        if source.stamp and source.stamp != state.stamp:
            result.restamped[source.key] = replace(state, stamp=source.stamp)
    else:
        result.read[source.key] = fingerprint


def _unchanged(result: Diff, source: Source, state: SourceState) -> None:
    if state.why:
        result.skipped.append(Skipped(source.what, state.why))
    else:
        result.unchanged += 1


def _covered(key: str, unread: Iterable[str]) -> bool:
    """Return True if a key is, or lies below, something that could not be opened."""
    return any(key == closed or closed in ("", "/") or key.startswith(closed.rstrip("/") + "/") for closed in unread)


def _renamed(result: Diff, states: Mapping[str, SourceState]) -> dict[str, str]:
    """New keys of renamed sources, with the old ones.

    A source was renamed if its content, or its content and name, exists under no other key.
    """
    fresh = [key for key in result.read if key not in states and result.sources[key].movable]
    before = by_fingerprint((key, states[key].content) for key in result.gone if states[key].id)
    after = by_fingerprint((key, result.read[key]) for key in fresh)
    return dict(
        pair
        for fingerprint, keys in before.items()
        if fingerprint in after
        for pair in _pairs(keys, after[fingerprint])
    )


def _pairs(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """New and old keys of files with the same content: a moved folder may hold several empty ones."""
    if len(before) == len(after) == 1:
        yield after[0], before[0]
        return
    old, new = _by_name(before), _by_name(after)
    for name, keys in old.items():
        if len(keys) == len(new.get(name, ())) == 1:
            yield new[name][0], keys[0]


def _by_name(keys: list[str]) -> dict[str, list[str]]:
    named: dict[str, list[str]] = {}
    for key in keys:
        named.setdefault(posixpath.basename(key), []).append(key)
    return named
