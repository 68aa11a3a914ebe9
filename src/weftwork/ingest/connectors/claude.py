"""Claude: the conversations of a data export, each as the branch that the person saw last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.conversations import (
    ChatFormat,
    Said,
    Thread,
    chat_sources,
    recognises_chats,
    thread_nodes,
    upwards,
)  # fmt: skip
from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.protocol import Source, Unread, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.types import FieldValue, Node

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


class Claude:
    """Conversations of a data export: the zip, its folder, or `conversations.json`."""

    name = "claude"
    summary = "Claude data export: conversations.json, its zip or its folder"
    version = 1

    def recognises(self, path: Path) -> float:
        """By what the first conversation holds."""
        return recognises_chats(path, _FORMAT)

    def sources(self, path: Path) -> Iterator[Source | Unread | Skipped]:
        """A source for each conversation."""
        return chat_sources(path, _FORMAT)


def _read(value: Mapping[str, Any], thread: Thread) -> Iterator[Yielded]:
    messages = value["chat_messages"]
    if not isinstance(messages, list):
        raise Refused(f"its messages are {type(messages).__name__}, not a list")
    sound: list[Mapping[str, Any]] = [each for each in messages if isinstance(each, dict)]
    seen = _branch(sound, value.get("current_leaf_message_uuid"))
    said = {name: one for name, message in seen.items() if (one := _said(name, message))}
    summary = value.get("summary")
    yield from thread_nodes(
        replace(
            thread, created_at=moment(value.get("created_at")), updated_at=moment(value.get("updated_at")),
            text=summary if isinstance(summary, str) else "",
        ),
        list(said.values()),
    )  # fmt: skip
    for name in said:
        yield from _attached(seen[name], f"{thread.id}#{name}", thread.source)
    if len(sound) < len(messages):
        yield Skipped(thread.title or thread.id, f"{len(messages) - len(sound)} of its messages are not objects")


def _branch(messages: list[Mapping[str, Any]], leaf: Any) -> dict[str, Mapping[str, Any]]:
    """Messages by id, from the first to the one that was open; all of them where nothing says what follows what."""
    known = {_key(message, place): message for place, message in enumerate(messages)}

    def parent(name: str) -> str | None:
        above = known[name].get("parent_message_uuid")
        return above if isinstance(above, str) and above in known else None

    if not any(map(parent, known)):
        return known
    last = leaf if isinstance(leaf, str) and leaf in known else list(known)[-1]

    return {name: known[name] for name in upwards(last, parent)}


def _key(message: Mapping[str, Any], place: int) -> str:
    known = message.get("uuid")
    return known if isinstance(known, str) and known and known.isprintable() else f"message-{place + 1}"


def _said(name: str, message: Mapping[str, Any]) -> Said | None:
    role = _ROLES.get(str(message.get("sender")))
    text = _text(message)
    names = tuple(_file_name(each) for kind in ("attachments", "files") for each in _objects(message, kind))
    if role is None or not (text or names):
        return None
    fields: dict[str, FieldValue] = {"files": names} if names else {}
    return Said(key=name, role=role, text=text, at=moment(message.get("created_at")), fields=fields)


def _text(message: Mapping[str, Any]) -> str:
    """What was shown: the texts, without what was thought and which tools were used."""
    blocks = [block for block in _objects(message, "content") if block.get("type") == "text"]
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    whole = message.get("text")
    return "\n\n".join(text for text in texts if text.strip()) or (whole if isinstance(whole, str) else "")


def _attached(message: Mapping[str, Any], above: str, source: str) -> Iterator[Node]:
    """Files whose text the export holds."""
    for place, each in enumerate(_objects(message, "attachments")):
        text = each.get("extracted_content")
        if isinstance(text, str) and text.strip():
            yield Node(
                id=f"{above}#file-{place + 1}", type="file", title=_file_name(each), text=text, parent=above,
                position=place, source=source, updated_at=moment(message.get("created_at")),
            )  # fmt: skip


def _objects(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = value.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _file_name(value: Mapping[str, Any]) -> str:
    return str(value.get("file_name") or "file")


_LEFT_OUT = {"projects.json": "projects with their documents"}
_FORMAT = ChatFormat("claude", "Claude", "chat_messages", ("uuid",), _read, _LEFT_OUT)
