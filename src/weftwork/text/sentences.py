"""Sentence splitting without a model: punctuation, line breaks and list items."""

from __future__ import annotations

import re
from dataclasses import dataclass

# One run of white space is one match, so that the time is linear in the text.
_GAP = re.compile(r"\s+|[。！？][。！？」』”’）]*")
_ENDED = re.compile(r"[.!?…؟۔।][\"'”’»)\]*_]*$")
_UNFINISHED = re.compile(
    r"(?:^|[\s(\"'])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|Fig|Eq|vs|cf|e\.g|i\.e|approx|ca)\.$"
    r"|(?:^|\n)\s*\d{1,3}\.$"
)
_LIST_ITEM = re.compile(r"(?:[-*+•>|#]|\d{1,3}[.)])")
_GOES_ON = re.compile(r"`(?!``)|\(|\[[^\[\]\n]*\]\(")
"""Code, a bracket or a link at the beginning of a line."""
_BLOCK_LINE = re.compile(r"[ \t]*[#|]")
_WRAPPED = 40
"""A shorter line was not wrapped: it ends where its author ended it."""
_LOOK_BACK = 12
"""Longer than any abbreviation above with what may stand around it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its place in the text."""

    start: int
    end: int
    text: str


def split_sentences(text: str) -> list[Sentence]:
    """Sentences in order, without the white space around them; together they hold all the rest."""
    sentences: list[Sentence] = []
    start = 0
    for gap in _GAP.finditer(text):
        if gap.group()[0] in "。！？":
            end = gap.end()
        elif _breaks(text, gap):
            end = gap.start()
        else:
            continue
        _append(sentences, text, start, end)
        start = gap.end()
    _append(sentences, text, start, len(text))
    return sentences


def _append(sentences: list[Sentence], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    body = piece.strip()
    if body:
        start += len(piece) - len(piece.lstrip())
        sentences.append(Sentence(start, start + len(body), body))


def _breaks(text: str, gap: re.Match[str]) -> bool:
    lines = gap.group().count("\n")
    following = text[gap.end() : gap.end() + 1]
    before = text[max(0, gap.start() - _LOOK_BACK) : gap.start()]
    if lines > 1 or (lines and _LIST_ITEM.match(text, gap.end())):
        return True
    # A line that goes on in lower case was wrapped; so was an abbreviation's sentence.
    if following.islower() or (_UNFINISHED.search(before) and not lines):
        return False
    if lines and _GOES_ON.match(text, gap.end()) and not _ENDED.search(before) and not before.endswith(":"):
        line = text[text.rfind("\n", 0, gap.start()) + 1 : gap.start()]
        return len(line) < _WRAPPED or bool(_BLOCK_LINE.match(line))
    return bool(lines or _ENDED.search(before))
