import os
from pathlib import Path

import pytest

from weftwork.render import explain, get_template, to_json
from weftwork.render.builtin import BUILTIN

from .sample import context

GOLDEN = Path(__file__).parent / "golden"


def check(name: str, text: str):
    path = GOLDEN / name
    if os.environ.get("WEFTWORK_UPDATE_GOLDEN") == "1":
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode()


@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_each_built_in_template_renders_as_its_golden_file(name: str):
    check(f"{name}.md", context(get_template(name)).text)


def test_json_is_as_its_golden_file():
    check("context.json", to_json(context(get_template("default"))) + "\n")


def test_the_explanation_is_as_its_golden_file():
    check("explain.txt", explain(context(get_template("default"))))


def test_every_golden_file_is_used():
    expected = {f"{name}.md" for name in BUILTIN} | {"context.json", "explain.txt"}
    assert {path.name for path in GOLDEN.iterdir()} == expected
