"""How well duplicates and contradictions among statements are told from statements that go together.

Pairs come from two sources, and each is split into halves that share no sentence: "fit" is the half on which the rules
were made, "held_out" the other one.

  sick      pairs of sentences with human labels: contradictions; entailments of a relatedness of at least 4.7 count as
            duplicates; all other entailments and the neutral ones as neither. Pairs that are connected by a sentence
            are in the same half
  locomo    statements about the speakers of conversations ("observations"), changed by rule: with another number,
            month or name, or negated, a contradiction; with other case and punctuation, or with a filler in front, a
            duplicate; the most similar other statement about the same speaker is neither. A conversation is in one half

Precision is the share of reported conflicts that are of the reported kind; recall the share of conflicts that are
reported as what they are. "alarms" are the contradictions reported among all unchanged observations of a conversation,
for each thousand of them: next to none of these are any, so that fewer are better.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.corpus import data_folder
from weftwork.faces.memory.conflicts import compare

DUPLICATE = 4.7
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November")
HALVES = ("fit", "held_out")
Observations = dict[str, list[str]]
"""Statements by speaker."""
Pair = tuple[str, str, str]
"""Two statements and what they are to each other: "duplicate", "contradiction" or "neither"."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Precision and recall of each kind, source and half."""
    data = data_folder()
    conversations = _conversations(data / "locomo_dev")
    sick, halves = _apart(list(_sick(data / "near_dup_pairs"))), (conversations[::2], conversations[1::2])
    return {
        "sick": {half: _figures(pairs) for half, pairs in zip(HALVES, sick, strict=True)},
        "locomo": {
            half: {**_figures([pair for each in part for pair in _locomo(each)]), "alarms": _alarms(part)}
            for half, part in zip(HALVES, halves, strict=True)
        },
    }


def _apart(pairs: list[Pair]) -> tuple[list[Pair], list[Pair]]:
    """The pairs in two halves of no common sentence."""
    groups: dict[str, list[str]] = {}
    for old, new, _ in pairs:
        one, other = groups.setdefault(old, [old]), groups.setdefault(new, [new])
        if one is not other:
            one += other
            groups.update(dict.fromkeys(other, one))
    distinct = {id(group): group for group in groups.values()}
    numbers = {name: number for number, name in enumerate(distinct)}
    halves: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        halves[numbers[id(groups[pair[0]])] % 2].append(pair)
    return halves


def _alarms(conversations: Sequence[Observations]) -> float:
    """Contradictions that are reported among unchanged observations, for each thousand of them."""
    statements = [[text for spoken in each.values() for text in spoken] for each in conversations]
    reported = [
        found
        for each in statements
        for one, other in combinations(each, 2)
        if (found := compare(one, other)) is not None and found[0] == "contradiction"
    ]
    return round(1_000 * len(reported) / sum(map(len, statements)), 1)


def _figures(pairs: list[Pair]) -> dict[str, Any]:
    told: Counter[tuple[str, str]] = Counter()
    for old, new, label in pairs:
        found = compare(old, new)
        told[label, "neither" if found is None else found[0]] += 1
    figures: dict[str, Any] = {"pairs": len(pairs)}
    for kind in ("duplicate", "contradiction"):
        right = told[kind, kind]
        reported = sum(count for (_, answer), count in told.items() if answer == kind)
        there = sum(count for (label, _), count in told.items() if label == kind)
        figures[f"{kind}_precision"] = round(right / max(1, reported), 3)
        figures[f"{kind}_recall"] = round(right / max(1, there), 3)
    return figures


def _sick(folder: Path) -> Iterator[Pair]:
    path = folder / "SICK_test_annotated.txt"
    if not path.exists():
        raise SystemExit(f"{path} is not there: set WEFTWORK_DATA to the folder that has near_dup_pairs")
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            judged, related = row["entailment_judgment"], float(row["relatedness_score"])
            same = judged == "ENTAILMENT" and related >= DUPLICATE
            label = "contradiction" if judged == "CONTRADICTION" else "duplicate" if same else "neither"
            yield row["sentence_A"], row["sentence_B"], label


def _conversations(folder: Path) -> list[Observations]:
    conversations: list[Observations] = []
    for conversation in json.loads((folder / "locomo_dev.json").read_text(encoding="utf-8")):
        by_speaker: Observations = {}
        for session in conversation["observation"].values():
            for speaker, statements in session.items():
                by_speaker.setdefault(speaker, []).extend(text for text, *_ in statements)
        conversations.append(by_speaker)
    return conversations


def _locomo(conversation: Observations) -> Iterator[Pair]:
    for speaker, statements in conversation.items():
        for number, text in enumerate(statements):
            changed = _changed(text, speaker)
            if changed is not None:
                yield text, changed, "contradiction"
            same = text.rstrip(".").lower() if number % 2 else f"By the way, {text[0].lower()}{text[1:]}"
            yield text, same, "duplicate"
            others = [other for other in statements if other != text]
            if others:
                yield text, max(others, key=lambda other: _overlap(text, other)), "neither"


def _changed(text: str, speaker: str) -> str | None:
    """The statement with another number, month or name, or negated; None if no rule applies."""
    number = re.search(r"\b\d+\b", text)
    if number:
        return text[: number.start()] + str(int(number[0]) + 3) + text[number.end() :]
    for place, month in enumerate(MONTHS):
        if month in text:
            return text.replace(month, MONTHS[(place + 4) % len(MONTHS)], 1)
    verb = re.search(r"\b(is|was|has|will|can|are|were)\b", text)
    if verb:
        return f"{text[: verb.end()]} not{text[verb.end() :]}"
    name = re.search(r"(?<=[a-z] )[A-Z][a-z]+", text)
    if name and name[0] != speaker:
        return f"{text[: name.start()]}Rotterdam{text[name.end() :]}"
    return None


def _overlap(one: str, other: str) -> float:
    words, others = set(one.lower().split()), set(other.lower().split())
    return len(words & others) / len(words | others)
