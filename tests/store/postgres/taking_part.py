"""One of several processes on one database: writes, reads and checks that it sees what others wrote: URL NAME WRITES.

Prints a line of JSON at its end: how many writes were acknowledged, how many contexts were built, and what went wrong.
"""

import json
import sys

from weftwork import Node, Weft
from weftwork.errors import WeftError

USED = "shared"


def main(url, name, writes):
    told = {"name": name, "written": 0, "read": 0, "seen": 0, "errors": []}
    with Weft.open(url, embedder="hashing", create=False) as weft:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        while told["written"] < int(writes):
            try:
                _turn(weft, name, told)
            except WeftError as error:
                told["errors"].append(f"{type(error).__name__}: {error}")
                break
    sys.stdout.write(json.dumps(told) + "\n")


def _turn(weft, name, told):
    """Write a node and count a use; then all that anyone has announced must be in a context, cached or not."""
    number = told["written"] + 1
    text = f"{name} wrote number {number} about quinces"
    weft.add([Node(id=f"{name}-{number}", title=f"{name} {number}", text=text, parent=name)])
    with weft.atomic() as batch:
        batch.count_use("me", [USED])
        batch.mark("announced", {name: str(number)})
    told["written"] = number
    announced = weft.store.marks("main", "announced")
    for other, last in sorted(announced.items()):
        asked = f"{other} wrote number {last}"
        first = weft.context(asked, budget=600)
        told["read"] += 1
        if f"{asked} about quinces" not in first.text:
            told["errors"].append(f"{name} does not see {asked!r}")
        told["seen"] += other != name


if __name__ == "__main__":
    main(*sys.argv[1:])
