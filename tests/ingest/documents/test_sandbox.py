"""The process that parses has no network, no secrets, and no files but the document."""

import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from weftwork.ingest.documents import parsing
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.sandbox import environment
from weftwork.ingest.documents.values import Limits, Unreadable

PROBE = """
import socket, sys
from pathlib import Path
from weftwork.ingest.documents.sandbox import confine
given, own, secret, port = sys.argv[1:]
held = confine([Path(given)], [Path(own)])
def tried(action):
    try:
        action()
        return "done"
    except OSError:
        return "refused"
print(*sorted(held))
print("network", tried(lambda: socket.create_connection(("127.0.0.1", int(port)), 2)))
print("secret", tried(lambda: Path(secret).read_text()))
print("write", tried(lambda: (Path(given) / "x").write_text("x")))
print("passwords", tried(lambda: Path("/etc/passwd").read_text()))
print("given", tried(lambda: (Path(given) / "document.txt").read_text()))
print("own", tried(lambda: (Path(own) / "x").write_text("x")))
import json.tool, wave
"""


def test_a_confined_process_reads_what_it_was_given_and_reaches_nobody(tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "given" / "document.txt").write_text("x")
    (tmp_path / "secret").write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        arguments = [tmp_path / "given", tmp_path / "own", tmp_path / "secret", port]
        ran = subprocess.run([sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=True)
    held, *said = ran.stdout.splitlines()
    told = dict(line.split() for line in said)
    assert (told["given"], told["own"]) == ("done", "done")
    if "files" in held:
        assert (told["secret"], told["write"], told["passwords"]) == ("refused",) * 3
    if "network" in held:
        assert told["network"] == "refused"
    if held != "files network":
        pytest.skip(f"this system can give up {held or 'nothing'} only")


def test_no_variable_that_may_hold_a_secret_is_handed_on(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "secret" not in environment(tmp_path).values()


def test_the_document_is_gone_from_the_room_of_the_process_when_it_was_read(tmp_path):
    (tmp_path / "a.html").write_text("<h1>One</h1><p>Text.</p>")
    with Parser(ocr=False) as parser:
        assert len(list(parser.pages(tmp_path / "a.html", "html"))) == 2
        room = Path(parser._room.name)
        assert list((room / "given").iterdir()) == []
    assert not room.exists()
    assert (tmp_path / "a.html").read_text().startswith("<h1>")


def test_a_document_that_takes_too_long_in_all_is_given_up(tmp_path, monkeypatch):
    moments = iter([0.0, 1.0, 901.0])
    monkeypatch.setattr(parsing, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    (tmp_path / "a.html").write_text("<h1>One</h1><p>Text.</p>")
    with Parser(Limits(document_seconds=900), ocr=False) as parser, pytest.raises(Unreadable, match="after 900 s"):
        list(parser.pages(tmp_path / "a.html", "html"))
