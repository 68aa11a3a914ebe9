"""What is done for a question, in calls and statements, does not tell how much is hidden: time could tell no more."""

import cProfile
import pstats
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from weftwork import Edge, Node, Weft, WeftError
from weftwork.context_cache import ContextCache
from weftwork.store.contract.kit import NOW

from .differential import FILLING
from .sight import EMBEDDER

WHERE = {"user": "ben", "workspace": "main"}
HIDDEN = (10, 400)
NEARLY = 0.01
"""The share by which counts differ because threads take turns."""
ASKED = {
    "a search": lambda weft: weft.search("anchor winch at the quay", **WHERE),
    "a word that is hidden": lambda weft: weft.search("quokka", **WHERE),
    "a misspelt word that is hidden": lambda weft: weft.search("quoka", **WHERE),
    "the beginning of a word that is hidden": lambda weft: weft.search("quok*", **WHERE),
    "a context": lambda weft: weft.context("which anchor is at the quay?", budget=800, **WHERE),
    "a context of what is hidden": lambda weft: weft.context("where is the quokka obelisk?", budget=800, **WHERE),
    "a walk past hidden neighbours": lambda weft: weft.context("anchor", focus="seen7", depth=3, budget=800, **WHERE),
    "a hidden id": lambda weft: weft.node("hidden3", **WHERE),
    "a hidden title": lambda weft: weft.read("Zephyr Plan", **WHERE),
    "counts": lambda weft: weft.stats(**WHERE),
}


def notes(count, name, access, extra=""):
    """Notes of the same words, each of its own."""
    rng = Random(1)
    return [
        Node(
            id=f"{name}{number}",
            type="page",
            title=extra or " ".join(rng.sample(FILLING, 2)),
            text=" ".join(rng.choices(FILLING, k=30)) + extra,
            access=access,
            created_at=NOW - timedelta(days=number),
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def wefts(folder):
    """The same notes with a few hidden ones among them, and with more hidden ones than seen."""
    opened = []
    for hidden in HIDDEN:
        weft = Weft.open(folder / f"{hidden}.weft", embedder=EMBEDDER, clock=lambda: NOW)
        weft.add_user("ben")
        weft.add(
            notes(200, "seen", frozenset({"*"})),
            [Edge(source=f"seen{n}", target=f"seen{n * 7 % 200}") for n in range(1, 200)],
        )
        secret = notes(hidden, "hidden", frozenset({"me"}), "Zephyr Plan quokka obelisk")
        weft.add(secret, [Edge(source=f"hidden{n}", target=f"seen{n % 200}") for n in range(hidden)])
        weft.catch_up()
        opened.append(weft)
    yield opened
    for weft in opened:
        weft.close()


def work(weft, ask):
    """Calls of functions, and of those the statements that a database is sent, for a question that was asked before."""

    def asked():
        weft.context_cache = ContextCache()
        try:
            ask(weft)
        except WeftError as error:
            return type(error).__name__
        return ""

    first = asked()
    profile = cProfile.Profile()
    profile.enable()
    assert asked() == first
    profile.disable()
    stats: Any = pstats.Stats(profile)
    sent = sum(numbers[1] for name, numbers in stats.stats.items() if "sqlite3" in name[2] and "execute" in name[2])
    return stats.total_calls, sent


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_the_work_for_a_question_does_not_grow_with_what_is_hidden(wefts, ask):
    (few, few_sent), (many, many_sent) = (work(weft, ask) for weft in wefts)
    assert many_sent == few_sent
    assert many == pytest.approx(few, rel=NEARLY, abs=20)
