"""A message in its conversation: a question by itself, a follow-up, or a courtesy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weftwork.collect.follow_up import spoken_of
from weftwork.query import is_courtesy
from weftwork.request import Message
from weftwork.types import Node


@dataclass(frozen=True, slots=True)
class Asked:
    """A message as it is searched for."""

    query: str
    """Its text, with what was spoken of where it only points there; empty for a courtesy."""
    own: str | None
    """The id of the message itself, if it is stored already: it is no source of itself."""


def asked(message: str, recent: Sequence[Node]) -> Asked:
    """Read a message after the latest ones of its thread, the oldest of these first."""
    stored = [node for node in recent[-3:] if node.text.strip() == message.strip()]
    own = stored[-1].id if stored else None
    if is_courtesy(message):
        return Asked("", own)
    spoken = spoken_of(message, [Message(node.title, node.text) for node in recent if node.id != own])
    return Asked(f"{message}\n{spoken}" if spoken else message, own)
