"""What a user was given in a thread: the sources of each turn as they were sent, and what is known of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from weftwork.identity import SHORT
from weftwork.store.protocol import View
from weftwork.turn.values import Withdrawal
from weftwork.types import Context, Excerpt

Kind = Literal["", "rules", "standing", "older"]
"""What stands before all messages: rules, standing memories, and what older messages came to."""
GONE, CHANGED, ENDED = "no longer available", "changed", "no longer true"
MOST_EVER = 2_000
"""Ids of sources that a thread remembers, the latest."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of text that a turn added: a source as it was shown, or the frame around sources."""

    text: str
    citation: str = ""
    """Empty where it shows no source."""
    covers: tuple[str, ...] = ()
    """Ids of all passages that it shows."""
    nodes: tuple[str, ...] = ()
    kind: Kind = ""


@dataclass(slots=True)
class Given:
    """The record of what a user was given in a thread so far."""

    start: int = 0
    """The position of the first message that is sent as it is."""
    head: list[Part] = field(default_factory=list)
    """What stands before all messages: rules, what is remembered, what older messages came to."""
    injected: dict[str, list[Part]] = field(default_factory=dict)
    """The sources that stand before a message, by its id."""
    ever: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """All ids that were ever given, with those of the passages that each stands for."""
    relevant: dict[str, int] = field(default_factory=dict)
    """The turn in which a source that is still in the messages was last found for a message."""
    turns: int = 0
    at: str = ""
    """The moment of the latest turn."""
    receipt: str = ""
    sent: list[tuple[str, list[tuple[int, str]]]] = field(default_factory=list)
    """The messages of the latest turn: role, and length and hash of each of its segments."""

    @classmethod
    def read(cls, stored: str | None) -> Given:
        """Decode a stored record."""
        if stored is None:
            return cls()
        values = json.loads(stored)
        given = cls(**{name: values[name] for name in ("start", "relevant", "turns", "at", "receipt")})
        given.head = [_part(part) for part in values["head"]]
        given.injected = {name: [_part(part) for part in parts] for name, parts in values["injected"].items()}
        given.ever = {name: tuple(covers) for name, covers in values["ever"].items()}
        given.sent = [(role, [(size, mark) for size, mark in segments]) for role, segments in values["sent"]]
        return given

    def written(self) -> str:
        """The text to store."""
        values = {name: getattr(self, name) for name in ("start", "relevant", "turns", "at", "receipt", "sent")}
        values["head"] = [_row(part) for part in self.head]
        values["injected"] = {name: [_row(part) for part in parts] for name, parts in self.injected.items()}
        values["ever"] = dict(list(self.ever.items())[-MOST_EVER:])
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    def parts(self) -> Iterable[Part]:
        """All parts that show a source, in the order in which they are sent."""
        groups = (self.head, *self.injected.values())
        return (part for group in groups for part in group if part.citation)

    def citations(self) -> frozenset[str]:
        """Ids of the passages that stand in the messages."""
        return frozenset(name for part in self.parts() for name in part.covers)

    def add(self, parts: Iterable[Part]) -> None:
        """Note that these were given."""
        for part in parts:
            if part.citation:
                self.ever[part.citation] = part.covers
                self.ever |= {name: (name,) for name in part.covers if name not in self.ever}
                self.relevant[part.citation] = self.turns

    def find(self, citations: Iterable[str]) -> None:
        """Note that these passages, which were given before, were found again."""
        found = set(citations)
        for part in self.parts():
            if found.intersection(part.covers):
                self.relevant[part.citation] = self.turns

    def since(self, created: datetime | None) -> datetime | None:
        """The moment after which something is new to this thread."""
        return datetime.fromisoformat(self.at) if self.at else created


def _part(row: Sequence[Any]) -> Part:
    text, citation, covers, nodes, kind = row
    return Part(text, citation, tuple(covers), tuple(nodes), kind)


def _row(part: Part) -> tuple[object, ...]:
    return part.text, part.citation, part.covers, part.nodes, part.kind


def parts_of(context: Context, kind: Kind = "") -> list[Part]:
    """A context as parts, without its header."""
    excerpts = {excerpt.citation: excerpt for excerpt in (*context.excerpts, *context.overflow)}
    parts = []
    shown = [piece for piece in context.pieces if piece.name != "header" and not _is_bare(excerpts.get(piece.citation))]
    for piece in shown:
        excerpt = excerpts.get(piece.citation)
        if excerpt is None:
            parts.append(Part(piece.text, kind=kind))
            continue
        covers = dict.fromkeys((piece.citation, *(item.candidate.passage.citation for item in excerpt.items)))
        nodes = dict.fromkeys(item.candidate.node.id for item in excerpt.items)
        parts.append(Part(piece.text, piece.citation, tuple(covers), tuple(nodes), kind))
    return parts


def _is_bare(excerpt: Excerpt | None) -> bool:
    """True of a title by itself, whose text was given before."""
    return excerpt is not None and not excerpt.content.strip()


def withdraw(given: Given, view: View, now: datetime) -> tuple[list[Withdrawal], list[str]]:
    """Take out of the messages what the user may no longer see, what changed and what is no longer true.

    Return what was taken out, and the nodes that changed.
    """
    known = sorted(given.citations())
    visible_now: dict[str, bool] = {}  # by the beginning that all forms of an id share
    for record in view.cited(known):
        name = record.passage.citation[:SHORT]
        visible_now[name] = visible_now.get(name, False) or record.node.valid_at(now)
    holds = {name for name in known if visible_now.get(name[:SHORT], False)}
    stale = {name for name in known if visible_now.get(name[:SHORT]) is False}
    withdrawn: dict[str, str] = {}
    changed: list[str] = []

    def checked(part: Part) -> Part:
        if not part.citation or holds.issuperset(part.covers):
            return part
        visible = [node.id for node in view.nodes(part.nodes)]
        ended = stale.intersection(part.covers)
        withdrawn[part.citation] = ENDED if ended else CHANGED if len(visible) == len(part.nodes) else GONE
        changed.extend(visible if not ended else ())
        given.relevant.pop(part.citation, None)
        return Part(f"[{part.citation}] was withdrawn.\n", kind=part.kind)

    given.head = [checked(part) for part in given.head]
    given.injected = {name: [checked(part) for part in parts] for name, parts in given.injected.items()}
    return [Withdrawal(name, reason) for name, reason in withdrawn.items()], list(dict.fromkeys(changed))
