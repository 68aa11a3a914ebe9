"""Choices, rooms and a counter for the tests of packing."""

import re
from dataclasses import replace

from hypothesis import strategies as st

from weftwork.pack import Choice, Room, room_for
from weftwork.types import Budget, Candidate, NodeInfo, Passage

SECTIONS = ("focus", "semantic", "relations")
TYPES = ("note", "file")


def choice(name, score, tokens, *, section="semantic", type="note", line=None):
    passage = Passage(0, 0, 1, name, tokens, name, name)
    candidate = Candidate(NodeInfo(id=name, type=type), passage, section, (), score=score)
    return Choice(candidate, tokens, score, line_price=line)


def cut(choice, limit):
    """Keeps a share of the worth that is the share of the tokens."""
    worth = min(1.0, limit / max(1, choice.tokens + choice.heading))
    return replace(choice, tokens=limit - choice.heading, score=choice.score * worth)


def refuse(choice, limit):
    return None


def name_of(outcome):
    return outcome.candidate.node.id


def forms(packing):
    """What is shown, as name to form."""
    return {name_of(outcome): outcome.fate for outcome in packing.chosen}


def outcome(packing, name):
    return next(outcome for outcome in packing.outcomes if name_of(outcome) == name)


def used_by_section(packing):
    used = dict.fromkeys(SECTIONS, 0)
    for taken in packing.chosen:
        used[taken.section] += taken.spent
    return used


def worth(outcome):
    """The share of its score that a choice is worth as it was taken."""
    if outcome.fate == "truncated":
        return min(1.0, outcome.spent / max(1, outcome.tokens + outcome.heading))
    return {"included": 1.0, "line": 0.1, "dropped": 0.0}[outcome.fate]


def value(packing):
    return sum(taken.score * worth(taken) for taken in packing.chosen)


def usable(choices, section, room, shorten):
    """The most tokens that the candidates of a section with a score can use, in forms that fit its cap."""
    most = 0
    for each in choices:
        if each.section == section and each.score > 0:
            sizes = [each.tokens, each.line or 0]
            if each.tokens > 120:
                made = [shorten(each, each.tokens // part) for part in (2, 4)]
                sizes += [less.tokens + less.heading for less in made if less]
            most += max((size for size in sizes if size <= min(room.cap(section), each.tokens)), default=0)
    return most


@st.composite
def choice_lists(draw, most=12, tokens=300):
    rows = draw(
        st.lists(
            st.tuples(
                st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1)),
                st.integers(0, tokens),
                st.sampled_from(SECTIONS),
                st.sampled_from(TYPES),
                st.one_of(st.none(), st.integers(1, 20)),
            ),
            max_size=most,
        )
    )
    return [
        choice(f"c{number:02}", score, size, section=section, type=kind, line=line)
        for number, (score, size, section, kind, line) in enumerate(rows)
    ]


@st.composite
def packings(draw, most=12, tokens=300, total=1200):
    """Choices with a room: without sections, with any caps, or from a budget with shares."""
    choices = draw(choice_lists(most, tokens))
    size = draw(st.integers(0, total))
    shares = draw(st.dictionaries(st.sampled_from(SECTIONS), st.integers(0, total)))
    match draw(st.sampled_from(["open", "caps", "shares", "hard"])):
        case "open":
            room = Room(size)
        case "caps":
            room = Room(size, shares)
        case kind:
            budget = Budget(total=size + 1, sections=shares, share=kind == "shares")
            room = room_for(budget, 1, choices)
    return choices, room


class WordCounter:
    """One token for each run of letters or of anything else that is not white space."""

    name = "words"
    _token = re.compile(r"\S+")

    def count(self, text):
        return len(self._token.findall(text))

    def encode(self, text):
        return [hash(token) for token in self._token.findall(text)]

    def decode(self, tokens):
        raise NotImplementedError

    def truncate(self, text, limit):
        ends = [match.end() for match in self._token.finditer(text)]
        if len(ends) <= limit:
            return text
        return text[: ends[limit - 1]] if limit > 0 else ""

    def truncate_start(self, text, limit):
        starts = [match.start() for match in self._token.finditer(text)]
        if len(starts) <= limit:
            return text
        return text[starts[-limit] :] if limit > 0 else ""
