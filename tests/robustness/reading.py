"""Reads a store as one user until a file is there, and fails on the first wrong answer: STORE USER FILE."""

import random
import sys
from pathlib import Path

from weftwork import Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.errors import NotFound
from weftwork.render import explain, to_json

MARK = "sealed-mark"


def main(store, user, done):
    chosen, rounds, marks = random.Random(user), 0, 0
    with Weft.open(store, embedder=HashingEmbedder(64)) as weft:
        while not (rounds and Path(done).exists()):
            rounds += 1
            seen = look(weft, user, chosen)
            marks += seen.count(MARK)
            if user != "ana" and MARK in seen:
                raise AssertionError(f"{user} saw what is private: {seen}")
    sys.stdout.write(f"{rounds} {marks}")


def look(weft, user, chosen):
    """Everything that a user is shown in one round, as one text."""
    shown = []
    for mode in ("words", "vector", "hybrid"):
        found = weft.search("harbour plans anchorage", user=user, mode=mode, limit=20)
        if "anchor" not in {each.node.id for each in found}:
            raise AssertionError(f"{user} does not find by {mode} what was there before")
        shown += [repr(each) for each in found]
    context = weft.context("harbour plans", user=user, budget=chosen.randint(100, 2000))
    if context.tokens > context.budget:
        raise AssertionError(f"{context.tokens} tokens of {context.budget}")
    shown += [context.text, explain(context), to_json(context)]
    for name in ("anchor", *(f"{writer}-{chosen.randint(1, 50)}" for writer in ("one", "two")), "one-turning"):
        try:
            shown.append(repr(weft.node(name, user=user)))
        except NotFound:
            if name == "anchor":
                raise
    if weft.stats(user=user)["nodes"] < 3:
        raise AssertionError(f"{user} lost what was there before")
    return "\n".join(shown)


if __name__ == "__main__":
    main(*sys.argv[1:])
