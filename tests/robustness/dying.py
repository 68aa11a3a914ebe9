"""Writes to a store and is killed before its indexes learn of it: STORE."""

import os
import signal
import sys

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder


def main(store):
    weft = Weft.open(store, embedder=HashingEmbedder(64))
    weft.search("n00007")
    weft.add([Node(id="late", title="zyzzyva", text="zyzzyva")])
    weft.remove(["n00007"])
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
