"""More text than there is: real documents again and again, varied so that statistics stay natural.

A copy swaps sentences between neighbouring paragraphs, replaces a share of its words by words drawn
from the same data set as often as they occur there, and changes the digits of numbers. Replacing words
at random places by words drawn by frequency leaves the frequencies of words as they were.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from benchmarks.corpus import Document

REPLACED = 0.25
"""Share of words: of three in a row, 42 % stay, so that no copy counts as a near-duplicate."""
SWAPPED = 0.3
"""Share of paragraphs that exchange a sentence with the next one."""

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")


def endless(documents: Sequence[Document], seed: int) -> Iterator[Document]:
    """The documents in a random order, first as they are, then in ever new variations."""
    words = words_by_origin(documents)
    order = list(range(len(documents)))
    random.Random(f"order/{seed}").shuffle(order)
    copy = 0
    while True:
        for index in order:
            document = documents[index]
            if copy == 0:
                yield document
            else:
                rng = random.Random(f"vary/{seed}/{copy}/{index}")
                yield varied(document, words[document.origin], rng, copy)
        copy += 1


def words_by_origin(documents: Sequence[Document]) -> Mapping[str, list[str]]:
    """All words of each data set, as often as they occur."""
    found: dict[str, list[str]] = {}
    for document in documents:
        for paragraph in document.paragraphs:
            found.setdefault(document.origin, []).extend(_WORD.findall(paragraph))
    return found


def varied(document: Document, words: Sequence[str], rng: random.Random, copy: int) -> Document:
    """A document that reads like this one and says something else."""
    paragraphs = _swapped(document.paragraphs, rng)
    return Document(
        document.origin,
        f"{_reworded(document.title, words, rng)} {copy + 1}",
        tuple(_reworded(paragraph, words, rng) for paragraph in paragraphs),
    )


def _swapped(paragraphs: Sequence[str], rng: random.Random) -> list[str]:
    split = [_SENTENCE_END.split(paragraph) for paragraph in paragraphs]
    for left, right in pairwise(split):
        if rng.random() < SWAPPED and len(left) > 1 and len(right) > 1:
            here, there = rng.randrange(len(left)), rng.randrange(len(right))
            left[here], right[there] = right[there], left[here]
    changed = zip(paragraphs, split, strict=True)
    return [text if len(sentences) == 1 else " ".join(sentences) for text, sentences in changed]


def _reworded(text: str, words: Sequence[str], rng: random.Random) -> str:
    chance, count = rng.random, len(words)

    def other(match: re.Match[str]) -> str:
        word = match[0]
        if word.isdecimal():
            return "".join(str(int(chance() * 10)) for _ in word)
        return words[int(chance() * count)] if chance() < REPLACED else word

    return _WORD.sub(other, text)
