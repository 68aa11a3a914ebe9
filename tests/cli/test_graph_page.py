"""The page on walking from a node runs as written, and shows what is printed."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "graph.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(sh|toml|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def followed(weft, here):
    """The commands of the page that print a context or a node, run in order, with what the page shows of each block."""
    shown, printed = [], []
    for kind, body in BLOCK.findall(PAGE):
        if kind == "toml":
            (here / "weftwork.toml").write_text(body, encoding="utf-8")
        elif kind == "text":
            shown.append((body, "".join(printed)))
            printed = []
        for line in body.splitlines() if kind == "sh" else ():
            command, *arguments = shlex.split(line)
            if command != "weftwork":
                subprocess.run(line, shell=True, check=True, cwd=here)
                continue
            ran = weft(*arguments)
            assert ran.code == 0, ran.err
            if arguments[0] in ("context", "read"):
                printed.append(ran.out.rstrip("\n") + "\n")
    assert printed == []
    return shown


def test_what_the_page_shows_is_what_is_printed(followed):
    assert len(followed) == 2
    for text, printed in followed:
        assert text == printed


def test_every_option_of_the_page_changes_what_is_printed(followed, weft):
    asked = ("context", "blade runner", "--recipe", "graph")
    plain = weft(*asked).out
    options = [
        shlex.split(each) for row in re.findall(r"^\|.*\|$", PAGE, re.M) for each in re.findall(r"`(--[^`]+)`", row)
    ]
    assert len(options) == 8
    same = {" ".join(option) for option in options if weft(*asked, *option).out == plain}
    # Nothing on the page is further away, is a hub, or has another link.
    assert same <= {"--limit 20", "--hub-limit 200", "--edge reference --edge child"}
    assert "Alien" not in weft(*asked, "--limit", "1").out
    assert "Alien" not in weft(*asked, "--edge", "mention").out
    assert "Seven people" not in weft(*asked, "--exclude", "file:vault/Alien.md").out
    assert "→ reference file:vault/Alien.md" in weft(*asked, "--routes").out
    # What the settings leave out is not named either, unless it is asked for.
    assert "Film" not in weft(*asked, "--json").out
    assert "like [[Blade Runner]]" in weft("context", "Film", "--recipe", "graph").out
