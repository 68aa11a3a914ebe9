"""Pulling a live source: its mirror is brought up to date, and added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from weftwork.engine import Weft
from weftwork.ingest.connectors.registry import get_connector, recognise
from weftwork.ingest.imports import add_path
from weftwork.ingest.remotes.protocol import STATE, Address, Mirror, file_name
from weftwork.ingest.remotes.registry import parse_address, remote_for, uses_key
from weftwork.ingest.report import Followed, Options


@dataclass(frozen=True, slots=True)
class Pulled:
    """Result of a pull: files copied and removed, and what was then added."""

    address: str
    fetched: int
    removed: int
    public: bool
    """Everybody may read the source, so the access list of the workspace holds; otherwise only its user sees it."""
    report: Followed


def pull(weft: Weft, address: str, folder: Path, options: Options | None = None, *, key: str = "") -> Pulled:
    """Copy what changed at an address into its mirror below a folder, and add that.

    Unless the source says that everybody may read it, or `options` names readers, only the user sees it.
    """
    options = options or Options()
    parsed = parse_address(address)
    parsed = replace(parsed, key=key if uses_key(parsed) else "")
    remote = remote_for(parsed)
    mirror = Mirror.open(folder / mirror_name(parsed))
    public = remote.pull(mirror)
    connector = get_connector(remote.connector) if remote.connector else recognise(mirror.folder)
    first = mirror.state.get("added") != options.workspace  # who was let in later stays
    readers = options.access or (frozenset({options.user}) if first and not public else None)
    report = add_path(weft, mirror.folder, connector, replace(options, access=readers, origin=_origins(mirror, parsed)))
    report.skipped += mirror.skipped
    mirror.state |= {"address": address, "added": options.workspace}
    mirror.save()
    return Pulled(address, mirror.fetched, mirror.removed, bool(public), report)


def pulled_before(folder: Path) -> list[str]:
    """The addresses that have a mirror below a folder."""
    mirrors = [Mirror.open(path) for path in sorted(folder.glob("*/*")) if path.is_dir()]
    return [str(mirror.state["address"]) for mirror in mirrors if "address" in mirror.state]


def address_of(folder: Path) -> str:
    """The address that a folder is the mirror of; empty for any other folder."""
    return str(Mirror.open(folder).state.get("address", "")) if (folder / STATE).is_file() else ""


def mirror_name(address: Address) -> str:
    """The folder of a mirror, different for different addresses."""
    last = address.url.rstrip("/").rpartition("/")[2].partition("?")[0] or address.kind
    unique = blake2b(f"{address.shown} {address.user} {sorted(address.options.items())}".encode(), digest_size=4)
    return f"{unique.hexdigest()}/{file_name(last.removesuffix('.git'))}"


def _origins(mirror: Mirror, address: Address) -> Callable[[str], str]:
    """Map files of the mirror to their names in citations: their address, or the source's with their path."""
    root = str(mirror.folder)

    def origin(source: str) -> str:
        if not source.startswith(root):
            return source
        name = source.removeprefix(root).strip("/")
        return mirror.origins.get(name) or (f"{address.shown}/{name}" if name else address.shown)

    return origin
