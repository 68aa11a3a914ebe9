"""Views: files in which a program keeps queries, layouts and settings, and notes that only embed them."""

from __future__ import annotations

import re

from weftwork.query import Question
from weftwork.types import Candidate

WEIGHT = 0.6
"""The weight of a view beside what people write. It has the words of many questions, and seldom an answer."""
ENDINGS = (".base", ".canvas", ".css", ".edn", ".lock")
"""Endings of the names of such files."""
_EMBEDS = re.compile(r"\s*(?:!\[\[[^\]\n]*\.(?:base|canvas)(?:[#|][^\]\n]*)?\]\]\s*)+", re.IGNORECASE)
_NO_WORD = re.compile(r"[\W_]+")


def is_view(candidate: Candidate, question: Question) -> bool:
    """Return True for a file that holds a view, or a text that only embeds some; False where it is named."""
    if candidate.asked:
        return False
    title = candidate.node.title.casefold()
    if candidate.node.type != "file" or not title.endswith(ENDINGS):
        return _EMBEDS.fullmatch(candidate.passage.text) is not None
    return f" {_plain(title)} " not in f" {_plain(question.text.casefold())} "


def _plain(text: str) -> str:
    return " ".join(_NO_WORD.split(text)).strip()
