"""The command on a database: the same words, another address."""

import json

import psycopg
import pytest
from click.testing import CliRunner

from weftwork.cli import group


@pytest.fixture
def address(server):
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute("CREATE DATABASE command")
    return server.url("command")


def test_a_store_is_made_filled_asked_counted_and_checked(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("WEFTWORK_EMBEDDER", "hashing")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Quince\n\nThe quince jam is on the shelf.\n", encoding="utf-8")

    def weft(*words):
        result = CliRunner().invoke(group, words)
        assert result.exit_code == 0, result.output
        return result.output

    missing = CliRunner().invoke(group, ["stats", "--store", address])
    assert missing.exit_code != 0
    assert "weftwork init" in f"{missing.output}{missing.exception}"
    assert "is ready" in weft("init", address)
    assert f'store = "{address}"' in (tmp_path / "weftwork.toml").read_text(encoding="utf-8")
    weft("add", "notes")
    assert "on the shelf" in weft("context", "Where is the quince jam?")
    assert json.loads(weft("stats", "--json"))["passages"] >= 1
    checked = json.loads(weft("doctor", "--json", "--store", address.replace("postgres@", "postgres:secret@")))
    assert checked["problems"] == []
    assert "secret" not in checked["store"]
