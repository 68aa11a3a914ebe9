"""Writes to a store so many times, and prints what was acknowledged: STORE NAME ROUNDS."""

import json
import random
import sys

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder

PUBLIC, PRIVATE = ("open-a", "open-b"), ("closed-a", "closed-b")


class Writer:
    """Knows what each node must be, because nobody else writes those that begin with its name."""

    def __init__(self, weft, name):
        self.weft = weft
        self.name = name
        self.chosen = random.Random(name)
        self.nodes = {}
        self.removed = []
        self.users = []
        self.count = 0

    def add(self):
        """Some new nodes, of which the private ones carry the mark that no guest may ever see."""
        batch = []
        for _ in range(self.chosen.randint(1, 5)):
            self.count += 1
            parent = self.chosen.choice(PUBLIC + PRIVATE)
            batch.append(self.node(f"{self.name}-{self.count}", parent, marked=parent in PRIVATE))
        self.weft.add(batch)
        self.nodes.update((node.id, [node.parent, node.text, None]) for node in batch)

    def node(self, name, parent, *, marked, access=None):
        word = name.replace("-", "")
        text = f"harbour plans {word} " + ("sealed-mark" if marked else "for all")
        return Node(id=name, title=f"Plan {word}", text=text, type="page", parent=parent, access=access)

    def rewrite(self):
        """The same node now marked and private, now open to all: always both in one write."""
        name = f"{self.name}-turning"
        marked = self.chosen.random() < 0.5
        node = self.node(name, "open-a", marked=marked, access=frozenset({"ana"}) if marked else None)
        self.weft.add([node])
        self.nodes[name] = [node.parent, node.text, ["ana"] if marked else None]

    def remove(self):
        name = self.any()
        if name is not None and self.weft.remove([name]):
            del self.nodes[name]
            self.removed.append(name)

    def move(self):
        name = self.any()
        if name is not None:
            beside = PRIVATE if self.nodes[name][0] in PRIVATE else PUBLIC
            parent = self.chosen.choice(beside)
            with self.weft.atomic() as batch:
                batch.move(name, parent, self.chosen.randint(0, 9))
            self.nodes[name][0] = parent

    def set_access(self):
        name = self.any()
        if name is not None:
            access = None if self.nodes[name][0] in PRIVATE else self.chosen.choice([None, ["ana"], ["group:crew"]])
            with self.weft.atomic() as batch:
                batch.set_access(name, None if access is None else frozenset(access))
            self.nodes[name][2] = access

    def add_user(self):
        user = f"{self.name}-user{len(self.users)}"
        self.weft.add_user(user, groups=["crew"])
        self.users.append(user)

    def any(self):
        names = [name for name in self.nodes if not name.endswith("turning")]
        return self.chosen.choice(names) if names else None


def main(store, name, rounds):
    with Weft.open(store, embedder=HashingEmbedder(64)) as weft:
        writer = Writer(weft, name)
        work = [writer.add] * 4 + [writer.rewrite] * 3 + [writer.remove, writer.move, writer.set_access]
        writer.add_user()
        for _ in range(int(rounds)):
            writer.chosen.choice(work)()
            if writer.chosen.random() < 0.05:
                writer.add_user()
    sys.stdout.write(json.dumps({"nodes": writer.nodes, "removed": writer.removed, "users": writer.users}))


if __name__ == "__main__":
    main(*sys.argv[1:])
