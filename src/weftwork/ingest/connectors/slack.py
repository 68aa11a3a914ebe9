"""Slack: the channels of a workspace export with their messages, threads and people."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.conversations import ChatMessage, Thread, message_node, thread_nodes
from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.exports import (
    Entry,
    Export,
    digest,
    export_sources,
    export_top,
    fingerprints,
    names_in,
    stamps,
)  # fmt: skip
from weftwork.ingest.connectors.protocol import Link, Listed, Named, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity
from weftwork.types import FieldValue, Node

LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
"""Lists of conversations: public and private channels, direct messages, group messages."""
_DAY = re.compile(r"(?:^|/)(?P<channel>[^/]+)/\d{4}-\d\d-\d\d\.json$")
_UNSAID = frozenset(
    "channel_join channel_leave group_join group_leave bot_add bot_remove pinned_item unpinned_item tombstone".split()
)
"""Kinds of message that nobody wrote."""
_MARK = re.compile(r"<(?P<sign>[@#!])?(?P<what>[^<>|]+)(?:\|(?P<label>[^<>]*))?>")
_MENTION = re.compile(r"<@([A-Z0-9]+)")
TITLE = 80


class Slack:
    """A workspace export: the zip or its folder."""

    name = "slack"
    summary = "Slack workspace export: its zip or its folder"
    version = 1

    def recognises(self, path: Path) -> float:
        """A path with the lists of channels and users, and a file per day below the name of a channel."""
        names = names_in(path)
        files = {name.rpartition("/")[2] for name in names}
        listed = "users.json" in files and not files.isdisjoint(LISTS)
        return 0.95 if listed and any(_DAY.search(name) for name in names) else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """The people, then a source for each channel."""
        top = export_top(path, "slack", "Slack")
        return export_sources(path, top, partial(_sources, top.id))


def _sources(top: str, export: Export) -> Iterator[Listed]:
    people, wrong = _people(export)
    yield from wrong
    yield _people_source(people, top)
    yield from _channels(export, people, top)


@dataclass(frozen=True, slots=True)
class _People:
    """The names and profiles of the users."""

    names: Mapping[str, str]
    profiles: Mapping[str, Mapping[str, Any]]
    digest: str
    prefix: str


def _people(export: Export) -> tuple[_People, list[Skipped]]:
    entry = next((file for file in export.files if file.name.rpartition("/")[2] == "users.json"), None)
    if entry is None:
        return _People({}, {}, "", ""), []
    users, wrong = _objects(entry)
    profiles = {user["id"]: user for user in users if isinstance(user.get("id"), str) and user["id"].isalnum()}
    names = {user_id: _name(user) or user_id for user_id, user in profiles.items()}
    content = digest(json.dumps(profiles, sort_keys=True))
    return _People(names, profiles, content, entry.name.removesuffix("users.json")), wrong


def _name(user: Mapping[str, Any]) -> str:
    """The display name of a person: the real name before the chosen one."""
    value = user.get("profile")
    profile = value if isinstance(value, dict) else {}
    names = (user.get("real_name"), profile.get("real_name"), profile.get("display_name"), user.get("name"))
    return next((name.strip() for name in names if isinstance(name, str) and name.strip()), "")


def _people_source(people: _People, top: str) -> Source:
    def read(source_id: str) -> Iterator[Yielded]:
        yield Node(id=source_id, type="folder", title="People", parent=top, source="slack:users")
        for place, (user, person) in enumerate(people.profiles.items()):
            profile = person.get("profile")
            details = profile if isinstance(profile, dict) else {}
            fields: dict[str, FieldValue] = {
                name: value for name in ("title", "email") if isinstance(value := details.get(name), str) and value
            }
            if person.get("name"):
                fields["handle"] = str(person["name"])
            node = f"{source_id}#{user}"
            yield Node(
                id=node, type="person", title=people.names[user], parent=source_id, position=place, fields=fields,
                source=f"slack:{user}",
            )  # fmt: skip
            yield Named(node, user, "id")
            yield Named(node, people.names[user])

    return Source(
        key="users", id=f"{top}/users", what="users.json", fingerprint=lambda: people.digest, read=read, movable=False
    )


def _channels(export: Export, people: _People, top: str) -> Iterator[Source | Skipped]:
    """A source for each folder of days, listed or not."""
    listed: dict[str, Mapping[str, Any]] = {}
    for name in LISTS:
        if entry := export.named(people.prefix + name):
            objects, wrong = _objects(entry)
            yield from wrong
            for item in objects:
                listed[str(item.get("name") or item.get("id"))] = item
    days: dict[str, list[Entry]] = {}
    for entry in export.files:
        if place := _DAY.search(entry.name):
            days.setdefault(place["channel"], []).append(entry)
    for name in sorted(days):
        channel = listed.get(name, {})
        channel_id = channel.get("id") if isinstance(channel.get("id"), str) else name
        about = (name, people.digest, json.dumps(channel, sort_keys=True))
        yield Source(
            key=f"channels/{channel_id}", id=identity("slack", str(channel_id)), what=f"#{name}", movable=False,
            stamp=stamps(days[name], *about), fingerprint=partial(fingerprints, days[name], *about),
            read=partial(_read_channel, name, channel, days[name], people, top),
        )  # fmt: skip


def _read_channel(
    name: str, channel: Mapping[str, Any], days: Sequence[Entry], people: _People, top: str, source_id: str
) -> Iterator[Yielded]:
    messages: dict[str, Mapping[str, Any]] = {}
    for day in days:
        objects, wrong = _objects(day)
        yield from wrong
        messages.update((str(message["ts"]).strip(), message) for message in objects if _is_said(message))
        if untimed := sum(message.get("type", "message") == "message" and "ts" not in message for message in objects):
            yield Skipped(f"#{name}: {day.name}", f"{untimed} messages have no time")
    threads: dict[str, list[str]] = {}
    for ts in sorted(messages, key=_seconds):
        root = messages[ts].get("thread_ts")
        threads.setdefault(str(root).strip() if moment(root) else ts, []).append(ts)
    title = _title(name, channel, people)
    alone = [(root, timestamps[0]) for root, timestamps in threads.items() if len(timestamps) == 1]
    times = [at for ts in messages if (at := moment(ts))]
    yield Node(
        id=source_id, type="thread", title=title, text=_topic(channel), parent=top, source=f"slack:{name}",
        created_at=moment(channel.get("created")) or min(times, default=None), updated_at=max(times, default=None),
    )  # fmt: skip
    for root, ts in alone:
        chat_message = _said(ts, messages[ts], people)
        yield message_node(chat_message, source_id, _place(root), top=source_id, source=f"slack:{name}")
        yield from _mentions(f"{source_id}#{chat_message.key}", messages[ts])
    for root, several in threads.items():
        if len(several) > 1:
            chat_messages = [_said(ts, messages[ts], people) for ts in several]
            thread = Thread(
                id=f"{source_id}#thread-{root}", title=_first_words(chat_messages[0].text), parent=source_id,
                position=_place(root),
                source=f"slack:{name}",
            )  # fmt: skip
            yield from thread_nodes(thread, chat_messages, source_id)
            for ts in several:
                yield from _mentions(f"{source_id}#{ts}", messages[ts])


def _is_said(message: Mapping[str, Any]) -> bool:
    """Return True for a message of a person or program that has text or files."""
    kind = message.get("subtype")
    return (
        message.get("type", "message") == "message"
        and moment(message.get("ts")) is not None
        and kind not in _UNSAID
        and (bool(_raw(message)) or bool(_files(message)))
    )


def _said(ts: str, message: Mapping[str, Any], people: _People) -> ChatMessage:
    user = str(message.get("user") or "")
    profile = message.get("user_profile")
    own_name = (profile.get("real_name") or profile.get("name")) if isinstance(profile, dict) else None
    author = people.names.get(user) or own_name or message.get("username") or user or "app"
    fields: dict[str, FieldValue] = {}
    if files := _files(message):
        fields["files"] = files
    robot = message.get("subtype") == "bot_message" or not user
    return ChatMessage(
        key=ts, role="assistant" if robot else "user", author=str(author), at=moment(ts),
        text=_shown(_raw(message), people), fields=fields,
    )  # fmt: skip


def _raw(message: Mapping[str, Any]) -> str:
    """The text of a message, or of its attachments if it has none."""
    text = message.get("text")
    if isinstance(text, str) and text.strip():
        return text
    attached = message.get("attachments")
    parts = [part for part in attached if isinstance(part, dict)] if isinstance(attached, list) else []
    return "\n\n".join(filter(None, map(_attached, parts)))


def _attached(part: Mapping[str, Any]) -> str:
    shown = [str(part[name]) for name in ("pretext", "title", "text") if part.get(name)]
    return "\n".join(shown) or str(part.get("fallback") or "")


def _files(message: Mapping[str, Any]) -> tuple[str, ...]:
    several = message.get("files")
    files = several if isinstance(several, list) else [message.get("file")]
    return tuple(str(file.get("title") or file.get("name") or "file") for file in files if isinstance(file, dict))


def _shown(text: str, people: _People) -> str:
    """The text as Slack shows it: names for ids, and links by their labels."""

    def shown(mark: re.Match[str]) -> str:
        sign, what, label = mark["sign"], mark["what"], mark["label"]
        if sign == "@":
            return "@" + (people.names.get(what) or label or what)
        if sign == "#":
            return "#" + (label or what)
        if sign == "!":
            return label or "@" + what.partition("^")[0]
        return f"{label} ({what})" if label and label != what.removeprefix("mailto:") else what.removeprefix("mailto:")

    return html.unescape(_MARK.sub(shown, text))


def _mentions(node: str, message: Mapping[str, Any]) -> Iterator[Link]:
    for user in dict.fromkeys(_MENTION.findall(_raw(message))):
        yield Link(source=node, names=(user,), label="mentions")


def _title(name: str, channel: Mapping[str, Any], people: _People) -> str:
    """The name of a channel, or the members of a direct message."""
    members = channel.get("members")
    if channel and "name" not in channel and isinstance(members, list):
        return ", ".join(people.names.get(str(member), str(member)) for member in members)
    return f"#{name}"


def _topic(channel: Mapping[str, Any]) -> str:
    parts = [channel.get(part) for part in ("topic", "purpose")]
    texts = [item.get("value") for item in parts if isinstance(item, dict)]
    return "\n\n".join(dict.fromkeys(html.unescape(text) for text in texts if isinstance(text, str) and text.strip()))


def _first_words(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE else line[:TITLE].rsplit(" ", 1)[0] + " …"


def _seconds(ts: str) -> tuple[float, str]:
    at = moment(ts)
    return (at.timestamp() if at else 0.0), ts


def _place(ts: str) -> int:
    """A position in the channel that no other message changes."""
    return int(_seconds(ts)[0] * 1_000_000)


def _objects(entry: Entry) -> tuple[list[Mapping[str, Any]], list[Skipped]]:
    """The objects of a JSON list, and what could not be read."""
    try:
        value = json.loads(entry.text())
    except (Refused, ValueError, RecursionError) as error:
        return [], [Skipped(entry.name, f"is not JSON ({error})" if not isinstance(error, Refused) else str(error))]
    if not isinstance(value, list):
        return [], [Skipped(entry.name, f"should hold a list, got {type(value).__name__}")]
    sound: list[Mapping[str, Any]] = [item for item in value if isinstance(item, dict)]
    wrong = len(value) - len(sound)
    return sound, [Skipped(entry.name, f"{wrong} of its entries are not objects")] if wrong else []
