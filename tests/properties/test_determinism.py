"""The same store, request and clock give the same bytes."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEEP, some

from weftwork import Weft
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

from .asking import asks
from .sight import EMBEDDER
from .transcript import open_sample, transcript
from .world import PEOPLE, ROOT, SIZE, World, plans

SEEDS = ("0", "1", "42") if DEEP else ("42",)
EMBEDDERS = ("static", "hashing") if DEEP else ("static",)
IDENTITY = re.compile("ctx-[0-9a-f]{16}")
"""A context's own id, which depends on the name of its workspace."""


def in_a_process(path, embedder, seed):
    """The transcript that another process writes, under a seed of its own for hashes."""
    program = Path(__file__).with_name("transcript.py")
    found = subprocess.run(
        [sys.executable, str(program), str(path), embedder],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr.decode()
    return found.stdout.decode()


@pytest.fixture(scope="module", params=EMBEDDERS)
def told(request, folder):
    """A filled store, its embedder, and the transcript that this process makes of it."""
    path = folder / f"{request.param}.weft"
    with open_sample(path, request.param) as weft:
        text = transcript(weft)
    assert text.count('"decisions"') > 20
    return path, request.param, text


@pytest.mark.parametrize("seed", SEEDS)
def test_processes_with_other_hash_seeds_read_the_same_bytes(told, seed):
    path, embedder, text = told
    assert in_a_process(path, embedder, seed) == text


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_that_is_filled_anew_under_another_hash_seed_gives_the_same_bytes(told, seed, tmp_path):
    _, embedder, text = told
    assert in_a_process(tmp_path / "anew.weft", embedder, seed) == text


def test_indexes_that_are_made_again_give_the_same_bytes(told, tmp_path):
    path, embedder, text = told
    copy = tmp_path / "copy.weft"
    shutil.copy(path, copy)
    with open_sample(copy, embedder) as weft:
        assert transcript(weft) == text
    shutil.rmtree(tmp_path / "copy.weft.index")
    with open_sample(copy, embedder) as weft:
        assert transcript(weft) == text


@pytest.fixture(scope="module")
def weft(folder):
    store = SqliteStore(folder / "batches.weft", clock=lambda: NOW)
    yield Weft(store, Tools(CharacterCounter(), EMBEDDER), clock=lambda: NOW)
    store.close()


@settings(max_examples=some(60))
@given(
    plan=plans(most=0),
    requests=st.lists(asks, min_size=1, max_size=3),
    user=st.sampled_from((ROOT, *PEOPLE)),
    batch=st.integers(1, 5),
    shuffle=st.randoms(use_true_random=False),
)
def test_neither_the_size_of_batches_nor_the_order_of_edges_matters(weft, plan, requests, user, batch, shuffle):
    links = list(plan.links)
    shuffle.shuffle(links)
    answers = []
    for name, order, size in (("at once", plan.links, SIZE), ("piecemeal", tuple(links), batch)):
        with World(weft, name, replace(plan, links=order), batch=size) as world:
            found = [ask.answer(weft, name, user) for ask in requests]
        answers.append([IDENTITY.sub("", answer.replace(world.workspace, "")) for answer in found])
    assert answers[0] == answers[1]
