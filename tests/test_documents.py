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
NAMED_TEST = re.compile(r"(?<![\w./])((?:tests/[\w/]+/)?test_\w+\.py|test_\w+(?![\w.])…?|Test[A-Z]\w+…?)")
DEFINED = re.compile(r"^ *(?:async )?(?:def|class) (\w+)", re.MULTILINE)
NAMED_FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|js|css|html|sh|toml))`")
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if EXAMPLE.search(path.read_text(encoding="utf-8"))],
    ids=lambda path: path.name,
)
def test_python_examples_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    text = path.read_text(encoding="utf-8")
    for example in EXAMPLE.finditer(text):
        above = "\n" * text.count("\n", 0, example.start(1))  # so that a failure names the line of the document
        exec(compile(above + example[1], str(path), "exec"), names)


def test_links_lead_somewhere():
    wrong = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in DOCUMENTS
        for target in LINK.findall(path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert wrong == []


def test_every_test_that_a_document_names_exists():
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    existing = {path.name for path in files} | {path.relative_to(ROOT).as_posix() for path in files}
    for path in (*files, *(ROOT / "src/weftwork/store/contract").rglob("*.py")):
        existing.update(DEFINED.findall(path.read_text(encoding="utf-8")))
    named = [
        (path.relative_to(ROOT).as_posix(), name)
        for path in DOCUMENTS
        for name in NAMED_TEST.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(named) > 200
    assert [each for each in named if each[1] not in existing] == []


def test_every_file_that_a_contract_or_the_map_names_exists():
    documents = [*sorted((ROOT / "docs/contracts").glob("*.md")), ROOT / "ARCHITECTURE.md", ROOT / "README.md"]
    package = ROOT / "src" / "weftwork"
    folders = [ROOT, package, *(path for path in package.iterdir() if path.is_dir())]
    named = [(path.name, name) for path in documents for name in NAMED_FILE.findall(path.read_text(encoding="utf-8"))]
    assert len(named) > 50
    assert [each for each in named if not any((folder / each[1]).exists() for folder in folders)] == []


def test_the_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_every_package_is_on_the_map():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for folder in sorted((ROOT / "src" / "weftwork").iterdir()):
        if folder.is_dir() and (folder / "__init__.py").exists():
            assert f"`{folder.name}/`" in text, f"ARCHITECTURE.md says nothing of {folder.name}/"


def test_each_decision_has_a_number_of_its_own():
    numbers = [path.name.partition("-")[0] for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == sorted(set(numbers))
