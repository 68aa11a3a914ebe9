import pytest
from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors.code import split_code
from weftwork.ingest.connectors.files import Files
from weftwork.ingest.follow import follow

PYTHON = '''"""Mirrors."""
import os

# How many wait.
@cache
def count(box):
    def inner():
        return 1
    return inner()


class Box:
    """A box."""

    size = 3

    def open(self):
        return "{"

    async def close(self):
        pass


if os.name:
    count(1)
'''
SCRIPT = """import x from "y";

// A store of "mirrors {".
export class Box<T> extends Base {
  /* { */ size = 3;
  open(): T { return `}`; }
}

export const count = async (box) => {
  if (box) { return 1; }
};
function late() {
  return '{';
}
"""


def names(parts, prefix=""):
    return [name for part in parts for name in (prefix + part.name, *names(part.inner, f"{prefix}{part.name}."))]


def test_python_is_split_into_functions_classes_and_methods(tmp_path):
    (tmp_path / "mirrors.py").write_text(PYTHON)
    reading = read(Files(), tmp_path)
    assert [node.title for node in reading.of("file")] == ["mirrors.py"]  # the others are parts of it
    parts = {node.title: node for node in (*reading.of("file"), *reading.of("code"))}
    assert list(parts) == ["mirrors.py", "mirrors.count", "mirrors.Box", "mirrors.Box.open", "mirrors.Box.close"]
    assert parts["mirrors.count"].text.startswith("# How many wait.\n@cache\ndef count(box):")
    assert "inner" in parts["mirrors.count"].text
    assert parts["mirrors.Box"].text == 'class Box:\n    """A box."""\n\n    size = 3'
    assert parts["mirrors.Box.open"].parent == parts["mirrors.Box"].id
    assert parts["mirrors.Box.close"].fields == {"line": 20}
    assert "import os" in parts["mirrors.py"].text
    assert "count(1)" in parts["mirrors.py"].text
    words = sorted(" ".join(node.text for node in parts.values()).split())
    assert words == sorted(PYTHON.split())


def test_an_edit_above_keeps_the_ids_below(tmp_path, weft):
    path = tmp_path / "mirrors.py"
    path.write_text(PYTHON)
    follow(weft, path, Files())
    ids = [node.id for node in read(Files(), path).nodes]
    path.write_text(PYTHON.replace("import os", "import os\nimport sys\n\n\ndef first(): ...\n"))
    follow(weft, path, Files())
    assert set(ids) <= weft.store.unchecked_nodes("main", ids)


@pytest.mark.parametrize(
    ("text", "extension", "expected"),
    [
        (SCRIPT, "ts", ["Box", "count", "late"]),
        (
            "package a\n\ntype Box struct {\n\tn int\n}\n\nfunc (b *Box) Open() error {\n\treturn nil\n}\n",
            "go",
            ["Box", "Open"],
        ),
        (
            "impl Box {\n" + "    // x\n" * 50 + "    pub fn open(&self) -> u8 {\n        1\n    }\n}\n",
            "rs",
            ["Box", "Box.open"],
        ),
        ("int main(int n)\n{\n  for (;;) { }\n}\nstatic const int x[] = { 1 };\n", "c", ["main"]),
        ("class Box\n  def open\n  end\nend\n\ndef late\nend\n", "rb", ["Box", "late"]),
        ("def broken(:\n  pass\n\nclass Late:\n  pass\n", "py", ["broken", "Late"]),
        ("CREATE TABLE box (\n  n int\n);\n", "sql", ["box"]),
        ("just words\n", "ts", []),
        ("", "py", []),
    ],
)
def test_other_languages_are_split_by_braces_or_at_the_margin(text, extension, expected):
    assert names(split_code(text, extension)) == expected
