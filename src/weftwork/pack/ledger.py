"""The running account of one packing: tokens used and left, and the fate of each choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from weftwork.compose.offers import Choice
from weftwork.errors import InvalidInput
from weftwork.pack.protocol import Decided, Outcomes, Packing, Room, Shorten
from weftwork.types import Fate

NEEDED = "what it belongs to is not shown"
BUDGET = "the budget was used up"


class Choices(list[Choice]):
    """Choices with what each packing of them asks for, worked out once: a text is packed several times."""

    @cached_property
    def ranking(self) -> list[int]:
        """The positions of all, the best first."""
        return by_score(self, range(len(self)))

    @cached_property
    def groups(self) -> list[tuple[str, str]]:
        """The section and the document of each."""
        return [choice.group for choice in self]


def by_score(choices: Sequence[Choice], among: Iterable[int] | None = None) -> list[int]:
    """Positions of the choices, or of some `among` them, the best first, in a total order."""
    if among is None and isinstance(choices, Choices):
        return choices.ranking
    ranks = []
    for index in range(len(choices)) if among is None else among:
        choice = choices[index]
        candidate = choice.candidate
        ranks.append((-choice.score, candidate.passage.citation, candidate.node.id, candidate.section, index))
    ranks.sort()
    return [rank[-1] for rank in ranks]


class _Account:
    """The tokens of one section: the most that it may take, those used, and those still reserved for it."""

    __slots__ = ("cap", "owed", "used")

    def __init__(self, cap: int, owed: int) -> None:
        self.cap = cap
        self.owed = owed
        self.used = 0


class Ledger:
    """Books choices against the room; `held` tokens stay untouched until they are released."""

    def __init__(self, choices: Sequence[Choice], room: Room, held: int = 0) -> None:
        self.choices = choices
        self.room = room
        self.held = held
        self.used = 0
        self._accounts = {name: _Account(room.cap(name), owed) for name, owed in room.reserved.items()}
        self._owed_in_all = sum(room.reserved.values())
        self._decided: dict[int, Decided] = {}
        """By position."""
        self._groups = choices.groups if isinstance(choices, Choices) else [choice.group for choice in choices]
        accounts = {section: self._account(section) for section in {section for section, _ in self._groups}}
        self._account_of = [accounts[section] for section, _ in self._groups]
        self._opened: set[tuple[str, str]] = set()
        """Documents whose heading is paid for."""
        self._cut: set[tuple[str, str]] = set()
        """Documents of which a part is shortened."""

    def _account(self, section: str) -> _Account:
        account = self._accounts.get(section)
        if account is None:
            account = self._accounts[section] = _Account(self.room.cap(section), 0)
        return account

    @property
    def free(self) -> int:
        """Tokens left of the total."""
        return self.room.total - self.held - self.used

    def left(self, section: str) -> int:
        """Tokens left for a section: within its cap, without what is reserved for others."""
        return self._left(self._account(section))

    def _left(self, account: _Account) -> int:
        free = self.room.total - self.held - self.used - self._owed_in_all + account.owed
        within_cap = account.cap - account.used
        left = within_cap if within_cap < free else free
        return left if left > 0 else 0

    def release(self) -> None:
        """Release the unused reserves to all sections; caps stay."""
        for account in self._accounts.values():
            account.owed = 0
        self._owed_in_all = 0

    def left_for(self, index: int) -> int:
        """Tokens left for the section of a choice."""
        return self._left(self._account_of[index])

    def is_open(self, index: int) -> bool:
        """Return True if a part of the choice's document was taken, so that its heading is paid for."""
        return self._groups[index] in self._opened

    def is_cut(self, index: int) -> bool:
        """Return True if a part of the choice's document was shortened."""
        return self._groups[index] in self._cut

    def cost(self, index: int) -> int:
        """Tokens that a choice costs now, with its document's heading if that is not paid for yet."""
        choice = self.choices[index]
        return choice.tokens if self._groups[index] in self._opened else choice.tokens + choice.heading

    def waits(self, index: int) -> bool:
        """Return True if the choice that this one needs was not taken."""
        before = self.choices[index].after
        if before is None:
            return False
        decided = self._decided.get(before)
        return decided is None or decided[0] != "included"

    def missing(self, index: int) -> int | None:
        """Tokens that a choice lacks to be taken whole; None if it fits."""
        lacking = self.cost(index) - self.left_for(index)
        return lacking if lacking > 0 else None

    def take(self, index: int, reason: str) -> None:
        """Show a choice whole."""
        tokens = self.cost(index)
        self._opened.add(self._groups[index])
        self._book(index, tokens)
        self._decided[index] = ("included", reason, tokens, None, None)

    def take_fitting(self, order: Iterable[int], reason: str, least: int, *, trial: bool) -> list[int]:
        """Take what fits whole, in this order; return the rest, left out unless it is a `trial`.

        A choice that opens its document needs room for `least` tokens. It does what `waits`, `cost`, `left_for` and
        `take` do, in one loop: this runs for every choice, several times a request.
        """
        choices, groups, opened, decided = self.choices, self._groups, self._opened, self._decided
        total, rest = self.room.total - self.held, []
        for index in order:
            choice = choices[index]
            before = None if choice.after is None else decided.get(choice.after)
            waits = choice.after is not None and (before is None or before[0] != "included")
            if not waits:
                is_open, account = groups[index] in opened, self._account_of[index]
                cost = choice.tokens if is_open else choice.tokens + choice.heading
                needed = cost if is_open or cost >= least else least
                free = total - self.used - self._owed_in_all + account.owed
                if (needed <= free and needed <= account.cap - account.used) or needed <= 0:
                    opened.add(groups[index])
                    self._book(index, cost)
                    decided[index] = ("included", reason, cost, None, None)
                    continue
            rest.append(index)
            if waits and not trial:
                self.drop(index, NEEDED)
            elif not trial:
                self.refuse(index)
        return rest

    def take_shortened(self, index: int, shorter: Choice, reason: str) -> None:
        """Show a choice in this shorter version."""
        missing = self.missing(index)
        tokens = max(0, shorter.tokens) if self.is_open(index) else shorter.tokens + shorter.heading
        self._opened.add(self._groups[index])
        self._cut.add(self._groups[index])
        self._book(index, tokens)
        self._decided[index] = ("truncated", reason, tokens, missing, shorter.excerpt)

    def take_line(self, index: int, reason: str) -> None:
        """Show the document of a choice as one line."""
        tokens = self.choices[index].line or 0
        missing = self._decided[index][3] if index in self._decided else self.missing(index)
        self._book(index, tokens)
        self._decided[index] = ("line", reason, tokens, missing, None)

    def _book(self, index: int, tokens: int) -> None:
        account = self._account_of[index]
        self.used += tokens
        account.used += tokens
        paid = min(account.owed, tokens)
        account.owed -= paid
        self._owed_in_all -= paid

    def spend(self, tokens: int) -> None:
        """Take tokens that belong to no section."""
        self.used += tokens

    def drop(self, index: int, reason: str, missing: int | None = None) -> None:
        """Leave a choice out."""
        self._decided[index] = ("dropped", reason, 0, missing, None)

    def refuse(self, index: int) -> None:
        """Leave a choice out because of its size."""
        account, tokens = self._account_of[index], self.cost(index)
        left = self._left(account)
        reason = self._obstacle(self._groups[index][0], account, tokens, left)
        self._decided[index] = ("dropped", reason, 0, tokens - left if tokens > left else None, None)

    def obstacle(self, index: int, otherwise: str = BUDGET) -> str:
        """The reason why a choice does not fit: its size, its section, or `otherwise`."""
        account, tokens = self._account_of[index], self.cost(index)
        reason = self._obstacle(self._groups[index][0], account, tokens, self._left(account))
        return otherwise if reason == BUDGET else reason

    def _obstacle(self, section: str, account: _Account, tokens: int, left: int) -> str:
        """The reason why so many tokens do not fit: their number, their section, or the budget."""
        total, cap = self.room.total, account.cap
        if tokens > total:
            return "larger than the whole budget"
        if tokens > cap:
            return f"larger than section {section} may be" if cap else f"section {section} is closed"
        if (cap < total and tokens > cap - account.used) or left < total - self.held - self.used:
            return f"section {section} is full"
        return BUDGET

    def settled(self, index: int) -> bool:
        """Return True if it is decided what becomes of a choice."""
        return index in self._decided

    def fate(self, index: int) -> Fate | None:
        """The fate of a choice so far; None before it is decided."""
        return self._decided[index][0] if index in self._decided else None

    def packing(self) -> Packing:
        """The result, with the fate of each choice."""
        if len(self._decided) < len(self.choices):
            undecided = next(index for index in range(len(self.choices)) if index not in self._decided)
            raise InvalidInput(f"the packer decided nothing on choice {undecided}: take, drop or refuse each")
        return Packing(Outcomes(self.choices, self._decided), self.used)


def shortened(choice: Choice, limit: int, shorten: Shorten) -> Choice | None:
    """A shorter version that really is within the limit: a caller's function is not trusted."""
    shorter = shorten(choice, limit) if limit > 0 else None
    return shorter if shorter is not None and shorter.tokens + shorter.heading <= limit else None


def take_best_shortened(ledger: Ledger, ranked: Sequence[int], shorten: Shorten) -> None:
    """Shorten the best choice to fit, where none fits whole.

    The thread contract takes it even if it is over the budget.
    """
    for index in ranked:
        left = ledger.left_for(index)
        shorter = shortened(ledger.choices[index], left, shorten)
        if shorter is not None:
            ledger.take_shortened(index, shorter, f"nothing fits whole: the best one, shortened to {left} tokens")
            return
