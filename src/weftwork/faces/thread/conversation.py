"""A message in its conversation: a question by itself, a follow-up, or a courtesy.

The words are English; in other languages every message is a question by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from weftwork.query import COURTESIES, STOP_WORDS, is_courtesy, words_of
from weftwork.types import Node

POINTING = frozenset(
    """it its they them their he him his she her one ones first second third fourth fifth last former latter next
    previous other others another else both same again more continue go further yes yeah yep no nope why how example
    examples details detail elaborate explain expand summarize summarise shorter longer instead either neither
    mean meant say said above""".split()
)
PRONOUNS = frozenset("it its they them their he him his she her one ones former latter".split())
DEMONSTRATIVES = frozenset("this that these those".split())
ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "former": 0, "latter": -1}
MOST_OWN_WORDS = 4
"""A message with more words of its own says itself what it is about."""
LOOKED_BACK = 8
MOST_OF_A_REPLY = 400
"""Characters of the reply before a follow-up that are searched for with it."""
_CONTINUES = re.compile(r"\s*(?:and|but|or|so|what about|how about|what if)\b", re.IGNORECASE)
_LISTED = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+(.+)$", re.MULTILINE)


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
    before = [node for node in recent if node.id != own]
    if is_courtesy(message):
        return Asked("", own)
    spoken = _spoken_of(message, before) if is_follow_up(message) else ""
    return Asked(f"{message}\n{spoken}" if spoken else message, own)


def is_follow_up(message: str) -> bool:
    """Return True for a message that points to what was said before it, such as "and the second one?"."""
    words = words_of(message)
    own = _own_words(words)
    if not own:
        return bool(words)
    if len(own) > MOST_OWN_WORDS:
        return False
    return bool(_CONTINUES.match(message)) or not PRONOUNS.isdisjoint(words) or _stands_alone(words)


def _own_words(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in STOP_WORDS | POINTING | COURTESIES]


def _stands_alone(words: Sequence[str]) -> bool:
    """Return True if "this" or "those" has no noun behind it."""
    return any(word in DEMONSTRATIVES and after in STOP_WORDS for word, after in pairwise([*words, "is"]))


def _spoken_of(message: str, before: Sequence[Node]) -> str:
    """The last question that says what it is about.

    For a message without words of its own also the answer before it, or the part of that which is meant.
    """
    recent = list(before[::-1][:LOOKED_BACK])
    questions = [node.text for node in recent if node.title != "assistant"]
    question = next((text for text in questions if not (is_follow_up(text) or is_courtesy(text))), "")
    reply = next((node.text for node in recent if node.title == "assistant"), "")
    if question and _own_words(words_of(message)):
        return question[:MOST_OF_A_REPLY]
    return "\n".join(filter(None, (_part_meant(message, reply)[:MOST_OF_A_REPLY], question[:MOST_OF_A_REPLY])))


def _part_meant(message: str, reply: str) -> str:
    """The entry of a list in the reply that "the second one" names; else the reply."""
    entries = _LISTED.findall(reply)
    places = [ORDINALS[word] for word in words_of(message) if word in ORDINALS]
    if places and len(entries) > max(places[0], 0):
        return str(entries[places[0]])
    return reply
