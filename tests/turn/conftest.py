"""A small workspace of a workshop, with a clock that goes on."""

from datetime import UTC, datetime, timedelta

import pytest

from weftwork import Node, Weft

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
NOTES = {
    "dome": "The dome turns on twelve rollers. They are greased every spring with lithium grease.",
    "keys": "Ben keeps the keys of the dome in the blue cabinet.",
    "mirror": "The mirror was recoated in 2019. The next coating is planned for autumn.",
    "camera": "The camera is cooled to minus thirty degrees before each exposure.",
    "roof": "The roof of the library leaks near the north window.",
}


class Ticking:
    """A clock that goes on by a minute with each look."""

    def __init__(self):
        self.moment = NOW

    def __call__(self):
        self.moment += timedelta(minutes=1)
        return self.moment


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "notes.weft", embedder="hashing", clock=Ticking()) as engine:
        engine.add_user("ben")
        engine.add([Node(id=name, type="page", title=name.title(), text=text) for name, text in NOTES.items()])
        yield engine


@pytest.fixture
def thread(weft):
    return weft.threads.create("Maintenance").id


def flat(turn):
    """The messages of a turn as one text, in the order of sending."""
    return "".join(f"\n\n{each['role']}: {each['content']}" for each in turn.messages)
