"""Follow-ups: a question that says little by itself borrows the telling words of the turns before it."""

from __future__ import annotations

from collections.abc import Sequence

from weftwork.query import STOP_WORDS, Question, words_of
from weftwork.request import Message
from weftwork.store.protocol import View
from weftwork.text.pointing import points_back

MOST_TURNS = 6
"""The turns that are looked at."""
MOST_WORDS = 6
"""The words that are borrowed of the user's own turns, and half as many of the answers."""


def said_before(view: View, question: Question, history: Sequence[Message]) -> tuple[str, ...]:
    """The rarest words of the latest turns, back to the question that they answer; none if it stands by itself."""
    if not history or not question.search.strip() or not points_back(question.text, len(question.words)):
        return ()
    asked: list[str] = []
    answered: list[str] = []
    for turn in history[: -MOST_TURNS - 1 : -1]:
        words = _telling(turn.text, question)
        if turn.role != "user":
            answered += words
            continue
        asked += words
        if words and not points_back(turn.text, len(words)):
            break
    words = list(dict.fromkeys((*asked, *answered)))
    unknown = set(view.unknown_words(words))
    idf = view.idf([word for word in words if word not in unknown])
    return tuple(dict.fromkeys((*_rarest(asked, idf, MOST_WORDS), *_rarest(answered, idf, MOST_WORDS // 2))))


def _telling(text: str, question: Question) -> list[str]:
    return [word for word in dict.fromkeys(words_of(text)) if word not in STOP_WORDS and word not in question.words]


def _rarest(words: Sequence[str], idf: dict[str, float], most: int) -> list[str]:
    known = [word for word in dict.fromkeys(words) if word in idf]
    return sorted(known, key=lambda word: (-idf[word], known.index(word)))[:most]
