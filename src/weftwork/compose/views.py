"""Views: files in which a program keeps queries, layouts and settings, notes that only embed them, and templates."""

from __future__ import annotations

import re

from weftwork.query import Question
from weftwork.types import Candidate

WEIGHT = 0.6
"""The weight of a view beside what people write. It has the words of many questions, and seldom an answer."""
ENDINGS = (".base", ".canvas", ".css", ".edn", ".lock")
"""Endings of the names of such files."""
_EMBEDS = re.compile(r"\s*(?:!\[\[[^\]\n]*\.(?:base|canvas)(?:[#|][^\]\n]*)?\]\]\s*)+", re.IGNORECASE)
_TEMPLATE = re.compile(r"\s*---\n(?:(?!---\n).*\n)*?.*\{\{(?:date|time|title)\b")
"""Front matter with a place that a program fills in when it makes a note of it: it has every field, and no value."""
_NO_WORD = re.compile(r"[\W_]+")


def is_view(candidate: Candidate, question: Question) -> bool:
    """Return True for a view, a text that only embeds some, or a template; False where it is named."""
    if candidate.asked:
        return False
    title, text = candidate.node.title.casefold(), candidate.passage.text
    is_file = candidate.node.type == "file" and title.endswith(ENDINGS)
    if not is_file and _TEMPLATE.match(text) is None:
        return _EMBEDS.fullmatch(text) is not None
    return f" {_plain(title)} " not in f" {_plain(question.text.casefold())} "


def _plain(text: str) -> str:
    return " ".join(_NO_WORD.split(text)).strip()
