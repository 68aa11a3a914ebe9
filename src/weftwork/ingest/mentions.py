"""Mentions: titles that occur in a text without being linked.

A title is matched as whole words. One of several words is matched in any case, a single word only as the title writes
it (or with a capital at the start of a sentence): a page called "Bill" is not meant by every bill. Very short titles,
numbers and everyday words are never matched. Fenced code, the address of a link and a name with dots (`log.html`) are
ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from weftwork.ingest.fold import fold
from weftwork.ingest.stop_titles import EVERYDAY

MENTION = "mention"
EDITION = 3
"""Incremented when the matching changes: then all texts are searched again."""
WEIGHT = 0.3
"""Of the edge, beside 1 for a link that somebody made."""
SHORTEST = 4
"""Characters of a title of one word; scripts that are written without spaces need two."""
FEW = 50
"""Up to this many words, a substring test comes before the text is tokenised: it is quicker."""
_WORD = re.compile(r"\w+")
_WORDS = "".join(letter if letter == "_" or letter.isalnum() else " " for letter in map(chr, range(128)))
"""ASCII with a space for all that parts words."""
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.S | re.M)
_ADDRESS = re.compile(r"(?<=\])\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|(?<=\[\[)[^\[\]|\n]*\||\b\w{2,12}://[!-~]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Mention:
    """An occurrence of a node's title or alias in a text."""

    source: str
    target: str
    name: str
    """The title or alias, as it is written there where it names the node."""


@dataclass(frozen=True, slots=True)
class _Title:
    written: str
    folded: str
    target: str
    words: frozenset[str]
    exact: bool
    """Case matters."""


def mentionable(title: str) -> bool:
    """Return True if a title is distinctive enough to be searched for."""
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
    """Searches a text for many titles at once: only for those whose longest word occurs in it."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._by_word: dict[str, list[_Title]] = {}
        self._unspaced: list[_Title] = []
        for title, target in titles.items():
            if not mentionable(title):
                continue
            folded = fold(title)
            words = _WORD.findall(folded)
            sought = _Title(" ".join(title.split()), folded, target, frozenset(words), exact=len(words) == 1)
            if _UNSPACED.search(folded):
                self._unspaced.append(sought)
            else:
                self._by_word.setdefault(max(words, key=len), []).append(sought)

    def find(self, source: str, text: str) -> list[Mention]:
        """The mentions in a text, one per node, in order; a title within a longer one does not count."""
        text = text if text.isascii() else unicodedata.normalize("NFC", text)
        folded = text.casefold()
        if not self._unspaced and len(self._by_word) <= FEW and not any(word in folded for word in self._by_word):
            return []
        # What is left out below takes words away, but for the rest of a word that an address ends in.
        if not self._unspaced and (text.isascii() or "://" not in text) and not self._candidates(folded):
            return []
        text = _prose(text)
        folded = text.casefold()
        candidates = self._candidates(folded)
        if not candidates and not self._unspaced:
            return []
        even, written = " ".join(folded.split()), " ".join(text.split())
        spans = sorted(
            (start, -end, sought.written, sought.target)
            for sought in (*candidates, *self._unspaced)
            for start, end in _spans(sought, even, written)
        )
        mentions: dict[str, Mention] = {}
        reached = -1
        for _, end, name, target in spans:
            if -end > reached:
                reached = -end
                mentions.setdefault(target, Mention(source, target, name))
        return list(mentions.values())

    def _candidates(self, folded: str) -> list[_Title]:
        """The titles whose words all occur in a text."""
        words = set(folded.translate(_WORDS).split() if folded.isascii() else _WORD.findall(folded))
        return [
            sought for word in self._by_word.keys() & words for sought in self._by_word[word] if sought.words <= words
        ]


def find_mentions(texts: Iterable[tuple[str, str]], titles: Mapping[str, str]) -> Iterator[Mention]:
    """Yield the mentions of titles in (id, text) pairs, except those of a text's own title."""
    finder = MentionFinder(titles)
    for source, text in texts:
        yield from (mention for mention in finder.find(source, text) if mention.target != source)


def _prose(text: str) -> str:
    """The text without fenced code and addresses, which are full of names of other things."""
    if "```" in text or "~~~" in text:
        text = _FENCED.sub(" ", text)
    return _ADDRESS.sub(" ", text) if "](" in text or "[[" in text or "://" in text else text


def _spans(sought: _Title, even: str, written: str) -> Iterator[tuple[int, int]]:
    """The spans at which a title occurs as whole words."""
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
    """Return True if two characters belong to one word."""
    both = one + other
    return (
        len(both) == 2
        and all(character.isalnum() or character == "_" for character in both)
        and not _UNSPACED.search(both)
    )


def _same_case(sought: _Title, even: str, written: str, start: int, end: int) -> bool:
    """Return True if a word has the case of the title; folding changes the length of a few letters."""
    here = written[start:end] if len(even) == len(written) else ""
    title = sought.written
    return here in ("", title, title[:1].upper() + title[1:])
