import json
import sys
from dataclasses import dataclass

import pytest

from weftwork.cli import main
from weftwork.config import ENVIRONMENT


@dataclass(frozen=True)
class Ran:
    """The output and the exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in, with parts that need no model."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for variable in ENVIRONMENT:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("WEFTWORK_EMBEDDER", "hashing")
    return folder


@pytest.fixture
def weft(here, monkeypatch, capsys):
    """The command, run as its entry point runs it."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["weftwork", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return Ran(int(end.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture
def filled(weft, here):
    """A store with two users, a private page and some notes."""
    lines = [
        {"user": "ben", "groups": ["guests"]},
        {"id": "finch", "type": "page", "title": "Finch", "text": "A tabletop telescope that libraries lend."},
        {
            "id": "mirror",
            "title": "Mirror",
            "text": "The mirror ships in April.",
            "parent": "finch",
            "tags": ["optics"],
        },
        {"id": "base", "type": "todo", "title": "Base", "text": "The birch base for the mirror."},
        {"id": "cash", "title": "Cash", "text": "The mirror was expensive.", "access": ["me"], "tags": ["money"]},
        {"source": "finch", "target": "base"},
    ]
    (here / "sample.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert weft("init").code == 0
    assert weft("add", "sample.jsonl").code == 0
    return here
