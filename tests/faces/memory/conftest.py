import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from weftwork import Weft
from weftwork.faces.memory import ContextEngine, ContextEngineConfig, Memories

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now

    def forward(self, **span):
        self.now += timedelta(**span)
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def weft(tmp_path, clock):
    with Weft.open(tmp_path / "memory.weft", embedder="hashing", clock=clock) as engine:
        engine.add_user("ben", groups=["team"])
        yield engine


@pytest.fixture
def memories(weft):
    return Memories(weft)


@pytest.fixture
def engine(weft):
    return ContextEngine(ContextEngineConfig(storage_client=weft))


@pytest.fixture
def ask():
    """Wait for a result and take its value."""

    def value(result):
        found = asyncio.run(result)
        assert found.ok, found
        return found.value

    return value


@pytest.fixture
def fail():
    """Wait for a result and take its error."""

    def error(result):
        found = asyncio.run(result)
        assert not found.ok, found
        return found.error

    return error
