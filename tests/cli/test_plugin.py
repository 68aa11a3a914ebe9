"""The plugin for coding agents: its files, and its hooks, run as the agent runs them."""

import io
import json
import subprocess
import sys

import pytest

from weftwork import Node, Weft
from weftwork.faces.memory import Memories

QUESTION = "What does the dome turn on?"


@pytest.fixture
def plugin(weft, here):
    with Weft.open(here / "notes.weft", embedder="hashing") as engine:
        engine.add([Node(id="dome", type="page", title="Dome", text="The dome turns on twelve rollers of brass.")])
        Memories(engine).remember("The user is called Ana.", pinned=True)
        Memories(engine).remember("Answer in metric units.", type="preference")
    ran = weft("plugin", "made")
    assert ran.code == 0, ran.err
    return here / "made"


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def fire(plugin, event, **given):
    """Run a hook's command by the shell, with its input, as the agent does, from another folder."""
    (group,) = read(plugin / "hooks" / "hooks.json")["hooks"][event]
    command = group["hooks"][0]["command"]
    told = {"session_id": "s1", "cwd": "/", "hook_event_name": event, **given}
    ran = subprocess.run(
        command, shell=True, cwd=plugin.parent.parent, input=json.dumps(told), capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout) if ran.stdout.strip() else None
    if answer is None:
        return ""
    assert answer["hookSpecificOutput"]["hookEventName"] == event
    return answer["hookSpecificOutput"]["additionalContext"]


def test_a_session_is_told_what_fits_once_and_remembers_through_compaction(plugin, here):
    told = fire(plugin, "SessionStart", source="startup")
    assert "called Ana" in told and "metric units" in told
    assert "twelve rollers of brass" in fire(plugin, "UserPromptSubmit", prompt=QUESTION)
    assert fire(plugin, "UserPromptSubmit", prompt="thanks") == ""
    transcript = here / "transcript.jsonl"
    said = {"role": "assistant", "content": [{"type": "text", "text": "We decided to grease the rollers in May."}]}
    lines = [{"type": "user", "message": {"role": "user", "content": QUESTION}}, {"type": "assistant", "message": said}]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines) + "no JSON\n", encoding="utf-8")
    assert fire(plugin, "PreCompact", trigger="auto", transcript_path=str(transcript)) == ""
    kept = fire(plugin, "SessionStart", source="compact")
    assert "grease the rollers in May" in kept and "called Ana" in kept
    assert "twelve rollers of brass" in kept and "metric units" in kept
    again = fire(plugin, "UserPromptSubmit", prompt=QUESTION)
    assert again == ""  # neither the source nor the session's own words
    with Weft.open(here / "notes.weft", embedder="hashing") as engine:
        (thread,) = engine.threads.list()
        posted = [QUESTION, "thanks", "We decided to grease the rollers in May.", QUESTION]
        assert [each.text for each in engine.threads.messages(thread.id)] == posted


def test_the_files_are_those_of_both_forms(plugin):
    about = read(plugin / ".claude-plugin" / "plugin.json")
    assert about["name"] == "weftwork" and about == read(plugin / "plugin.json")
    assert read(plugin / ".claude-plugin" / "marketplace.json")["plugins"][0]["source"] == "./"
    server = read(plugin / ".mcp.json")["mcpServers"]["weftwork"]
    assert server == read(plugin / "mcp.json")["mcpServers"]["weftwork"]
    assert "mcp" in server["args"] and str(plugin.parent / "notes.weft") in server["args"]
    for name in ("recall", "remember"):
        text = (plugin / "skills" / name / "SKILL.md").read_text(encoding="utf-8")
        assert text.startswith(f"---\nname: {name}\ndescription: ")


def test_what_cannot_be_written_or_answered_is_refused(weft, here, plugin, monkeypatch):
    assert weft("plugin", "made").code == 0  # again
    (here / "full").mkdir()
    (here / "full" / "mine.txt").write_text("x")
    assert "name an empty folder" in weft("plugin", "full").err
    assert "there is no store" in weft("plugin", "other", "--store", "none.weft").err
    for given, why in (("rubbish", "not JSON"), ("[]", "not a JSON object"), ("{}", "needs session_id")):
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        ran = weft("hook", "UserPromptSubmit")
        assert ran.code == 1 and why in ran.err
