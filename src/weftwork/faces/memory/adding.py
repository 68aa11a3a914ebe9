"""Adding a conversation: what is said in it, matched with what is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from weftwork.faces.memory.conflicts import adds_nothing, compare
from weftwork.faces.memory.extraction import ExtractionModel, Fact, extract_facts
from weftwork.faces.memory.statements import Turn, statements
from weftwork.faces.memory.types import Conflict, Memory
from weftwork.identity import text_hash

AT_ONCE = 40
"""Turns that are read and written together; an interruption loses no more."""
AT_ONCE_BY_MODEL = 12
"""Turns in one question to a model."""


@dataclass(frozen=True, slots=True)
class Change:
    """A statement of a conversation, what becomes of it and why, and the turns that it comes from."""

    action: Literal["add", "update", "supersede", "ignore"]
    text: str
    reason: str
    turns: tuple[str, ...]
    memory: Memory | None = None
    """The new memory; for "ignore" the one that is known. None in a dry run for what would be new."""


@dataclass(frozen=True, slots=True)
class Addition:
    """The changes that a conversation made, and how many of its turns were read now or before."""

    changes: tuple[Change, ...]
    read: int
    known: int

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The new memories."""
        return tuple(change.memory for change in self.changes if change.action != "ignore" and change.memory)


def chunks(turns: Sequence[Turn], model: ExtractionModel | None) -> Iterator[Sequence[Turn]]:
    """The turns in parts that are read and written together."""
    size = AT_ONCE if model is None else AT_ONCE_BY_MODEL
    for start in range(0, len(turns), size):
        yield turns[start : start + size]


def facts_of(turns: Sequence[Turn], model: ExtractionModel | None) -> list[Fact]:
    """The statements of turns: by a model, or by rule."""
    if model is not None:
        return extract_facts(model, turns)
    return [Fact(text, (turn,)) for turn in turns for text in statements(turn)]


def mark_of(turn: Turn, conversation: str | None, model: ExtractionModel | None) -> str:
    """The name under which it is kept that a turn was read, by this model or by rule."""
    how = "" if model is None else model.name
    return text_hash("\0".join((conversation or "", turn.id, turn.speaker, turn.text, how)))


def decide(fact: Fact, conflicts: Sequence[Conflict], earlier: Sequence[Fact], taken: set[str], keep: bool) -> Change:
    """Decide on a fact, given its conflicts, earlier facts and the memories that already have a successor."""
    turns = tuple(turn.id for turn in fact.turns)
    for other in earlier:
        found = compare(other.text, fact.text)
        if found is not None and found[0] == "duplicate" and adds_nothing(other.text, fact.text):
            return Change("ignore", fact.text, "said before in the same conversation", turns)
    for conflict in conflicts:
        known = conflict.memory
        if conflict.kind == "duplicate" and adds_nothing(known.content, fact.text):
            return Change("ignore", fact.text, f"known as {known.id}: {conflict.reason}", turns, known)
    if not conflicts or keep or conflicts[0].memory.id in taken:
        told = f"beside {conflicts[0].memory.id}: {conflicts[0].reason}" if conflicts else "nothing like it is known"
        return Change("add", fact.text, told, turns)
    first = conflicts[0]
    action: Literal["update", "supersede"] = "update" if first.kind == "duplicate" else "supersede"
    return Change(action, fact.text, f"takes the place of {first.memory.id}: {first.reason}", turns, first.memory)
