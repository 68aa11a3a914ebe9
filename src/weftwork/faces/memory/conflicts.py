"""Likely duplicates and contradictions among memories, by rules that can be read.

Two statements are compared by the stems of their words, without the commonest. They contradict each other if they share
most of them, and one is negated, or their numbers, dates or names differ, or one or two words do in a statement that
holds for one value at a time ("prefers", "lives in"). They are duplicates if nothing of the kind differs.
`python -m benchmarks conflicts` measures it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from weftwork.faces.memory.types import Conflict, Memory
from weftwork.text.analysis import analyse

SAME = 0.88
"""The share of all words that duplicates have in common."""
ALIKE = 0.7
"""The share of the shorter one's words, beside what may differ, that contradictions have in common."""
ALIKE_LONGER = 0.6
"""The share of the longer one's words that they have in common: what else it says may be what is negated."""
FEW = 2
"""Words in which statements about the same subject may differ to contradict each other."""
LEAST = 2
"""The fewest words that statements with a conflict share."""
SHOWN = 3
"""Words of each statement that a reason names."""
PUNCTUATION = ".,;:!?()[]\"'“”‘’"
"""Marks around a word that are no part of it."""

_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|no longer|stopped|quit|(?:\w+)n['’]t)\b", re.I
)
_IDIOMS = re.compile(
    r"\b(?:can(?:not|['’]t) wait|no (?:wonder|doubt|problem)"
    r"|(?:not|never|\w+n['’]t) (?:\w+ )?(?:give up|giving up|quit|stop))\b",
    re.I,
)
"""Negations that negate nothing of what is said."""
_SPEAKER = re.compile(r"\A[^\W\d_][\w .'’-]{0,40}: ")
_SUBJECT = re.compile(r"[A-Z][\w’'-]+(?= [a-z])")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<![.!?:] )(?<!\A)\b[A-Z][\w’'-]+")
_VALUES = frozenset(
    analyse(
        "one two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand first "
        "second third january february march april june july august september october november december "
        "spring summer autumn winter monday tuesday wednesday thursday friday saturday sunday morning "
        "evening noon night"
    )
)
_SINGLE = frozenset(
    analyse(
        "favourite favorite prefers lives name called birthday born deadline due password email phone "
        "address job boss manager lead owner age colour color status plan decided chose uses married "
        "allergic moved costs budget"
    )
)
"""Words of statements that hold for one value at a time."""
_COMMON = frozenset(
    analyse(
        "a an the and or but of to in on at by for from with as is are was were be been being am do does did "
        "done have has had having i me my we us our you your he him his she her it its they them their this "
        "that these those there here will would can could should may might must shall so too very also just "
        "still now then than about into over up out who which what when where s t d ll m re ve not no never "
        "don doesn didn isn aren wasn weren won wouldn couldn shouldn can't cannot any some all more most "
        "really quite"
    )
)

Kind = Literal["duplicate", "contradiction"]


@dataclass(frozen=True, slots=True)
class _Statement:
    subject: str
    """Its speaker, or the name or noun that it begins with; empty if neither is known."""
    words: frozenset[str]
    values: frozenset[str]
    """Numbers, dates and names."""
    negated: bool

    @property
    def frame(self) -> frozenset[str]:
        return self.words - self.values


@lru_cache(maxsize=2048)
def _read(text: str) -> _Statement:
    speaker = _SPEAKER.match(text)
    said = text[speaker.end() :] if speaker else text
    words = [word for word in analyse(said.replace("’", "'")) if word not in _COMMON]
    names = {stem for name in _NAME.findall(said) for stem in analyse(name)}
    values = {word for word in words if _NUMBER.search(word) or word in _VALUES or word in names}
    return _Statement(
        _subject(speaker, said), frozenset(words), frozenset(values), bool(_NEGATIONS.search(_IDIOMS.sub("", said)))
    )


def _subject(speaker: re.Match[str] | None, said: str) -> str:
    if speaker is not None:
        return speaker[0]
    first = _SUBJECT.match(said)
    stems = analyse(first[0]) if first else []
    return stems[0] if stems and stems[0] not in _COMMON | _VALUES else ""


def compare(old: str, new: str) -> tuple[Kind, str] | None:
    """The kind of conflict between two statements and the reason for it; None if there is none."""
    one, other = _read(old), _read(new)
    shared = one.words & other.words
    apart = one.subject and other.subject and one.subject != other.subject
    if apart or not shared or len(shared) < min(LEAST, len(one.words), len(other.words)):
        return None
    only_old, only_new = one.words - other.words, other.words - one.words
    if one.negated != other.negated:
        return ("contradiction", "one of them is negated") if _alike(one.words, other.words) else None
    values_old, values_new = one.values - other.words, other.values - one.words
    if values_old and values_new and _alike(one.frame, other.frame):
        return "contradiction", f"{_written(old, values_old)} there, {_written(new, values_new)} here"
    if not values_old and not values_new and len(shared) >= SAME * len(one.words | other.words):
        return "duplicate", "the same words"
    single = shared & _SINGLE
    if single and 0 < len(only_old) <= FEW and 0 < len(only_new) <= FEW and _alike(one.words, other.words):
        return "contradiction", f"{_written(old, only_old)} there, {_written(new, only_new)} here"
    return None


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shorter, longer = sorted((len(one), len(other)))
    return len(one & other) >= max(1, ALIKE * shorter, ALIKE_LONGER * longer)


def _written(text: str, stems: frozenset[str]) -> str:
    """The first words of a text that have one of these stems, as it writes them."""
    words = (word.strip(PUNCTUATION) for word in text.split())
    return ", ".join(list(dict.fromkeys(word for word in words if not stems.isdisjoint(analyse(word))))[:SHOWN])


def conflicts(text: str, memories: Iterable[Memory]) -> Iterator[Conflict]:
    """The memories that a text probably repeats or contradicts, in their order."""
    for memory in memories:
        found = compare(memory.content, text)
        if found is not None:
            yield Conflict(memory, *found)


def content_words(text: str) -> frozenset[str]:
    """The stems of a text without the commonest words."""
    return _read(text).words


def adds_nothing(old: str, new: str) -> bool:
    """Return True if a statement has no word that the older one lacks."""
    return _read(new).words <= _read(old).words
