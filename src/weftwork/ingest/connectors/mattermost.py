"""Mattermost: the channels of a bulk export (`import.jsonl`) with their posts, replies and people."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.conversations import ChatMessage, Thread, message_node, thread_nodes
from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.exports import Entry, Export, digest, export_sources, export_top, names_in, open_export
from weftwork.ingest.connectors.protocol import Listed, Named, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import FieldValue, Node

LINES = (".jsonl", ".ndjson", ".json")
NAMES = ("import", "export")
GLANCE = 20
"""Lines that are read to recognise an export."""
TITLE = 80
Post = Mapping[str, Any]


class Mattermost:
    """A bulk export: the zip of `mmctl export`, its folder, or its `import.jsonl`."""

    name = "mattermost"
    summary = "Mattermost bulk export: its zip, folder or import.jsonl"
    version = 1

    def recognises(self, path: Path) -> float:
        """A file of JSON lines whose first is a version and whose next are teams, channels, users or posts."""
        names = [name for name in names_in(path, 500) if name.lower().endswith(LINES)]
        if not names or (path.is_dir() and not any(name.rpartition(".")[0] in NAMES for name in names)):
            return 0.0
        try:
            entry = _file(open_export(path))
            if entry is None:
                return 0.0
            with io.TextIOWrapper(entry.open(), "utf-8-sig") as lines:
                kinds = [_kind(line) for line, _ in zip(lines, range(GLANCE), strict=False)]
        except (Refused, OSError, UnicodeDecodeError):
            return 0.0
        return 0.95 if kinds[:1] == ["version"] and all(kinds) else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """The people, then a source for each channel and each direct conversation."""
        top = export_top(path, self.name, "Mattermost")
        return export_sources(path, top, partial(_sources, path, top.id))


def _file(export: Export) -> Entry | None:
    files = [entry for entry in export.files if entry.suffix in LINES and "/" not in entry.name]
    return next((entry for entry in files if entry.stem in NAMES), files[0] if len(files) == 1 else None)


def _kind(line: str) -> str:
    """The kind of a line; empty if it is not of this format."""
    value = _parsed(line)
    kind = value.get("type")
    return kind if isinstance(kind, str) and (kind == "version" or isinstance(value.get(kind), dict)) else ""


def _parsed(line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _sources(path: Path, top: str, export: Export) -> Iterator[Listed]:
    entry = _file(export)
    if entry is None:
        yield Skipped(shown(str(path)), "has no import.jsonl")
        return
    people: dict[str, Post] = {}
    channels: dict[str, Post] = {}
    posts: dict[str, list[str]] = {}
    wrong = 0
    with io.TextIOWrapper(entry.open(), "utf-8-sig", errors="replace") as lines:
        for line in lines:
            kind = _kind(line) if line.strip() else "version"
            value = _parsed(line).get(kind) if kind else None
            wrong += not kind
            if not isinstance(value, dict):
                continue
            if kind == "user":
                people[str(value.get("username"))] = value
            elif kind == "channel":
                channels[f"{value.get('team')}/{value.get('name')}"] = value
            elif kind in ("post", "direct_post"):
                posts.setdefault(_place(value), []).append(line)
    if wrong:
        yield Skipped(shown(str(path)), f"{wrong} lines of {entry.name} are no JSON of this export")
    names = {user: _name(user, value) for user, value in people.items()}
    yield _people_source(people, names, top)
    for place in sorted(posts):
        about = json.dumps([channels.get(place, {}), names], sort_keys=True)
        fingerprint = digest(about, *posts[place])
        yield Source(
            key=f"channels/{place}", id=identity("mattermost", f"{top.partition(':')[2]}/{place}"), movable=False,
            what=_title(place, channels.get(place, {}), names),
            fingerprint=partial(str, fingerprint), stamp=fingerprint,
            read=partial(_read, place, channels.get(place, {}), posts[place], names, top),
        )  # fmt: skip


def _place(post: Post) -> str:
    """The key of the channel of a post: team and name, or the members of a direct conversation."""
    members = post.get("channel_members")
    if isinstance(members, list):
        return f"direct/{'+'.join(sorted(map(str, members)))}"
    return f"{post.get('team')}/{post.get('channel')}"


def _name(user: str, value: Post) -> str:
    whole = " ".join(str(value.get(part) or "").strip() for part in ("first_name", "last_name")).strip()
    return whole or str(value.get("nickname") or "").strip() or user


def _people_source(people: Mapping[str, Post], names: Mapping[str, str], top: str) -> Source:
    def read(source_id: str) -> Iterator[Yielded]:
        yield Node(id=source_id, type="folder", title="People", parent=top, source="mattermost:users")
        for place, (user, value) in enumerate(people.items()):
            fields: dict[str, FieldValue] = {"handle": user}
            fields |= {name: str(value[name]) for name in ("email", "position") if value.get(name)}
            node = f"{source_id}#{identity('', user)[1:]}"
            yield Node(
                id=node, type="person", title=names[user], parent=source_id, position=place, fields=fields,
                source=f"mattermost:{user}",
            )  # fmt: skip
            yield Named(node, names[user])

    content = digest(json.dumps([people, names], sort_keys=True))
    return Source(
        key="users", id=f"{top}/users", what="users", fingerprint=lambda: content, read=read, movable=False
    )  # fmt: skip


def _title(place: str, channel: Post, names: Mapping[str, str]) -> str:
    kind, _, name = place.partition("/")
    if kind == "direct":
        return ", ".join(names.get(member, member) for member in name.split("+"))
    return str(channel.get("display_name") or name)


def _read(
    place: str, channel: Post, lines: Sequence[str], names: Mapping[str, str], top: str, source_id: str
) -> Iterator[Yielded]:
    values = (_parsed(line) for line in lines)
    posts = sorted(
        (post for value in values if isinstance(post := value.get(str(value.get("type"))), dict) and _is_said(post)),
        key=_seconds,
    )
    times = [at for post in posts if (at := moment(post.get("create_at")))]
    about = "\n\n".join(str(channel[part]).strip() for part in ("purpose", "header") if channel.get(part))
    source = f"mattermost:{place}"
    yield Node(
        id=source_id, type="thread", title=_title(place, channel, names), text=about, parent=top, source=source,
        created_at=min(times, default=None), updated_at=max(times, default=None),
    )  # fmt: skip
    taken: set[str] = set()
    for position, post in enumerate(posts):
        said = _said(post, names, taken)
        replies = post.get("replies")
        answers = sorted(
            (reply for reply in (replies if isinstance(replies, list) else []) if _is_said(reply)), key=_seconds
        )
        if not answers:
            yield message_node(said, source_id, position, top=source_id, source=source)
            continue
        thread = Thread(
            id=f"{source_id}#thread-{said.key}", title=" ".join(said.text.split())[:TITLE] or said.author,
            parent=source_id, position=position, source=source,
        )  # fmt: skip
        yield from thread_nodes(thread, [said, *(_said(reply, names, taken) for reply in answers)], source_id)


def _is_said(post: Any) -> bool:
    """Return True for what a person or program wrote; joins and leaves have a type that begins with `system_`."""
    if not isinstance(post, dict) or str(post.get("type") or "").startswith("system_"):
        return False
    return bool(str(post.get("message") or "").strip()) or bool(_files(post))


def _files(post: Post) -> tuple[str, ...]:
    files = post.get("attachments")
    paths = [file.get("path") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return tuple(str(path).rpartition("/")[2] for path in paths if path)


def _said(post: Post, names: Mapping[str, str], taken: set[str]) -> ChatMessage:
    user = str(post.get("user") or "")
    key = identity("", f"{post.get('create_at')}-{user}")[1:]
    while key in taken:
        key += "+"
    taken.add(key)
    fields: dict[str, FieldValue] = {"files": _files(post)} if _files(post) else {}
    robot = not user or str(post.get("type") or "") == "slack_attachment"
    return ChatMessage(
        key=key, role="assistant" if robot else "user", author=names.get(user, user) or "app",
        at=moment(post.get("create_at")), text=str(post.get("message") or "").strip(), fields=fields,
    )  # fmt: skip


def _seconds(post: Post) -> float:
    at = moment(post.get("create_at"))
    return at.timestamp() if at else 0.0
