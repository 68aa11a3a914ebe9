"""The bodies of chat completions and of responses: what was said, and where sources are put into them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weftwork.request import Message

SYSTEM = ("system", "developer")
ROLES = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Format:
    """The names that one of the two interfaces has for the parts of its body."""

    path: str
    messages: str
    text: str
    """The type of a part of a user's message that is text."""
    instructions: str | None
    """The field beside the messages that has the instructions; None where they are a message."""


CHAT = Format("chat/completions", "messages", "text", None)
RESPONSES = Format("responses", "input", "input_text", "instructions")
FORMATS = {each.path: each for each in (CHAT, RESPONSES)}


class Body:
    """A request of a program, which stays as it is but for what is put into it."""

    def __init__(self, form: Format, body: dict[str, Any]) -> None:
        self._form = form
        self._body = body
        given = body.get(form.messages)
        given = [{"role": "user", "content": given}] if isinstance(given, str) else given
        self._messages = given if isinstance(given, list) else []

    @property
    def rules(self) -> str:
        """The instructions of the program."""
        named = self._body.get(self._form.instructions) if self._form.instructions else None
        texts = [text_of(each) for each in self._messages if _role(each) in SYSTEM]
        return "\n\n".join(filter(None, [named if isinstance(named, str) else "", *texts]))

    @property
    def said(self) -> list[Message]:
        """The texts of users and the model, in order; what is no text is left out."""
        spoken = [Message(_role(each), text_of(each)) for each in self._messages if _role(each) in ROLES]
        return [message for message in spoken if message.text.strip()]

    @property
    def earlier(self) -> str | None:
        """The id of the response that this one goes on from."""
        named = self._body.get("previous_response_id") if self._form is RESPONSES else None
        return named if isinstance(named, str) else None

    def with_sources(self, head: str, prefixes: Sequence[str]) -> bytes:
        """The body with standing memories after its instructions, and sources before the users' messages."""
        left = list(prefixes)
        messages = []
        for each in self._messages:
            asks = _role(each) == "user" and text_of(each).strip()
            prefix = left.pop(0) if asks and left else ""
            messages.append(self._prefixed(each, prefix) if prefix else each)
        body = {**self._body, self._form.messages: messages} if any(prefixes) else dict(self._body)
        if head:
            self._add_head(body, head)
        return json.dumps(body, ensure_ascii=False).encode()

    def _prefixed(self, message: dict[str, Any], prefix: str) -> dict[str, Any]:
        content = message["content"]
        if isinstance(content, str):
            return {**message, "content": prefix + content}
        return {**message, "content": [{"type": self._form.text, "text": prefix}, *content]}

    def _add_head(self, body: dict[str, Any], head: str) -> None:
        named = self._form.instructions
        if named is not None:
            before = body.get(named)
            body[named] = f"{before}\n\n{head}" if isinstance(before, str) and before else head
            return
        messages = list(body[self._form.messages])
        # After the program's own instructions, which stay the beginning of what a provider caches.
        place = next((index for index, each in enumerate(messages) if _role(each) not in SYSTEM), len(messages))
        body[self._form.messages] = [*messages[:place], {"role": "system", "content": head}, *messages[place:]]


def _role(message: Any) -> str:
    return str(message.get("role", "")) if isinstance(message, dict) else ""


def text_of(message: Any) -> str:
    """The text of a message, whose content may be a list of parts."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n\n".join(texts)
