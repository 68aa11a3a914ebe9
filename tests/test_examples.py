"""Every example runs, with a model behind a real local server."""

import io
import json
import sys
from pathlib import Path

import pytest
from tests.faces.research.test_ask import says, server  # noqa: F401  (a fixture)

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NAME", "URL", "KEY"):
        monkeypatch.delenv(f"WEFTWORK_MODEL_{name}", raising=False)
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "finch.md").write_text("# Finch\n\nThe mirror of the telescope ships in April.\n")
    (folder / "base.md").write_text("# Base\n\nThe base is made of birch.\n")
    return folder


@pytest.fixture
def model(server, monkeypatch):  # noqa: F811
    monkeypatch.setenv("WEFTWORK_MODEL_NAME", "tiny")
    monkeypatch.setenv("WEFTWORK_MODEL_URL", server.url)
    return server


def main(name, *arguments):
    """Run the main function of an example; each is imported as a file, as people run it."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    if arguments:
        module.main(*map(str, arguments))
    return module


def sent(server, place=-1):  # noqa: F811
    return json.dumps(server.received[place][2], ensure_ascii=False)


def test_every_example_is_tested_and_listed():
    here = Path(__file__).read_text(encoding="utf-8")
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for name in EXAMPLES:
        assert f'"{name.removesuffix(".py")}"' in here
        assert f"({name})" in listed


def test_a_chat_answers_from_notes_and_remembers(notes, model, monkeypatch, capsys):
    model.replies += [says("In April [z999999]."), says("You like oak.")]
    lines = "When does the mirror ship?\nremember The base should be of oak\nWhich base do I want?\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    main("chat_with_memory", notes)
    out = capsys.readouterr().out
    assert out == "In April [z999999].\n(no source has the id z999999)\nI will remember that.\nYou like oak.\n"
    assert "ships in April" in sent(model, 0)
    assert "The base should be of oak" in sent(model, 1)


def test_answers_cite_their_sources(notes, model, capsys):
    model.replies.append(says("In April [1]. And more [7]."))
    main("cited_answers", notes, "When does the mirror ship?")
    printed = capsys.readouterr()
    assert printed.out == "In April [1]. And more [7].\n[1] finch.md\n"
    assert printed.err == "[7] is no source\n"


def test_without_a_model_the_answer_is_quoted(notes, capsys):
    main("cited_answers", notes, "When does the mirror of the telescope ship?")
    assert capsys.readouterr().out.startswith("The mirror of the telescope ships in April. [1]\n[1] finch.md\n")


def test_a_vault_is_served_over_mcp(notes, capfd, monkeypatch):
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    main("obsidian_over_mcp", notes, "When does the mirror ship?")
    assert "ships in April" in capfd.readouterr().out


def test_a_service_answers_each_user_by_what_they_may_see(notes):
    from starlette.testclient import TestClient

    from weftwork import Node, Weft

    with Weft.open("service.weft") as weft:
        weft.add_user("ben")
        weft.add([Node(id="pay", title="Pay", text="Ana earns a lot.", access=frozenset({"me"}))])
    with TestClient(main("fastapi_service").make_app()) as client:

        def asked(user):
            return client.get("/context", params={"question": "What does Ana earn?"}, headers={"X-User": user})

        assert "a lot" in asked("me").json()["text"]
        assert "a lot" not in asked("ben").text
        assert asked("nobody").status_code == 400


def test_an_agent_finds_the_line_of_a_long_tool_result(notes, model, monkeypatch, capsys):
    lines = [f"{number:05} service-{number % 7} is fine, load {number % 100}" for number in range(4000)]
    lines[2500] = "02500 the billing service failed: disk full"
    model.replies.append(says("Billing."))
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    main("agent_with_tools", "Why did the billing service fail?")
    assert capsys.readouterr().out.endswith("Billing.\n")
    assert "disk full" in sent(model), "the part that answers"
    assert "03999 service" not in sent(model), "and not the whole log"


def test_an_evaluation_fails_when_evidence_is_lost(notes, tmp_path, capsys):
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"query": "When does the mirror ship?", "quotes": ["ships in April"]}\n')
    with pytest.raises(SystemExit) as end:
        main("evaluate_in_ci", notes, questions, 0.9)
    assert not end.value.code
    questions.write_text('{"query": "When does the mirror ship?", "quotes": ["on the moon"]}\n')
    with pytest.raises(SystemExit) as end:
        main("evaluate_in_ci", notes, questions, 0.9)
    assert end.value.code
