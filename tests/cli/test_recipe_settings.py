"""`weftwork context --recipe workspace`, with and without settings in `weftwork.toml`."""

import json

import pytest

from weftwork.config import FILE


@pytest.fixture
def quinces(weft, here, monkeypatch):
    monkeypatch.setenv("WEFTWORK_EMBEDDER", "none")
    lines = [{"id": f"n{n}", "title": f"Jar {n}", "text": f"quince jelly, batch {n}"} for n in range(5)]
    (here / "jars.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert weft("init").code == 0
    assert weft("add", "jars.jsonl").code == 0
    return here


def test_the_recipe_is_there(weft, quinces):
    ran = weft("context", "quince", "--recipe", "workspace")
    assert ran.code == 0
    assert ran.out.startswith("\n## Current Context\n\n### Focused Content\n_No relevant content found._\n")
    assert ran.out.endswith("---\n\nUser Query: quince\n")
    assert ran.out.count("quince jelly") == 5


def test_it_works_as_its_settings_say(weft, quinces):
    (quinces / FILE).write_text("[recipes.workspace.collectors.semantic]\ntop_k = 2\n")
    assert weft("context", "quince", "--recipe", "workspace").out.count("quince jelly") == 2
    (quinces / FILE).write_text("[recipes.workspace.token_budget]\nsemantic = 0\n")
    assert weft("context", "quince", "--recipe", "workspace").out.count("quince jelly") == 0


def test_a_wrong_setting_ends_it_with_the_fix(weft, quinces):
    (quinces / FILE).write_text("[recipes.workspace]\nbudget = 1\n")
    ran = weft("context", "quince", "--recipe", "workspace")
    assert (ran.code, ran.out) == (1, "")
    assert "unknown setting recipes.workspace.budget: use one of token_budget" in ran.err


def test_its_settings_say_how_many_tokens_there_are(weft, quinces):
    def budget(*more):
        return weft("context", "quince", "--recipe", "workspace", "--json", *more).json["budget"]

    (quinces / FILE).write_text("budget = 900\n")
    assert budget() == 900
    (quinces / FILE).write_text(
        "budget = 900\n[recipes.workspace.token_budget]\ntotal = 300\nsystem = 20\nsemantic = 280\n"
    )
    assert budget() == 280
    assert budget("--max-tokens", "250") == 250
    assert weft("context", "quince", "--recipe", "default", "--json").json["budget"] == 900


def test_folders_can_be_left_out_of_the_graph_by_configuration(weft, here, monkeypatch):
    monkeypatch.setenv("WEFTWORK_EMBEDDER", "none")
    for name, text in (("note", "See [[day]] and [[plan]]."), ("Templates/day", "A day."), ("plan", "A plan.")):
        path = here / "vault" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert weft("init").code == 0
    assert weft("add", "vault").code == 0
    asked = ("context", "note", "--recipe", "graph")
    assert "A day." in weft(*asked).out
    (here / FILE).write_text('[recipes.graph]\nexclude = ["Templates"]\n')
    assert "A day." not in weft(*asked).out
    assert "A plan." in weft(*asked).out
    assert "A day." in weft("context", "day", "--recipe", "graph").out, "what is asked for is shown"
    (here / FILE).write_text('[recipes.graph]\nexclude = "Templates"\n')
    wrong = weft(*asked)
    assert wrong.code == 1 and 'exclude = ["Templates"]' in wrong.err


def test_a_page_in_focus_is_shown_with_its_content(weft, quinces):
    lines = [
        {"id": "shelf", "type": "page", "title": "Shelf", "text": "What stands on the shelf."},
        *(
            {"id": f"row{n}", "type": "list_item", "parent": "shelf", "position": n, "text": f"Row {n} holds pears."}
            for n in range(12)
        ),
    ]
    (quinces / "shelf.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert weft("add", "shelf.jsonl").code == 0
    out = weft("context", "Summarize this page", "--recipe", "workspace", "--focus", "shelf").out
    focused = out.partition("### Focused Content")[2].partition("### Related Content")[0]
    assert "What stands on the shelf." in focused
    assert [f"Row {n} holds pears." in focused for n in range(12)] == [True] * 12
