"""Acronyms that the workspace itself defines: a question with one form is searched for with the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from weftwork.query import STOP_WORDS, words_of
from weftwork.text.acronyms import acronyms_in, definitions

if TYPE_CHECKING:
    from weftwork.store.protocol import View

MOST_ACRONYMS = 3
READ = 10
"""Passages with an acronym in which its definition is looked for."""
ALIAS = 0.5
"""The weight of a word of the other form beside the words of the question."""


def long_forms(view: View, text: str) -> dict[str, float]:
    """The words that the acronyms of a text stand for by visible passages, with their weight."""
    own, words = set(words_of(text)), dict[str, float]()
    for acronym in acronyms_in(text)[:MOST_ACRONYMS]:
        hits = view.search_words(acronym, limit=READ)
        for record in view.load([hit.key for hit in hits]):
            long = _folded(definitions(record.passage.text)).get(acronym.casefold())
            if long is not None:
                telling = (word for word in words_of(long) if word not in STOP_WORDS and word not in own)
                words |= dict.fromkeys(telling, ALIAS)
                break
    return words


def short_forms(texts: Iterable[str], question: str) -> dict[str, float]:
    """The acronyms that texts define for what a question spells out, with their weight."""
    asked, own = " ".join(words_of(question)), set(words_of(question))
    return {
        word: ALIAS
        for text in texts
        for short, long in definitions(text).items()
        if " ".join(words_of(long)) in asked
        for word in words_of(short)
        if word not in own
    }


def _folded(defined: dict[str, str]) -> dict[str, str]:
    return {short.casefold(): long for short, long in defined.items()}
