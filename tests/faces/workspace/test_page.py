"""The how-to of the workspace face runs as written, and prints what it says."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "workspace.md"


def test_the_page_runs_as_written_with_the_output_that_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for example in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(example, names)
    (shown,) = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert capsys.readouterr().out.strip() == shown.strip()
