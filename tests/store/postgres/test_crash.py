"""The server is killed and started again while others write and read: nothing that was acknowledged is lost."""

import threading
import time

import pytest

from weftwork import Node, Weft
from weftwork.errors import StoreBusy, StoreUnavailable

from .server import LASTING, Server

KILLS = 2
WRITERS = 3


class Writer(threading.Thread):
    """Writes node after node, and repeats what was not acknowledged only after it looked whether it is there."""

    def __init__(self, weft, name, stop):
        super().__init__()
        self.weft, self.name, self.stop = weft, name, stop
        self.acknowledged, self.typed, self.others = 0, [], []

    def run(self):
        while not self.stop.is_set():
            try:
                number = self.acknowledged + 1
                self.weft.add([Node(id=f"{self.name}-{number}", title="n", text=f"{self.name} text {number}")])
                self.acknowledged = number
                self.weft.search(f"text {number}")
            except (StoreUnavailable, StoreBusy) as error:
                self.typed.append(error)
                self.stop.wait(0.05)
            except BaseException as error:  # what no client should have to know
                self.others.append(error)
                return


@pytest.fixture
def lasting():
    server = Server(LASTING)
    try:
        yield server.start()
    finally:
        server.close()


def test_no_acknowledged_write_is_lost_and_clients_go_on_by_themselves(lasting):
    address = lasting.url(weftwork_wait=3)
    with Weft.open(address, embedder="hashing") as weft:
        stop = threading.Event()
        writers = [Writer(weft, f"w{number}", stop) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        for _ in range(KILLS):
            before = [writer.acknowledged for writer in writers]
            _wait(
                lambda before=before: all(w.acknowledged > n + 2 for w, n in zip(writers, before, strict=True)), writers
            )
            failed = [len(writer.typed) for writer in writers]
            lasting.kill()
            _wait(lambda failed=failed: all(len(w.typed) > n for w, n in zip(writers, failed, strict=True)), writers)
            lasting.start()
        before = [writer.acknowledged for writer in writers]
        _wait(lambda: all(w.acknowledged > n for w, n in zip(writers, before, strict=True)), writers)
        stop.set()
        for writer in writers:
            writer.join()
        assert [writer.others for writer in writers] == [[]] * WRITERS
        with weft.store.view("main", "me") as view:
            for writer in writers:
                wanted = [f"{writer.name}-{number}" for number in range(1, writer.acknowledged + 1)]
                assert [node.id for node in view.nodes(wanted)] == wanted
        assert all(str(error) for writer in writers for error in writer.typed)
        assert weft.store.check() == []


def _wait(condition, writers):
    """Until something holds; at most a minute, and not when a writer has ended."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        assert all(writer.is_alive() for writer in writers), [writer.others for writer in writers]
        time.sleep(0.02)
