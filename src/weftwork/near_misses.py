"""Near misses: the extra budget that would let in a candidate that was left out."""

from __future__ import annotations

from collections.abc import Callable

from weftwork.types import Context, Decision, Fate

WHOLE: tuple[Fate, ...] = ("included",)
"""The fates of passages that stand in the text uncut."""

SCANNED = 64
"""More tokens that are tried one by one for the nearest miss."""
_Key = tuple[str, str]


class NearMisses:
    """Asks how a context would be with a larger budget.

    A packer knows what a candidate lacked when its turn came. A larger budget also divides into other shares, finds
    more, and is packed otherwise, so the answers come from contexts that `build` really makes for other budgets. Each
    is made once, whichever candidate is asked about.
    """

    def __init__(self, build: Callable[[int], Context], context: Context) -> None:
        self._build = build
        self._context = context
        self._made = {0: context}
        self._whole = {0: _whole(context)}
        """Passages that stand whole in the text, by the number of tokens added."""

    def more_tokens(self, decision: Decision, most: int) -> int | None:
        """The fewest more tokens that show a candidate whole; None if `most` do not, or if no budget does."""
        key = _key(decision)
        guess = decision.missing_tokens or decision.tokens
        return self._fewest(lambda more: key in self._whole_with(more), guess, most)

    def nearest(self, most: int) -> tuple[int, list[Decision]] | None:
        """The fewest more tokens that show anything more that lacked room, and what that is; None if nothing did."""
        lacking = [each for each in self._context.trace if each.missing_tokens and each.fate not in WHOLE]
        if not lacking:
            return None
        keys = frozenset(map(_key, lacking))
        guess = min(each.missing_tokens or 1 for each in lacking)
        more = self._fewest(lambda more: not keys.isdisjoint(self._whole_with(more)), guess, most)
        if more is None:
            return None
        # A larger budget may leave out what a smaller one let in, so the first of a few is not found by halving.
        more = next((few for few in range(1, min(more, SCANNED)) if not keys.isdisjoint(self._whole_with(few))), more)
        return more, [each for each in lacking if _key(each) in self._whole_with(more)]

    def _fewest(self, fits: Callable[[int], bool], guess: int, most: int) -> int | None:
        """The number of tokens with which it fits, and with one fewer not."""
        if fits(0):
            return 0
        if most < 1:
            return None
        guess = max(1, min(guess, most))
        below, above = 0, guess
        while not fits(above):
            # Where nothing lacks room any more something else keeps it out, unless more room finds other evidence.
            if above >= most or not (self._made[above].truncated or fits(most)):
                return None
            # Powers of two, and what lies halfway between them, are what other candidates ask about too.
            below, above = above, min(1 << above.bit_length(), most)
        # The packer's own figure is often right, so that is where to look first.
        probe = above - 1 if above == guess else (below + above) // 2
        while above - below > 1:
            below, above = (below, probe) if fits(probe) else (probe, above)
            probe = (below + above) // 2
        return above

    def _whole_with(self, more: int) -> frozenset[_Key]:
        if more not in self._whole:
            self._made[more] = self._build(self._context.budget + more)
            self._whole[more] = _whole(self._made[more])
        return self._whole[more]


def _whole(context: Context) -> frozenset[_Key]:
    return frozenset(_key(decision) for decision in context.trace if decision.fate in WHOLE)


def _key(decision: Decision) -> _Key:
    return decision.node, decision.citation
