"""The text of a model's answer, read from a copy of the bytes that go to the program."""

from __future__ import annotations

import json
from typing import Any

MOST_BYTES = 4_000_000


class AnswerReader:
    """Reads an answer as it passes, whole or as events; gives up on what is very long."""

    def __init__(self, content_type: str) -> None:
        self._events = content_type.startswith("text/event-stream")
        self._bytes = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if len(self._bytes) <= MOST_BYTES:
            self._bytes += chunk

    def read(self) -> tuple[str, str]:
        """The text and the id of the answer; empty where it has none, such as for a call of a tool."""
        if len(self._bytes) > MOST_BYTES:
            return "", ""
        text = self._bytes.decode("utf-8", "replace")
        try:
            if not self._events:
                return _whole(json.loads(text))
            lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
            return _streamed([json.loads(line) for line in lines if line != "[DONE]"])
        except (ValueError, AttributeError, TypeError, KeyError, IndexError):
            return "", ""


def _whole(answer: dict[str, Any]) -> tuple[str, str]:
    name = str(answer.get("id") or "")
    if "choices" in answer:
        return answer["choices"][0]["message"].get("content") or "", name
    parts = [part for item in answer.get("output", ()) for part in item.get("content") or ()]
    return "".join(part["text"] for part in parts if part.get("type") == "output_text"), name


def _streamed(events: list[dict[str, Any]]) -> tuple[str, str]:
    name, texts = "", list[str]()
    for event in events:
        kind = event.get("type", "")
        if kind == "response.output_text.delta":
            texts.append(event["delta"])
        elif kind.startswith("response."):
            name = name or str((event.get("response") or {}).get("id") or "")
        elif event.get("choices"):
            name = name or str(event.get("id") or "")
            texts.append(event["choices"][0].get("delta", {}).get("content") or "")
    return "".join(texts), name
