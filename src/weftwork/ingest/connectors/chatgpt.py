"""ChatGPT: the conversations of a data export, each as the branch that the user saw last."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
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
from weftwork.ingest.events import Note, Refused
from weftwork.types import FieldValue

_UNSHOWN = frozenset({"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context", "system_error"})
"""Kinds of content that the page of a conversation does not show."""
_MARKERS = re.compile("\ue200[^\ue201]*\ue201|【\\d+[^】]*】")
"""Citation markers in the text of an answer."""
_CANVAS = "canmore."
"""The recipient of a text that the assistant writes beside the conversation."""


class ChatGPT(ChatExport):
    """Conversations of a data export."""

    name = "chatgpt"
    summary = "ChatGPT data export: conversations.json, its zip or its folder"
    title = "ChatGPT"
    mark = "mapping"
    ids = ("conversation_id", "id")

    def read(self, value: Mapping[str, Any], thread: Thread) -> Iterator[Yielded]:
        """Yield the thread and its messages."""
        mapping = value["mapping"]
        if not isinstance(mapping, dict):
            raise Refused(f"its messages are {type(mapping).__name__}, not an object")
        branch = _branch(mapping, value.get("current_node"))
        messages = [message for name in branch if (message := _said(name, mapping[name]))]
        if branch and _parent(mapping, branch[0]) is not None:
            yield Note(thread.title or thread.id, "its messages lead back to themselves: it begins where they do")
        model = next((message.fields["model"] for message in reversed(messages) if "model" in message.fields), None)
        fields: dict[str, FieldValue] = {"model": model} if model else {}
        yield from thread_nodes(
            replace(
                thread, created_at=moment(value.get("create_time")), updated_at=moment(value.get("update_time")),
                fields=fields,
            ),
            messages,
        )  # fmt: skip


def _branch(mapping: Mapping[str, Any], current: Any) -> list[str]:
    """The branch from the first message to the current one, or else to the latest."""
    if not isinstance(current, str) or current not in mapping:
        parents = {_parent(mapping, name) for name in mapping}
        leaves = [name for name in mapping if name not in parents] or list(mapping)
        current = max(leaves, key=lambda name: _written(mapping[name]), default=None)
    return upwards(current, lambda name: _parent(mapping, name)) if current is not None else []


def _parent(mapping: Mapping[str, Any], name: str) -> str | None:
    node = mapping.get(name)
    above = node.get("parent") if isinstance(node, dict) else None
    return above if isinstance(above, str) and above in mapping else None


def _written(node: Any) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    at = moment(message.get("create_time")) if isinstance(message, dict) else None
    return at.timestamp() if at else 0.0


def _said(name: str, node: Any) -> ChatMessage | None:
    """The displayed message; None if nothing was displayed."""
    message = node.get("message") if isinstance(node, dict) else None
    if not isinstance(message, dict) or not name.isprintable():
        return None
    author, metadata = _object(message, "author"), _object(message, "metadata")
    role, recipient = author.get("role"), message.get("recipient") or "all"
    if role not in ("user", "assistant") or metadata.get("is_visually_hidden_from_conversation"):
        return None
    content = _object(message, "content")
    text = _canvas(content) if str(recipient).startswith(_CANVAS) else _text(content) if recipient == "all" else ""
    if not text.strip():
        return None
    model = metadata.get("model_slug")
    fields: dict[str, FieldValue] = {"model": model} if isinstance(model, str) and model else {}
    return ChatMessage(key=name, role=role, text=text, at=moment(message.get("create_time")), fields=fields)


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    member = value.get(name)
    return member if isinstance(member, dict) else {}


def _text(content: Mapping[str, Any]) -> str:
    if str(content.get("content_type")) in _UNSHOWN:
        return ""
    parts = content.get("parts")
    if not isinstance(parts, list):
        return _MARKERS.sub("", str(content.get("text") or ""))
    return _MARKERS.sub("", "\n\n".join(filter(None, map(_part, parts)))).strip()


def _part(part: Any) -> str:
    """A part of a message: text, speech, or a placeholder for a picture or file."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("content_type") or "").removesuffix("_asset_pointer").removeprefix("real_time_user_")
    return f"[{kind.replace('_', ' ') or 'attachment'}]"


def _canvas(content: Mapping[str, Any]) -> str:
    """The text of a canvas; its later changes are patterns, not text."""
    try:
        written = json.loads(_text(content))
    except (ValueError, RecursionError):
        return ""
    text = written.get("content") if isinstance(written, dict) else None
    return f"{written.get('name') or ''}\n\n{text}".strip() if isinstance(text, str) else ""
