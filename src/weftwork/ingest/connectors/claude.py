"""Claude: the conversations of a data export, each as the branch that the user saw last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from weftwork.ingest.connectors.conversations import (
    ChatExport,
    ChatMessage,
    Thread,
    thread_nodes,
    upwards,
)  # fmt: skip
from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.protocol import Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.types import FieldValue, Node

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


class Claude(ChatExport):
    """Conversations of a data export."""

    name = "claude"
    summary = "Claude data export: conversations.json, its zip or its folder"
    title = "Claude"
    mark = "chat_messages"
    ids = ("uuid",)
    left_out = MappingProxyType({"projects.json": "projects with their documents"})

    def read(self, value: Mapping[str, Any], thread: Thread) -> Iterator[Yielded]:
        """Yield the thread and its messages."""
        messages = value["chat_messages"]
        if not isinstance(messages, list):
            raise Refused(f"its messages are {type(messages).__name__}, not a list")
        sound: list[Mapping[str, Any]] = [message for message in messages if isinstance(message, dict)]
        seen = _branch(sound, value.get("current_leaf_message_uuid"))
        chat_messages = {name: chat_message for name, message in seen.items() if (chat_message := _said(name, message))}
        summary = value.get("summary")
        yield from thread_nodes(
            replace(
                thread, created_at=moment(value.get("created_at")), updated_at=moment(value.get("updated_at")),
                text=summary if isinstance(summary, str) else "",
            ),
            list(chat_messages.values()),
        )  # fmt: skip
        for name in chat_messages:
            yield from _attached(seen[name], f"{thread.id}#{name}", thread.source)
        if len(sound) < len(messages):
            yield Skipped(thread.title or thread.id, f"{len(messages) - len(sound)} of its messages are not objects")


def _branch(messages: list[Mapping[str, Any]], leaf: Any) -> dict[str, Mapping[str, Any]]:
    """Messages by id, from the first to the current one; all of them without parent ids."""
    by_id = {_key(message, place): message for place, message in enumerate(messages)}

    def parent(name: str) -> str | None:
        above = by_id[name].get("parent_message_uuid")
        return above if isinstance(above, str) and above in by_id else None

    if not any(map(parent, by_id)):
        return by_id
    last = leaf if isinstance(leaf, str) and leaf in by_id else list(by_id)[-1]

    return {name: by_id[name] for name in upwards(last, parent)}


def _key(message: Mapping[str, Any], place: int) -> str:
    uuid = message.get("uuid")
    return uuid if isinstance(uuid, str) and uuid and uuid.isprintable() else f"message-{place + 1}"


def _said(name: str, message: Mapping[str, Any]) -> ChatMessage | None:
    role = _ROLES.get(str(message.get("sender")))
    text = _text(message)
    names = tuple(_file_name(file) for kind in ("attachments", "files") for file in _objects(message, kind))
    if role is None or not (text or names):
        return None
    fields: dict[str, FieldValue] = {"files": names} if names else {}
    return ChatMessage(key=name, role=role, text=text, at=moment(message.get("created_at")), fields=fields)


def _text(message: Mapping[str, Any]) -> str:
    """The displayed texts, without thinking and tool use."""
    blocks = [block for block in _objects(message, "content") if block.get("type") == "text"]
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    whole = message.get("text")
    return "\n\n".join(text for text in texts if text.strip()) or (whole if isinstance(whole, str) else "")


def _attached(message: Mapping[str, Any], above: str, source: str) -> Iterator[Node]:
    """Attached files whose text the export holds."""
    for place, file in enumerate(_objects(message, "attachments")):
        text = file.get("extracted_content")
        if isinstance(text, str) and text.strip():
            yield Node(
                id=f"{above}#file-{place + 1}", type="file", title=_file_name(file), text=text, parent=above,
                position=place, source=source, updated_at=moment(message.get("created_at")),
            )  # fmt: skip


def _objects(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    members = value.get(name)
    return [member for member in members if isinstance(member, dict)] if isinstance(members, list) else []


def _file_name(value: Mapping[str, Any]) -> str:
    return str(value.get("file_name") or "file")
