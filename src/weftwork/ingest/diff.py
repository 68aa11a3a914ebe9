"""Comparing what a path holds now with what is remembered of it: what is new, changed, renamed or gone."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from weftwork.ingest.connectors.protocol import Connector, Source, Unread
from weftwork.ingest.events import Skipped
from weftwork.ingest.import_log import Kept, by_fingerprint


@dataclass(slots=True)
class Survey:
    """What is to be done."""

    sources: dict[str, Source] = field(default_factory=dict)
    """All that are there now, by key, in their order."""
    read: dict[str, str] = field(default_factory=dict)
    """Fingerprints of those that have to be read."""
    renamed: dict[str, str] = field(default_factory=dict)
    """New keys, each with the old one."""
    gone: list[str] = field(default_factory=list)
    restamped: dict[str, Kept] = field(default_factory=dict)
    """Records of sources with the same content whose times changed."""
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)


def survey(
    found: Iterable[Source | Unread | Skipped], connector: Connector, kept: Mapping[str, Kept], present: Collection[str]
) -> Survey:
    """Compare sources with their records; `present` are the ids of those top nodes that are in the store."""
    result = Survey()
    unread: list[str] = []
    for each in found:
        if isinstance(each, Source):
            if each.key in result.sources:
                result.skipped.append(Skipped(each.what, f"has the same key as another source ({each.key})"))
            else:
                result.sources[each.key] = each
        elif isinstance(each, Unread):
            unread.append(each.key)
            result.skipped.append(Skipped(each.what, each.why))
        else:
            result.skipped.append(each)
    edition = f"{connector.name}/{connector.version}:"
    for key, source in result.sources.items():
        _compare(result, source, kept.get(key), edition, present)
    result.gone = [key for key in kept if key not in result.sources and not _covered(key, unread)]
    result.renamed = _renamed(result, kept)
    renamed = set(result.renamed.values())
    result.gone = [key for key in result.gone if key not in renamed]
    return result


def _compare(result: Survey, source: Source, kept: Kept | None, edition: str, present: Collection[str]) -> None:
    if kept is not None and kept.id and kept.id not in present:
        kept = None  # somebody removed its node
    same_edition = kept is not None and kept.fingerprint.startswith(edition)
    if kept and same_edition and source.stamp and source.stamp == kept.stamp:
        _unchanged(result, source, kept)
        return
    try:
        fingerprint = edition + source.fingerprint()
    except OSError as error:
        result.skipped.append(Skipped(source.what, f"cannot be read ({error.strerror})"))
        return
    if kept and kept.fingerprint == fingerprint:
        _unchanged(result, source, kept)
        if source.stamp and source.stamp != kept.stamp:
            result.restamped[source.key] = replace(kept, stamp=source.stamp)
    else:
        result.read[source.key] = fingerprint


def _unchanged(result: Survey, source: Source, kept: Kept) -> None:
    if kept.why:
        result.skipped.append(Skipped(source.what, kept.why))
    else:
        result.unchanged += 1


def _covered(key: str, unread: Iterable[str]) -> bool:
    """Whether something that could not be opened stands at or above a key."""
    return any(key == each or each in ("", "/") or key.startswith(each.rstrip("/") + "/") for each in unread)


def _renamed(result: Survey, kept: Mapping[str, Kept]) -> dict[str, str]:
    """New keys of sources that are gone from another: those whose content, or content and name, stands nowhere else."""
    fresh = [key for key in result.read if key not in kept and result.sources[key].movable]
    before = by_fingerprint((key, kept[key].fingerprint) for key in result.gone if kept[key].id)
    after = by_fingerprint((key, result.read[key]) for key in fresh)
    return dict(pair for each, keys in before.items() if each in after for pair in _pairs(keys, after[each]))


def _pairs(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """New and old keys of files with the same content: a folder that was moved may hold several empty ones."""
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
