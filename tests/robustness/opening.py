"""Opens a store at the same moment as others, writes a node and finds it: STORE GATE."""

import os
import sys
import time
from pathlib import Path

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder


def main(store, gate):
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not Path(gate).exists():
        time.sleep(0.001)
    with Weft.open(store, embedder=HashingEmbedder(64)) as weft:
        name = f"by{os.getpid()}"
        weft.add([Node(id=name, title=name)])
        if [each.node.id for each in weft.search(name, mode="words")] != [name]:
            raise AssertionError(f"{name} is not found")


if __name__ == "__main__":
    main(*sys.argv[1:])
