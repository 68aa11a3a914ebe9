"""Near misses: the extra budget that would let in a candidate that was left out."""

from __future__ import annotations

from collections.abc import Callable

from weftwork.types import Context, Decision, Fate

WHOLE: tuple[Fate, ...] = ("included",)
"""The fates of passages that stand in the text uncut."""

_Key = tuple[str, str]


class NearMisses:
    """Asks how a context would be with a larger budget.

    A packer knows what a candidate lacked when its turn came. A larger budget also divides into other shares, finds
    more, and is packed otherwise, so the answers come from contexts that `build` really makes for other budgets. Each
    is made once, whichever candidate is asked about.
    """

    def __init__(self, build: Callable[[int], Context], context: Context) -> None:
        self._build = build
        self._budget = context.budget
        self._whole = {0: _whole(context)}
        """Passages that stand whole in the text, by the number of tokens added."""

    def more_tokens(self, decision: Decision, most: int) -> int | None:
        """The fewest more tokens that show a candidate whole; None if `most` do not."""
        key = _key(decision)
        if self._fits(key, 0):
            return 0
        guess = max(1, min(decision.missing_tokens or decision.tokens, most))
        below, above = 0, guess
        while not self._fits(key, above):
            if above >= most:
                return None
            # Powers of two, and what lies halfway between them, are what other candidates ask about too.
            below, above = above, min(1 << above.bit_length(), most)
        # The packer's own figure is often right, so that is where to look first.
        probe = above - 1 if above == guess else (below + above) // 2
        while above - below > 1:
            below, above = (below, probe) if self._fits(key, probe) else (probe, above)
            probe = (below + above) // 2
        return above

    def _fits(self, key: _Key, more: int) -> bool:
        if more not in self._whole:
            self._whole[more] = _whole(self._build(self._budget + more))
        return key in self._whole[more]


def _whole(context: Context) -> frozenset[_Key]:
    return frozenset(_key(decision) for decision in context.trace if decision.fate in WHOLE)


def _key(decision: Decision) -> _Key:
    return decision.node, decision.citation
