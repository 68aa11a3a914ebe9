"""The registry of connectors: the built-in ones, and those of other packages.

Another package registers its connector with an entry point of the group `weftwork.connectors`, which names a class
without arguments or an object that is a connector.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from weftwork.errors import InvalidInput, UnknownName
from weftwork.ingest.connectors.protocol import Connector
from weftwork.ingest.files import check_path

GROUP = "weftwork.connectors"
BUILT_IN = "built-in"
MODULES = {
    "obsidian": "weftwork.ingest.connectors.obsidian:Obsidian",
    "markdown": "weftwork.ingest.connectors.obsidian:Markdown",
    "logseq": "weftwork.ingest.connectors.logseq:Logseq",
    "roam": "weftwork.ingest.connectors.roam:Roam",
    "notion": "weftwork.ingest.connectors.notion:Notion",
    "tana": "weftwork.ingest.connectors.tana:Tana",
    "evernote": "weftwork.ingest.connectors.evernote:Evernote",
    "keep": "weftwork.ingest.connectors.keep:Keep",
    "bear": "weftwork.ingest.connectors.bear:Bear",
    "apple-notes": "weftwork.ingest.connectors.apple_notes:AppleNotes",
    "mattermost": "weftwork.ingest.connectors.mattermost:Mattermost",
    "slack": "weftwork.ingest.connectors.slack:Slack",
    "chatgpt": "weftwork.ingest.connectors.chatgpt:ChatGPT",
    "claude": "weftwork.ingest.connectors.claude:Claude",
    "calendar": "weftwork.ingest.connectors.calendar:Calendar",
    "mail": "weftwork.ingest.connectors.mail:Mail",
    "csv": "weftwork.ingest.connectors.tables:Csv",
    "files": "weftwork.ingest.connectors.files:Files",
}
"""Built-in connectors by name; each module is imported when its connector is first asked for."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A connector and its origin."""

    name: str
    origin: str
    """`built-in`, or the name and version of a package."""
    connector: Connector | None = None
    problem: str = ""
    """The reason why another package's connector cannot be used."""


def connectors() -> dict[str, Registered]:
    """The connectors by name, built-in ones first; the first one of a name wins."""
    registered = {name: Registered(name, BUILT_IN, _built_in(place)) for name, place in MODULES.items()}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        if entry.name not in registered:
            registered[entry.name] = _registered(entry)
    return registered


def get_connector(name: str) -> Connector:
    """The connector with this name."""
    registered = connectors()
    if name not in registered:
        raise UnknownName("connector", name, registered)
    connector = registered[name].connector
    if connector is None:
        raise InvalidInput(
            f"the connector {name!r} of {registered[name].origin} cannot be used: {registered[name].problem}"
        )
    return connector


def recognise(path: Path) -> Connector:
    """The connector with the highest confidence for a path; of equals the first registered."""
    check_path(path)
    usable = [registered.connector for registered in connectors().values() if registered.connector is not None]
    sure = [(connector.recognises(path), -place, connector) for place, connector in enumerate(usable)]
    certainty, _, surest = max(sure, key=lambda candidate: candidate[:2])
    if certainty <= 0:
        raise InvalidInput(f"nothing knows how to read {path}: see  weftwork connectors")
    return surest


@cache
def _built_in(place: str) -> Connector:
    module, _, name = place.partition(":")
    connector: Connector = getattr(import_module(module), name)()
    return connector


def _registered(entry: EntryPoint) -> Registered:
    """Load another package's connector; a failure is recorded, for those who ask for it."""
    try:
        loaded = entry.load()
        connector = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:  # whatever another package does wrong
        return Registered(entry.name, _origin(entry), problem=f"it cannot be loaded ({error})")
    missing = [part for part in ("name", "summary", "version", "recognises", "sources") if not hasattr(connector, part)]
    if missing:
        return Registered(entry.name, _origin(entry), problem=f"it lacks {', '.join(missing)}")
    return Registered(entry.name, _origin(entry), connector)


def _origin(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module
