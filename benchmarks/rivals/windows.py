"""Cutting texts into windows of words, for those that bring no splitter of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

WORDS = 200
OVERLAP = 40


def pieces(documents: Sequence[Any]) -> list[tuple[str, str]]:
    """Documents' ids and windows of their words, each with the title before it."""
    found = []
    for document in documents:
        words = document.text.split()
        for start in range(0, max(len(words) - OVERLAP, 1), WORDS - OVERLAP):
            window = " ".join(words[start : start + WORDS])
            found.append((document.id, f"{document.title}\n{window}" if document.title else window))
    return found
