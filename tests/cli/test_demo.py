from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.command import succeed

from weftwork import sample
from weftwork.cli.demo import BUDGET, NEXT, OPEN, QUESTION, command
from weftwork.cli.demo import _steps as steps
from weftwork.identity import CITATION
from weftwork.ingest.jsonlines import parse
from weftwork.text.tokens import get_counter

PRIVATE = ("terms", "terms-limit", "private", "private-pay", "private-cash", "private-loan")


def demo(folder: Path, seed: str) -> str:
    """The output of the command in an empty folder, from a process with a hash seed of its own."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "weftwork.cli", "demo"],
        cwd=folder,
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> str:
    return succeed("demo", cwd=tmp_path_factory.mktemp("demo"), WEFTWORK_EMBEDDER="static")


@pytest.fixture(scope="module")
def context(tmp_path_factory) -> dict:
    return json.loads(succeed("demo", "--json", cwd=tmp_path_factory.mktemp("json"), WEFTWORK_EMBEDDER="static"))


def chapter(shown: str, number: int) -> str:
    return re.search(rf"^{number}\. .*?(?=^{number + 1}\. |\Z)", shown, re.MULTILINE | re.DOTALL)[0]


def test_the_demo_is_short_and_has_its_chapters_in_order(shown):
    assert re.findall(r"^(\d)\. ", shown, re.MULTILINE) == list("123456")
    assert 80 <= shown.count("\n") <= 140
    assert QUESTION in shown.partition("1. ")[0]


def test_the_whole_context_is_printed_and_keeps_its_budget(shown, context):
    assert context["text"].rstrip() in chapter(shown, 1)
    assert f"{context['tokens']} of {BUDGET} tokens" in shown
    assert get_counter("o200k_base").count(context["text"]) == context["tokens"] <= BUDGET


def test_the_context_answers_the_question(context):
    excerpts = [excerpt for section in context["sections"] for excerpt in section["excerpts"]]
    included = {item["node"] for excerpt in excerpts for item in excerpt["items"] if excerpt["form"] != "line"}
    assert {"finch", "t-mirrors", "mem-pinholes"} <= included


def test_the_bars_add_up_to_the_total(shown, context):
    rows = re.findall(r"^  (.+?) +\[[#.]+\] +(\d+)", chapter(shown, 2), re.MULTILINE)
    *parts, (last, total) = [(name, int(tokens)) for name, tokens in rows]
    assert [name for name, _ in parts[:-2]] == [section["name"] for section in context["sections"]]
    assert (last, total) == ("total", context["tokens"])
    assert sum(tokens for _, tokens in parts) == total


def test_citations_stand_in_the_context_and_name_their_source(shown, context):
    cited = re.findall(r"^  \[(\S+)\] (\S+), characters (\d+)-(\d+)", chapter(shown, 3), re.MULTILINE)
    known = {
        (each["id"], each["source"] or each["node"], str(each["start"]), str(each["end"]))
        for each in context["citations"]
    }
    assert cited
    assert set(cited) <= known
    assert all(f"[{name}]" in context["text"] for name, *_ in cited)
    more = int(re.search(r"^  … and (\d+) more$", chapter(shown, 3), re.MULTILINE)[1])
    assert len(cited) + more == len(set(re.findall(rf"(?<!\\)\[({CITATION.pattern})\]", context["text"])))


def test_reasons_show_what_is_in_what_is_out_and_what_nearly_fitted(shown):
    reasons = chapter(shown, 4)
    assert re.search(r"^  included +\d\.\d\d +\d+ ", reasons, re.MULTILINE)
    assert re.search(r"^  (line|truncated|dropped) .*; about \d+ tokens short$", reasons, re.MULTILINE)
    assert re.search(rf"^  dropped .* a repeat of \[{CITATION.pattern}\]$", reasons, re.MULTILINE)


def test_the_mail_that_gives_orders_stays_quoted(shown):
    assert "\n````\nDear Mira" in shown
    assert r" \[d000000]." in shown and "[d000000]" not in shown.replace(r"\[d000000]", "")
    assert re.findall(r"^## System", re.sub(r"^````\n.*?^````\n", "", shown, flags=re.M | re.S), re.MULTILINE) == []


def test_sources_are_counted_as_they_are_shown(shown, context):
    counts = [(section["name"], len(section["excerpts"])) for section in context["sections"]]
    parts = ", ".join(f"{name} {count}" for name, count in counts)
    assert f"  Ana gets {sum(count for _, count in counts)} sources ({parts}) and " in chapter(shown, 5)


def test_bens_chapter_counts_but_tells_nothing(shown):
    lines = (Path(sample.__file__).parent / "workspace.jsonl").read_text("utf-8").splitlines()
    private = [piece for piece in map(parse, lines) if getattr(piece, "id", None) in PRIVATE]
    text = chapter(shown, 5)
    assert re.search(r"^  [1-9]\d* of Ana's candidates are not for guests, and [1-9]", text, re.MULTILINE)
    assert re.search(r"^  0 of them were candidates for Ben", text, re.MULTILINE)
    assert len(private) == len(PRIVATE)
    assert not [node.id for node in private if node.id in text or node.title in text or node.text in text]


def test_the_demo_prints_the_same_in_any_folder_under_any_hash_seed(tmp_path):
    first, second = demo(tmp_path / "a", "1"), demo(tmp_path / "b", "77")
    assert first == second
    assert demo(tmp_path / "a", "5") == first


def test_the_commands_that_it_proposes_work(tmp_path):
    runner = CliRunner()
    result = runner.invoke(command, ["--dir", str(tmp_path / "my demo")], catch_exceptions=False)
    assert result.exit_code == 0
    assert f"cd '{tmp_path / 'my demo'}'" in result.output
    for line in NEXT:
        program, *arguments = [match.strip('"') for match in re.findall(r'"[^"]*"|\S+', line)]
        assert program == "weftwork"
        assert succeed(*arguments, cwd=tmp_path / "my demo").strip()


def test_json_is_the_context_alone(context):
    assert (context["query"], context["user"], context["workspace"]) == (QUESTION, "ana", "studio")
    assert context["decisions"]


def test_what_the_page_needs_is_installed_before_it_is_opened(monkeypatch):
    assert not [line for line in steps(Path("demo")) if "pip install" in line]
    monkeypatch.setattr("weftwork.cli.demo.find_spec", lambda name: None)
    assert steps(Path("demo"))[-2:] == ["pip install 'weftwork[server]'   # what the next one needs", OPEN]
