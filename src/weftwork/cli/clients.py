"""The configuration files of assistants that speak the Model Context Protocol."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weftwork.errors import InvalidInput

NAME = "weftwork"


@dataclass(frozen=True, slots=True)
class Entry:
    """The command line with which a client starts the server."""

    command: tuple[str, ...]
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Client:
    """An assistant: the path of its configuration file, and the keys that it uses there."""

    path: Callable[[], Path]
    then: str
    """Instruction after which it reads the file."""
    key: str = "mcpServers"
    typed: bool = False
    """Entries need `"type": "stdio"`."""
    toml: bool = False
    """The file is TOML, not JSON."""


def _applications() -> Path:
    """The platform's folder for the settings of applications."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _zed() -> Path:
    """Zed's settings, which are in ~/.config on macOS, too."""
    folder = Path.home() / ".config" / "zed" if sys.platform == "darwin" else _applications() / "zed"
    return (folder if sys.platform != "win32" else _applications() / "Zed") / "settings.json"


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        lambda: _applications() / "Claude" / "claude_desktop_config.json", "quit Claude and start it again"
    ),
    "claude-code": Client(lambda: Path.cwd() / ".mcp.json", "start claude in this folder and allow the server"),
    "cursor": Client(lambda: Path.home() / ".cursor" / "mcp.json", "switch the server on in Cursor's settings"),
    "vscode": Client(
        lambda: Path.cwd() / ".vscode" / "mcp.json", "open this folder and start the server there", "servers", True
    ),
    "windsurf": Client(
        lambda: Path.home() / ".codeium" / "windsurf" / "mcp_config.json", "refresh the servers in Cascade's settings"
    ),
    "zed": Client(_zed, "open the agent panel, where it is listed", "context_servers"),
    "codex": Client(lambda: Path.home() / ".codex" / "config.toml", "start codex again", "mcp_servers", toml=True),
    "gemini": Client(lambda: Path.home() / ".gemini" / "settings.json", "start gemini again"),
}


def install(client: Client, path: Path, entry: Entry) -> bool:
    """Put the entry into the client's file; return False if it is there already."""
    try:
        text = _text(path)
        before = _parsed(text, path, client, entry)
        after = merged(client, before, entry)
        if after == before:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path.resolve()  # a link stays one
        if text:
            _write(target.with_name(target.name + ".bak"), text)
        if client.toml:
            _write(target, _toml_with(text, after, path, client, entry))
        else:
            _write(target, json.dumps(after, indent=_indent(text), ensure_ascii=False) + "\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written ({error.strerror}): name another with --config") from error
    return True


def merged(client: Client, before: Mapping[str, Any], entry: Entry) -> dict[str, Any]:
    """The configuration with the entry in it, everything else unchanged and in order."""
    servers = before.get(client.key, {})
    if not isinstance(servers, dict):
        raise InvalidInput(f"{client.key!r} in the client's file is not a table of servers: correct it by hand")
    existing = servers.get(NAME, {})
    command, *more = entry.command
    mine = {
        **({"type": "stdio"} if client.typed else {}),
        **(existing if isinstance(existing, dict) else {}),
        "command": command,
        "args": [*more, *entry.arguments],
    }
    return {**before, client.key: {**servers, NAME: mine}}


def snippet(client: Client, entry: Entry) -> str:
    """The configuration of the entry alone, as it is written in the client's file."""
    table = merged(client, {}, entry)
    if not client.toml:
        return json.dumps(table, indent=2, ensure_ascii=False)
    values = table[client.key][NAME]
    # A JSON string or a list of them is TOML, too.
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    return "\n".join((f"[{client.key}.{NAME}]", *lines))


def _toml_with(text: str, after: Mapping[str, Any], path: Path, client: Client, entry: Entry) -> str:
    """The TOML text with the entry's table at its end; comments and everything else stay as they are."""
    header = re.compile(rf"^\[{client.key}\.{NAME}\]\s*\n(?:(?!\[).*\n?)*", re.MULTILINE)
    rest = header.sub("", text).rstrip()
    added = f"{rest}\n\n{snippet(client, entry)}\n".lstrip("\n")
    if tomllib.loads(added) != after:
        raise InvalidInput(
            f"{path} has settings in the table of {NAME} that would be lost, and was left as it is:"
            f" put this into it by hand\n{snippet(client, entry)}"
        )
    return added


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text ({error}): correct it or move it away") from error


def _parsed(text: str, path: Path, client: Client, entry: Entry) -> dict[str, Any]:
    """Parse the file; refuse JSON with comments, which would be lost."""
    try:
        parse = tomllib.loads if client.toml else json.loads
        parsed = parse(text) if text.strip() else {}
    except ValueError as error:
        form = "TOML" if client.toml else "plain JSON"
        raise InvalidInput(
            f"{path} is not {form} ({error}; it may have comments) and was left as it is: "
            f"put this into it by hand\n{snippet(client, entry)}"
        ) from error
    if not isinstance(parsed, dict):
        raise InvalidInput(f"{path} does not hold a JSON object and was left as it is: correct it or move it away")
    return parsed


def _indent(text: str) -> int | str:
    """The indentation of the file, so that a diff shows one change."""
    for line in text.splitlines():
        spaces = line[: len(line) - len(line.lstrip(" \t"))]
        if spaces:
            return "\t" if spaces.startswith("\t") else len(spaces)
    return 2


def _write(path: Path, text: str) -> None:
    """Replace a file atomically and keep its permissions."""
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o600 if mode is None else mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
