"""Follow-ups: a message that points to what was said before it borrows the words of that.

The words are English; in other languages every message stands by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from weftwork.query import COURTESIES, STOP_WORDS, is_courtesy, words_of
from weftwork.request import Message

POINTING = frozenset(
    """it its they them their he him his she her one ones first second third fourth fifth last former latter next
    previous other others another else both same again more continue go further yes yeah yep no nope why how example
    examples details detail elaborate explain expand summarize summarise shorter longer instead either neither
    mean meant say said above there then mine ours""".split()
)
PEOPLE = frozenset("he him his she her hers".split())
PERSONAL = PEOPLE | frozenset("they them their theirs".split())
"""Pronouns that always stand for something that was named; "it" also stands in "is it true that …"."""
PRONOUNS = PERSONAL | frozenset("it its one ones former latter there mine ours".split())
DEMONSTRATIVES = frozenset("this that these those".split())
ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "former": 0, "latter": -1}
MOST_OWN_WORDS = 8
"""A message with more words of its own says itself what it is about, but for those that pronouns name."""
LOOKED_BACK = 8
"""The turns that are looked at."""
MOST_OF_A_TURN = 400
"""Characters of an earlier turn that count."""
BORROWED = 0.7
"""The weight of a borrowed word beside the words of the message."""
_CONTINUES = re.compile(r"\s*(?:and|but|or|so|what about|how about|what if)\b", re.IGNORECASE)
_EXPLETIVE = re.compile(r"\b(?:is|was) it (?:true|right|correct|possible)(?: that)?\b", re.IGNORECASE)
_REFERS = re.compile(
    r"\b(?:does|did|do|like|for|with|about|how (?:is|was)|why (?:is|was)) that\b(?! [a-z]+ly)|\bthen\W*$"
    r"|\b(?:does|did|is|was|tells?|to|of|with|for|in|on|about|from|deploy|use|make) it\b",
    re.IGNORECASE,
)
"""Pronouns that are the subject or the object of a question, and "then" at its end."""
_LISTED = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+(.+)$", re.MULTILINE)
_NAME = re.compile(r"(?<=\s)[A-Z][\w'’-]*")
_PERSON = re.compile(rf"\b(?:{'|'.join(sorted(PERSONAL))})\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")


def is_follow_up(message: str) -> bool:
    """Return True for a message that points to what was said before it, such as "and the second one?"."""
    message = _EXPLETIVE.sub("", message)
    words = words_of(message)
    own = _own_words(words)
    if not own:
        return bool(words)
    if (not PERSONAL.isdisjoint(words) and not _is_named(message)) or _REFERS.search(message):
        return True
    if len(own) > MOST_OWN_WORDS or (not PERSONAL.isdisjoint(words) and _is_named(message)):
        return False
    return bool(_CONTINUES.match(message)) or not PRONOUNS.isdisjoint(words) or _stands_alone(words)


def spoken_of(message: str, turns: Sequence[Message]) -> str:
    """The text that a follow-up points to in the turns before it, the oldest first; "" for other messages.

    It is the last question that stands by itself, or else the first one. For a message without words of its own also
    the answer before it, or the part of that which is meant.
    """
    if not turns or not is_follow_up(message):
        return ""
    recent = list(turns[::-1][:LOOKED_BACK])
    asked = [turn.text for turn in recent if turn.role != "assistant" and not is_courtesy(turn.text)]
    questions = [text for text in asked if _own_words(words_of(text))]
    question = next((text for text in questions if not is_follow_up(text)), questions[-1] if questions else "")
    if question and _own_words(words_of(message)):
        return _person_meant(message, question) or question[:MOST_OF_A_TURN]
    reply = next((turn.text for turn in recent if turn.role == "assistant"), "")
    return "\n".join(filter(None, (_part_meant(message, reply)[:MOST_OF_A_TURN], question[:MOST_OF_A_TURN])))


def borrowed(spoken: str, message: str) -> Mapping[str, float]:
    """The words that a message borrows of what was spoken of, with their weight."""
    own = set(words_of(message))
    words = dict.fromkeys(_POSSESSIVE.sub("", word) for word in words_of(spoken))
    return {word: BORROWED for word in words if word not in STOP_WORDS and word not in own}


def _is_named(message: str) -> bool:
    """Return True if a message names somebody before its first personal pronoun, as in "Does Ada like her job?"."""
    name, pronoun = _NAME.search(message), _PERSON.search(message)
    return name is not None and pronoun is not None and name.start() < pronoun.start()


def _own_words(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in STOP_WORDS | POINTING | COURTESIES]


def _stands_alone(words: Sequence[str]) -> bool:
    """Return True if "this" or "those" has no noun behind it."""
    return any(word in DEMONSTRATIVES and after in STOP_WORDS for word, after in pairwise([*words, "is"]))


def _person_meant(message: str, question: str) -> str:
    """The names in a question, where "he" or "her" is all that a message takes from it."""
    words = set(words_of(message))
    if PEOPLE.isdisjoint(words) or not (PRONOUNS - PEOPLE).isdisjoint(words) or _REFERS.search(message):
        return ""
    return " ".join(_POSSESSIVE.sub("", name) for name in _NAME.findall(question) if name != "I")


def _part_meant(message: str, reply: str) -> str:
    """The entry of a list in the reply that "the second one" names; else the reply."""
    entries = _LISTED.findall(reply)
    places = [ORDINALS[word] for word in words_of(message) if word in ORDINALS]
    if places and len(entries) > max(places[0], 0):
        return str(entries[places[0]])
    return reply
