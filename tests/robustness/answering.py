"""For each line "WORD NAME": finds WORD in every way, writes a node NAME, and prints what it found: STORE."""

import sys

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder


def main(store):
    with Weft.open(store, embedder=HashingEmbedder(64)) as weft:
        for line in sys.stdin:
            word, name = line.split()
            found = [weft.search(word, mode=mode) for mode in ("words", "vector", "hybrid")]
            weft.add([Node(id=name, title=name, text="written there")])
            sys.stdout.write(" ".join(each[0].node.id if each else "-" for each in found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
