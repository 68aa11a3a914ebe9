"""The same store, request and clock give the same bytes."""

import itertools
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import Weft
from weft.engine import Tools
from weft.store.contract.kit import NOW
from weft.store.sqlite import SqliteStore
from weft.tokens import CharacterCounter

from .asking import asks
from .sight import EMBEDDER
from .transcript import open_sample, transcript
from .world import PEOPLE, ROOT, World, plans

SEEDS = ("0", "1", "42")
EMBEDDERS = ("hashing", "static")
WORKSPACES = (f"workspace {number}" for number in itertools.count())


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
    with Weft(SqliteStore(folder / "batches.weft", clock=lambda: NOW), Tools(CharacterCounter(), EMBEDDER)) as weft:
        yield weft


@settings(max_examples=40)
@given(
    plan=plans(actions=0),
    requests=st.lists(asks, min_size=1, max_size=3),
    user=st.sampled_from((ROOT, *PEOPLE)),
    size=st.integers(1, 5),
    shuffle=st.randoms(use_true_random=False),
)
def test_it_does_not_matter_in_how_many_batches_a_store_was_filled(weft, plan, requests, user, size, shuffle):
    weft = Weft(weft.store, weft.tools, clock=lambda: NOW)
    at_once = World(weft, next(WORKSPACES), plan)
    piecemeal = World(weft, next(WORKSPACES), plan)
    weft.store.drop_workspace(piecemeal.workspace)
    weft.create_workspace(piecemeal.workspace, owner=ROOT, access=plan.default)
    for person, groups in plan.groups.items():
        weft.add_user(person, groups=groups, workspace=piecemeal.workspace)
    nodes = [spec.node(number) for number, spec in enumerate(plan.specs)]
    for start in range(0, len(nodes), size):
        weft.add(nodes[start : start + size], workspace=piecemeal.workspace)
        weft.search("harbour", user=ROOT, workspace=piecemeal.workspace)
    edges = [link.edge() for link in plan.links]
    shuffle.shuffle(edges)
    for edge in edges:
        weft.add([], [edge], workspace=piecemeal.workspace)
    for ask in requests:
        told = [ask.answer(weft, world.workspace, user) for world in (at_once, piecemeal)]
        # A context's own id and its header name the workspace.
        assert told[0] == told[1]
