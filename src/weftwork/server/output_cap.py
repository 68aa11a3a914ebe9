"""The most that one answer may count: a model pays for all that it is handed."""

from __future__ import annotations

from collections.abc import Callable

from weftwork.errors import InvalidInput
from weftwork.text.tokens import TokenCounter
from weftwork.text.truncate import clean_end

DEFAULT_TOKENS = 10_000
LEAST_TOKENS = 200
"""Room for a heading, a hint how to get the rest, and some content."""


class OutputCap:
    """A limit in the tokens of the engine's own vocabulary; it holds on the whole answer, hints included."""

    def __init__(self, counter: TokenCounter, tokens: int) -> None:
        if not isinstance(tokens, int) or tokens < LEAST_TOKENS:
            raise InvalidInput(f"the output cap must be at least {LEAST_TOKENS} tokens, got {tokens!r}")
        self.tokens = tokens
        self._counter = counter
        counter.count("a vocabulary that cannot be read is an error now, not at the first question")

    def excess(self, text: str) -> int:
        """The number of tokens by which a text exceeds the cap; it fits at 0 or less."""
        return self._counter.count(text) - self.tokens

    def fits(self, text: str) -> bool:
        """Return whether a text is within the cap."""
        return self.excess(text) <= 0

    def room_beside(self, text: str) -> int:
        """The number of tokens left beside this text."""
        return -self.excess(text)

    def cut(self, text: str, note: str) -> str:
        """The text, if it fits; otherwise as much of it as does, to the end of a line if possible, and the note."""
        return text if self.fits(text) else self.fill(text, lambda start: f"{start.rstrip()}\n\n{note}")[1]

    def fill(self, text: str, around: Callable[[str], str]) -> tuple[str, str]:
        """The longest start of a text that still fits with what goes around it: alone, and with that around it."""
        room = self.room_beside(around(""))
        while room > 0:
            start = self._start(text, room)
            whole = around(start)
            excess = self.excess(whole)
            if excess <= 0:
                return start, whole
            # In proportion: what goes around a text may grow with it, as the fence around backticks does.
            room = min(room - 1, room * self.tokens // (self.tokens + excess))
        return "", self._counter.truncate(around(""), self.tokens)

    def most(self, count: int, fits: Callable[[int], bool]) -> int:
        """The most entries, of so many, that fit; with all of them no hint that some are left out is needed."""
        if fits(count):
            return count
        low, high = 0, count - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(middle) else (low, middle - 1)
        return low

    def shorten(self, text: str, tokens: int) -> str:
        """The start of a text, no longer than so many tokens, nor than the cap."""
        return self._counter.truncate(text, min(tokens, self.tokens))

    def _start(self, text: str, room: int) -> str:
        start = self._counter.truncate(text, room)
        return start if len(start) == len(text) else start[: clean_end(start)]
