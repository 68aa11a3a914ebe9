"""What these tests share: sources of any size, the real command, and what a store holds."""

import json
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

from tests.command import settings

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder

HERE = Path(__file__).parent
EMBEDDER = HashingEmbedder(64)
MODES = ("words", "vector", "hybrid")
WORDS = [
    first + second
    for first in "amber birch cedar delta ember fjord grove heron inlet jetty".split()
    for second in "stone wind light water field song path gate".split()
]
QUERIES = ("amberstone n00007", "birchwater grovegate", "heronsogn emberfeild", '"jettysong n00011" inlet*')


def opened(path):
    return Weft.open(path, embedder=EMBEDDER)


def values(count, words=30):
    """The members of nodes that are the same in every run, each with a word that no other has."""
    chosen = random.Random(7)
    return [
        {
            "id": f"n{number:05}",
            "type": "page",
            "title": f"{chosen.choice(WORDS)} {number}",
            "text": " ".join(chosen.choices(WORDS, k=words)) + f" n{number:05}",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-02T00:00:00Z",
        }
        for number in range(count)
    ]


def pages(count, words=6):
    return [Node(id=each["id"], type="page", title=each["title"], text=each["text"]) for each in values(count, words)]


def write_lines(path, objects):
    path.write_text("".join(json.dumps(each) + "\n" for each in objects), encoding="utf-8")
    return path


def start(*arguments, **more):
    """A process that runs the command, or a script of this folder if the first argument is one."""
    first, *rest = map(str, arguments)
    words = [str(HERE / first), *rest] if first.endswith(".py") else ["-m", "weftwork.cli", first, *rest]
    environment = settings() | {"PYTHONWARNINGS": "error"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    return subprocess.Popen([sys.executable, *words], **(pipes | more))


def answers(weft, queries=QUERIES):
    """What searches give, down to the last bit of each score."""
    return {
        (query, mode): [(each.node.id, each.passage.citation, each.score) for each in weft.search(query, mode=mode)]
        for query in queries
        for mode in MODES
    }


def contents(weft, user="me", workspace="main"):
    """Every node that a user may see, by id."""
    with weft.store.view(workspace, user) as view:
        names = [change.node for change in view.changes(0) if not change.deleted]
        return {node.id: node for node in view.nodes(names)}


def state(path):
    """Everything that a store holds, row by row, whatever its indexes say."""
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()
