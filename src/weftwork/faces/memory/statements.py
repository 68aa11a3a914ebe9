"""Turns of a conversation, and the statements in them that are worth remembering, by rules that can be read.

A sentence of anybody but the assistant is kept if it is no question, begins with no greeting, thanks or mere reaction,
has at least two words beside the commonest, and says something in particular: it speaks of the speaker ("I", "my",
"we"), or has a number, a date, a name, or a word like "yesterday". `python -m benchmarks memory` measures what is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from weftwork.clock import aware
from weftwork.errors import InvalidInput
from weftwork.faces.memory.conflicts import content_words
from weftwork.faces.memory.recipe import RELATIVE
from weftwork.identity import text_hash
from weftwork.request import Message
from weftwork.text.sentences import split_sentences

FEWEST_WORDS = 2
SILENT = frozenset({"system", "tool", "developer", "function"})
"""Roles whose messages are no part of what people said."""
ASSISTANT = "assistant"
USER = "user"

_REACTION = re.compile(
    r"(?:hi|hey|hello|thanks|thank you|thx|wow|yeah|yep|yes|no|nope|ok|okay|sure|great|good|nice|cool|awesome|amazing"
    r"|wonderful|congrats|congratulations|absolutely|definitely|totally|exactly|that'?s|that is|that sounds|sounds|glad"
    r"|so glad|i'?m (?:so )?glad|i'?m happy for|i hope|hope|i (?:totally |100% )?agree"
    r"|i know|i see|you'?re|you are|you'?ve|let me know|take care|bye|goodbye|see you"
    r"|keep|good luck|looking forward|no problem|of course|have (?:fun|a))"
    r"\b[^,;:]{0,200}\Z",
    re.IGNORECASE,
)
"""Begins a sentence without a comma that only answers what was said before."""
_INTERJECTION = re.compile(
    r"(?:(?:hi|hey|hello|thanks|thank you|wow|yeah|yep|yes|no|nope|ok|okay|oh|aww?|well|so|sure|cool|congrats|bye"
    r"|absolutely|definitely|totally|exactly|by the way)(?: so much| again)?(?: [A-Z]\w+)?[,!.]+\s+)+",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(r",? [A-Z][\w'’-]+(?=[.!]*\Z)|\A[A-Z][\w'’-]+, ")
"""The name of the one who is spoken to, at either end."""
_SELF = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b|\bI['’]")
_PARTICULAR = re.compile(r"\d|(?<![.!?] )(?<!\A)\b[A-Z][a-z]+")


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as it was said."""

    id: str
    speaker: str
    text: str
    at: datetime | None = None


def read_turns(messages: Iterable[Message | Mapping[str, Any]]) -> list[Turn]:
    """The turns of a conversation; those without an id are named by their place and words."""
    if isinstance(messages, str | Mapping):
        raise InvalidInput("messages must be a list of messages: put it into a list")
    turns: list[Turn] = []
    for place, message in enumerate(messages):
        said = _fields(message)
        speaker = _first(said, "speaker", "name", "role") or USER
        text = _first(said, "text", "content")
        if not isinstance(text, str) or not isinstance(speaker, str):
            raise InvalidInput(f"message {place} needs a role and a text: give {{'role': 'user', 'content': '…'}}")
        name = str(_first(said, "id") or f"{place}-{text_hash(f'{speaker}: {text}')[:8]}")
        if text.strip() and speaker not in SILENT:
            turns.append(Turn(name, speaker, text, _moment(_first(said, "at", "created_at", "timestamp"), place)))
    return turns


def statements(turn: Turn) -> Iterator[str]:
    """The sentences of a turn that are worth remembering, each with its speaker where that is not the user."""
    if turn.speaker == ASSISTANT:
        return
    for sentence in split_sentences(turn.text):
        if _is_salient(sentence.text):
            yield sentence.text if turn.speaker == USER else f"{turn.speaker}: {sentence.text}"


def _is_salient(sentence: str) -> bool:
    text = _INTERJECTION.sub("", _ADDRESSED.sub("", sentence), count=1) if "," in sentence else sentence
    if text.rstrip("\"'”’)").endswith("?") or len(content_words(text)) < FEWEST_WORDS or _REACTION.match(text):
        return False
    return any(pattern.search(text) for pattern in (_SELF, _PARTICULAR, RELATIVE))


def _fields(message: Message | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(message, Mapping):
        return message
    if isinstance(message, Message):
        return {"role": message.role, "text": message.text, "at": message.at}
    raise InvalidInput(f"a message must be a mapping or a Message, got {message!r}")


def _first(said: Mapping[str, Any], *names: str) -> Any:
    return next((said[name] for name in names if said.get(name) is not None), None)


def _moment(value: object, place: int) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(f"message {place} has the time {value!r}: write it as 2026-03-01T12:00:00Z") from None
    if value is not None and not isinstance(value, datetime):
        raise InvalidInput(f"message {place} has the time {value!r}: give a datetime, or text in ISO 8601")
    return None if value is None else aware(value)
