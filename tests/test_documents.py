"""The examples in the documents run, and the documents name what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "ARCHITECTURE.md",
    ROOT / "CHANGELOG.md",
]
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_examples_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    text = path.read_text(encoding="utf-8")
    for example in EXAMPLE.finditer(text):
        above = "\n" * text.count("\n", 0, example.start(1))  # so that a failure names the line of the document
        exec(compile(above + example[1], str(path), "exec"), names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_every_package_is_on_the_map():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for folder in sorted((ROOT / "src" / "weftwork").iterdir()):
        if folder.is_dir() and (folder / "__init__.py").exists():
            assert f"`{folder.name}/`" in text, f"ARCHITECTURE.md says nothing of {folder.name}/"
