"""A process that is killed while it erases, compacts, backs up, embeds or moves loses nothing and can be run again."""

import os
import signal
import sys
import warnings
from contextlib import suppress

import pytest
from tests.depth import some

from weftwork import Filters, Node, Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.erase import erase_user
from weftwork.errors import NotFound
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.store.sqlite.backup import back_up, verify
from weftwork.store.transfer import move
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools
from weftwork.write.embed import embed_waiting

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked")
WATCHED = ("open", "os.", "shutil.", "sqlite3.connect")
PLACES = some(9)
"""Moments of each operation, spread over it, at which its process is killed."""
SECRET = "zanzibar77"


def opened(path, tracer=None, embedder=None):
    store = SqliteStore(path, clock=lambda: NOW, tracer=tracer)
    return Weft(store, Tools(CharacterCounter(), embedder), clock=lambda: NOW)


def filled(path):
    weft = opened(path)
    weft.create_workspace("main", owner="ana")
    weft.add_user("ben")
    weft.add([Node(id=f"n{n}", title=f"Lantern {n}", text=f"harbour {n}", owner="ana") for n in range(40)])
    weft.add([Node(id=f"b{n}", text=f"{SECRET} {n}", owner="ben") for n in range(5)])
    weft.catch_up()
    weft.close()


def erase(path, folder, tracer):
    weft = opened(path, tracer)
    with suppress(NotFound):  # the process was killed when all was done
        erase_user(weft, "ben", workspace="main", by="ana")
    weft.close()


def back(path, folder, tracer):
    back_up(path, folder / "copy", NOW)


def embed(path, folder, tracer):
    weft = opened(path, tracer)
    while embed_waiting(weft.store, HashingEmbedder(64), "main", limit=10):
        pass
    weft.close()


def transfer(path, folder, tracer):
    source, target = opened(path).store, opened(folder / "target.weft", tracer).store
    move(source, target, "main", lambda _: None)
    source.close()
    target.close()


def whole(path, folder, *, ben=True):
    """Check a store: sound, and all of Ana's nodes are in it and found."""
    weft = opened(path)
    assert weft.store.check() == []
    with weft.store.view("main", "ana") as view:
        assert len(view.select(Filters(), limit=99)) == 40 + 5 * ben
    assert len(weft.search("harbour", user="ana", limit=50, mode="words")) == 40
    weft.close()


def killed(action, path, folder, after):
    """Run an action in a process that is killed after so many steps; False if it had ended before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads; none of them works now
        child = os.fork()
    if not child:
        signal.alarm(60)
        left = [after]

        def step(*_):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(lambda event, _: step() if event.startswith(WATCHED) else None)
        try:
            action(path, folder, step)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


@pytest.mark.parametrize("action", [erase, back, embed, transfer])
def test_a_kill_at_any_moment_leaves_a_sound_store_and_the_next_run_completes_it(action, tmp_path):
    steps, hits = 3, 0
    while True:
        folder = tmp_path / str(steps)
        folder.mkdir()
        path = folder / "store.weft"
        filled(path)
        hit = killed(action, path, folder, steps)
        hits += hit
        weft = opened(path)
        assert weft.store.check() == []
        weft.close()
        if action is back and (folder / "copy").exists():
            assert verify(folder / "copy") == []
        elif hit:
            action(path, folder, None)
        if action is erase:
            assert SECRET.encode() not in b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
        whole(path, folder, ben=action is not erase)
        if action is transfer:
            whole(folder / "target.weft", folder)
        if not hit or hits == PLACES:
            break
        steps *= 3
    assert hits >= 2
