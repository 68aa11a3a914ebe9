"""Where a title occurs in a text without being linked.

A title is looked for as whole words. One of several words is found in any case, a single word only as the title writes
it (or with a capital at the start of a sentence): a page called "Bill" is not meant by every bill. Very short titles,
numbers and everyday words are not looked for at all. What stands in fenced code, in the address of a link or in a name
with dots (`log.html`) is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from weftwork.ingest.fold import fold
from weftwork.ingest.stop_titles import EVERYDAY

MENTION = "mention"
EDITION = 2
"""Raised when titles are found otherwise: then all texts are looked through again."""
WEIGHT = 0.3
"""Of the edge, beside 1 for a link that somebody made."""
SHORTEST = 4
"""Characters of a title of one word; scripts that are written without spaces need two."""
FEW = 50
"""Words up to which a text is first asked whether it holds any of them: quicker than taking it apart."""
_WORD = re.compile(r"\w+")
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.S | re.M)
_ADDRESS = re.compile(r"(?<=\])\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|(?<=\[\[)[^\[\]|\n]*\||\b\w{2,12}://[!-~]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Mention:
    """That a text says what a node is called."""

    source: str
    target: str
    name: str
    """The title or alias, as it is written there where it names the node."""


@dataclass(frozen=True, slots=True)
class _Sought:
    written: str
    folded: str
    target: str
    words: frozenset[str]
    exact: bool
    """Whether case matters."""


def mentionable(title: str) -> bool:
    """Whether a title says enough to be looked for."""
    folded = fold(title)
    if _UNSPACED.search(folded):
        return len(folded) >= 2
    words = _WORD.findall(folded)
    if not any(any(letter.isalpha() for letter in word) for word in words):
        return re.fullmatch(r"\d{4}-\d\d-\d\d", folded) is not None
    if len(words) == 1:
        return len(folded) >= SHORTEST and folded not in EVERYDAY
    return not all(word in EVERYDAY for word in words) or len(words) > 3


class MentionFinder:
    """Looks for many titles at once: for each text, only for those whose longest word stands in it."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._by_word: dict[str, list[_Sought]] = {}
        self._unspaced: list[_Sought] = []
        for title, target in titles.items():
            if mentionable(title):
                self._seek(title, target)

    def _seek(self, title: str, target: str) -> None:
        folded = fold(title)
        words = _WORD.findall(folded)
        sought = _Sought(" ".join(title.split()), folded, target, frozenset(words), exact=len(words) == 1)
        if _UNSPACED.search(folded):
            self._unspaced.append(sought)
        else:
            self._by_word.setdefault(max(words, key=len), []).append(sought)

    def find(self, source: str, text: str) -> list[Mention]:
        """The mentions in a text, each node once, the first first; a title within a longer one does not count."""
        text = text if text.isascii() else unicodedata.normalize("NFC", text)
        folded = text.casefold()
        if not self._unspaced and len(self._by_word) <= FEW and not any(word in folded for word in self._by_word):
            return []
        text = _prose(text)
        folded = text.casefold()
        words = set(_WORD.findall(folded))
        candidates = [
            sought for word in self._by_word.keys() & words for sought in self._by_word[word] if sought.words <= words
        ]
        if not candidates and not self._unspaced:
            return []
        even, written = " ".join(folded.split()), " ".join(text.split())
        spans = sorted(
            (start, -end, sought.written, sought.target)
            for sought in (*candidates, *self._unspaced)
            for start, end in _spans(sought, even, written)
        )
        found: dict[str, Mention] = {}
        reached = -1
        for _, end, name, target in spans:
            if -end > reached:
                reached = -end
                found.setdefault(target, Mention(source, target, name))
        return list(found.values())


def find_mentions(texts: Iterable[tuple[str, str]], titles: Mapping[str, str]) -> Iterator[Mention]:
    """Mentions in texts, given as (id, text), of nodes, given by their titles and aliases; never of the text itself."""
    finder = MentionFinder(titles)
    for source, text in texts:
        yield from (mention for mention in finder.find(source, text) if mention.target != source)


def _prose(text: str) -> str:
    """A text without code that stands by itself and without addresses, which are full of names of other things."""
    if "```" in text or "~~~" in text:
        text = _FENCED.sub(" ", text)
    return _ADDRESS.sub(" ", text) if "](" in text or "[[" in text or "://" in text else text


def _spans(sought: _Sought, even: str, written: str) -> Iterator[tuple[int, int]]:
    """Where a title stands as whole words."""
    start = even.find(sought.folded)
    while start >= 0:
        end = start + len(sought.folded)
        if _is_whole(even, start, end) and (not sought.exact or _same_case(sought, even, written, start, end)):
            yield start, end
        start = even.find(sought.folded, start + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    joined = _joined(text[start - 1 : start], text[start]) or _joined(text[end - 1], text[end : end + 1])
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    dotted = (before[-1:] == "." and before[0].isalnum()) or (after[:1] == "." and after[-1].isalnum())
    return not joined and not dotted


def _joined(one: str, other: str) -> bool:
    """Whether two characters belong to one word."""
    both = one + other
    return len(both) == 2 and all(each.isalnum() or each == "_" for each in both) and not _UNSPACED.search(both)


def _same_case(sought: _Sought, even: str, written: str, start: int, end: int) -> bool:
    """Whether a single word is written as the title writes it; a few letters change in length without their case."""
    here = written[start:end] if len(even) == len(written) else ""
    title = sought.written
    return here in ("", title, title[:1].upper() + title[1:])
