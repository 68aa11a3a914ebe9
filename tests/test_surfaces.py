"""One default: the same question of the same user gives the same bytes on every surface."""

import json
import os
import sys

import httpx
import pytest
from mcp import StdioServerParameters
from starlette.testclient import TestClient

from weftwork import Client, Weft, sample
from weftwork.cli import main
from weftwork.config import ENVIRONMENT, FILE, load_config
from weftwork.evaluate import run
from weftwork.faces.opening import open_configured
from weftwork.faces.workspace import ContextBuilder, ContextRequest, User, WorkspaceConfig
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Local, Options

from .server.http.serving import running
from .server.talking import talking

SETTINGS = """\
store = "studio.weft"
workspace = "studio"
user = "ben"
embedder = "hashing"
budget = 700

[templates.default]
header = "From the studio. Cite by [id].\\n\\n"
item = "{{citation}} {{about}}\\n{{content}}"
quote = "cite"

[recipes.workspace.token_budget]
total = 900
system = 50
semantic = 500

[recipes.workspace.collectors.semantic]
top_k = 6

[recipes.memory.decay]
preference = 10
"""
QUESTIONS = [
    ("When does the mirror ship?", "default"),
    ("What did we decide about the base?", "default"),
    ("mirror pinholes", "workspace"),
    ("Who works on the base?", "workspace"),
    ("[[Finch]]", "default"),
    ("open evenings and the Moon", "memory"),
    ("nothing that anybody wrote, zzqq", "default"),
]
SMALL = 600
"""Bytes that an answer may have beside three times its text."""
KINDS = ("Included", "Summarized", "Omitted")
OURS = {"user": "ben", "workspace": sample.WORKSPACE}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("surfaces")
    with Weft.open(place / "studio.weft", embedder="hashing", clock=lambda: sample.NOW) as weft:
        sample.load(weft)
    (place / FILE).write_text(SETTINGS, encoding="utf-8")
    return place


@pytest.fixture(scope="module", autouse=True)
def settings_alone():
    """Nothing of the environment overrides the file."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ENVIRONMENT:
            patch.delenv(variable, raising=False)
        yield


@pytest.fixture(scope="module")
def weft(folder, settings_alone):
    with open_configured(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def app(weft):
    local = Local(user="ben", workspace=sample.WORKSPACE)
    return make_app(weft, Options(local=local, limits=Limits(requests_per_minute=0)))


@pytest.fixture(scope="module")
def http(app):
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        yield client


class Wire(httpx.HTTPTransport):
    """A connection that keeps the body of the last answer."""

    body = b""

    def handle_request(self, request):
        response = super().handle_request(request)
        self.body = response.read()
        return response


@pytest.fixture(scope="module")
def wire():
    return Wire()


@pytest.fixture(scope="module")
def client(app, wire):
    with running(app) as url, Client(url, transport=wire) as remote:
        yield remote


@pytest.fixture(scope="module")
def talk(folder):
    keep = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "PYTHONPATH") if name in os.environ}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "weftwork.cli", "mcp"], env={**keep, "HOME": str(folder)}, cwd=str(folder)
    )
    with talking(command) as assistant:
        yield assistant


@pytest.fixture
def command(folder, monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["weftwork", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize(("query", "recipe"), QUESTIONS)
def test_every_surface_gives_the_same_bytes(  # noqa: PLR0917
    query, recipe, weft, client, http, talk, command, folder, monkeypatch
):
    context = weft.context(query, recipe=recipe, **OURS)
    asked = {"query": query, "recipe": recipe}
    place = f"/v1/workspaces/{sample.WORKSPACE}"
    judged = []
    judge = run.judge
    monkeypatch.setattr(run, "judge", lambda made, *rest: judged.append(made) or judge(made, *rest))
    questions = folder / "questions.jsonl"
    questions.write_text(json.dumps({"id": "1", "query": query, "wanted": ["finch"]}) + "\n", encoding="utf-8")
    command("eval", str(questions), "--recipe", recipe, "--json")
    inspected = http.post(f"{place}/inspect", json=asked).json()
    texts = {
        "Client": client.context(query, recipe=recipe, workspace=sample.WORKSPACE).text,
        "HTTP": http.post(f"{place}/context/build", json=asked).json()["text"],
        "MCP": talk.call("weftwork_context", **asked).content[0].text,
        "weftwork context": command("context", query, "--recipe", recipe),
        "weftwork context --json": json.loads(command("context", query, "--recipe", recipe, "--json"))["text"],
        "the inspector": "".join(piece["text"] for piece in inspected["pieces"]),
        "weftwork eval": judged[0].text,
    }
    wanted = context.text
    texts["weftwork context"] = texts["weftwork context"].removesuffix("" if wanted.endswith("\n") else "\n")
    assert {name: text for name, text in texts.items() if text != wanted} == {}
    assert context.budget == (850 if recipe == "workspace" else 700)
    if recipe == "default" and context.items:
        assert wanted.startswith("From the studio.")


@pytest.mark.parametrize("query", ["mirror pinholes", "Who works on the base?"])
def test_the_builder_keeps_the_settings_on_every_surface(query, weft, client, http, folder):
    asked = ContextRequest(query=query, user=User("ben", sample.WORKSPACE), type="search")
    place = f"/v1/workspaces/{sample.WORKSPACE}/context/workspace/build"
    payloads = {
        "Weft": ContextBuilder(weft).build_sync(asked).to_dict(),
        "Client": ContextBuilder(client).build_sync(asked).to_dict(),
        "HTTP": http.post(place, json={"query": query, "type": "search"}).json(),
    }
    table = load_config(folder).recipes["workspace"]
    by_settings = ContextBuilder(weft, WorkspaceConfig.from_mapping(table)).build_sync(asked).to_dict()
    assert {name: payload for name, payload in payloads.items() if payload != by_settings} == {}
    assert by_settings["metadata"]["totalTokens"] <= 850
    assert ContextBuilder(weft, WorkspaceConfig()).build_sync(asked).to_dict() != by_settings


def test_every_surface_reads_the_same_document(weft, client, http, talk, command):
    document = weft.read("Finch", **OURS)
    assert client.read("Finch", workspace=sample.WORKSPACE) == document
    place = f"/v1/workspaces/{sample.WORKSPACE}/read"
    assert http.get(place, params={"reference": "Finch"}).json()["text"] == document.text
    assert command("read", "Finch") == document.text + "\n"
    assert talk.text("weftwork_read", id="Finch").endswith(f"---\n\n{document.text}\n")


def size(text):
    """Bytes of a text on the wire."""
    return len(text.encode())


@pytest.mark.parametrize("budget", [300, 1_000, 4_000])
@pytest.mark.parametrize("query", [query for query, _ in QUESTIONS])
def test_a_context_is_lean_on_the_wire_and_whole_on_request(query, budget, http, client, wire, command):
    place = f"/v1/workspaces/{sample.WORKSPACE}/context/build"
    answer = http.post(place, json={"query": query, "budget": budget})
    sent = answer.json()
    asked = {"budget": budget, "workspace": sample.WORKSPACE}
    lean, lean_traffic = client.context(query, **asked), len(wire.body)
    sizes = {
        "HTTP": len(answer.content),
        "Client": lean_traffic,
        "weftwork context --json": size(command("context", query, "--budget", str(budget), "--json")),
    }
    most = 3 * size(sent["text"]) + SMALL
    assert {name: count for name, count in sizes.items() if count > most} == {}
    whole = client.context(query, **asked, explain=True)
    assert whole.id == lean.id == sent["id"]
    assert whole.text == lean.text == sent["text"]
    assert whole.trace and len(wire.body) > 2 * lean_traffic
    shown = [name for section in sent["sections"] for each in section["excerpts"] for name in each["citations"]]
    named = [name for each in sent["overflow"] for name in each["citations"]]
    assert set(shown + named) == {each["id"] for each in sent["citations"]}


@pytest.mark.parametrize("budget", [300, 1_000, 4_000])
@pytest.mark.parametrize("query", [query for query, _ in QUESTIONS])
def test_a_delta_is_lean_on_the_wire_and_whole_on_request(query, budget, weft, http, client, wire):
    place = f"/v1/workspaces/{sample.WORKSPACE}/context/delta"
    asked = {"budget": budget, "workspace": sample.WORKSPACE}
    for earlier in (query, "Finch", "when are open evenings"):
        since = weft.context(earlier, budget=budget, **OURS).id
        answer = http.post(place, json={"query": query, "budget": budget, "since": since})
        delta = client.context(query, **asked, since=since)
        assert delta.text == answer.json()["text"]
        assert max(len(answer.content), len(wire.body)) <= 3 * size(delta.text) + SMALL
        whole = client.context(query, **asked, since=since, explain=True)
        assert (whole.text, whole.context.id) == (delta.text, delta.id)


@pytest.mark.parametrize("recipe", ["default", "graph"])
@pytest.mark.parametrize("budget", [300, 1_000, 4_000])
@pytest.mark.parametrize("query", [query for query, _ in QUESTIONS])
def test_a_context_as_json_is_lean_over_mcp_and_has_details_on_request(query, budget, recipe, talk):
    asked = {"query": query, "maxTokens": budget, "recipe": recipe}
    text = talk.call("weftwork_context", **asked).content[0].text
    printed = talk.call("weftwork_context", **asked, format="json").content[0].text
    lean = json.loads(printed)
    assert lean["meta"]["tokens"]["used"] <= budget
    assert size(json.dumps(lean, ensure_ascii=False, separators=(",", ":"))) <= 3 * size(text) + SMALL
    assert all(node.keys() >= {"id", "name", "content", "tags", "score", "distance", "path"} for node in lean["nodes"])
    assert all(node.keys() >= {"id", "name", "tags", "score"} for node in lean["overflow"])
    assert not any("components" in node for node in lean["nodes"])
    detailed = json.loads(talk.call("weftwork_context", **asked, format="json", details=True).content[0].text)
    assert bool(detailed["nodes"]) == any(node["components"] for node in detailed["nodes"])
    reached = [sum(answer["meta"]["tokens"][f"nodes{kind}"] for kind in KINDS) for answer in (lean, detailed)]
    assert reached[0] == reached[1]
    # In details, fewer nodes fit into the budget: the best of them.
    for brief, full in zip(lean["nodes"][: len(detailed["nodes"])], detailed["nodes"], strict=True):
        assert brief["id"] == full["id"]
        starts = [step["from"] for step in brief["path"]]
        assert starts == [step["from"] for step in full["path"]]
        assert [*starts, brief["id"]][1:] == [step["to"] for step in full["path"]]
