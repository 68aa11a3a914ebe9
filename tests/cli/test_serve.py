"""`weftwork serve`: what it refuses, what it says, and how it stops."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from weftwork import Weft
from weftwork.cli.serve import merged
from weftwork.errors import InvalidInput
from weftwork.server.http.process import is_loopback, listening
from weftwork.store.server_state import UNFINISHED

get = partial(httpx.get, timeout=60, verify=False)  # without TLS, so that no request has to load certificates


@pytest.fixture
def ready(weft, here):
    assert weft("init").code == 0
    return here


@contextmanager
def serving(folder, *arguments):
    """A server in a process of its own, its address, and what it says on standard error."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("WEFTWORK_")}
    command = [sys.executable, "-m", "weftwork.cli", "serve", "--port", "0", *arguments]
    errors = folder / "stderr.txt"
    with errors.open("w") as stderr:
        process = subprocess.Popen(command, cwd=folder, env=own | {"WEFTWORK_EMBEDDER": "hashing"}, stderr=stderr)
    try:
        while not (found := re.search(r"listening on (http://\S+)", errors.read_text())):
            assert process.poll() is None, errors.read_text()
            time.sleep(0.05)
        yield process, found[1], errors
    finally:
        process.kill()
        process.wait()


def refused(address):
    """Wait until nobody listens any more."""
    host, _, port = address.removeprefix("http://").partition(":")
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except ConnectionRefusedError:
            return
        time.sleep(0.02)


def test_a_request_in_flight_is_finished_and_what_it_asked_for_is_done_after_the_restart(ready):
    form = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="note.md"\r\n'
        b"Content-Type: text/markdown\r\n\r\nBirch is light.\r\n--x--\r\n"
    )
    head = (
        "POST /v1/workspaces/main/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: "
        f"{len(form)}\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n"
    ).encode()
    with serving(ready) as (process, address, errors):
        host, _, port = address.removeprefix("http://").partition(":")
        with closing(socket.create_connection((host, int(port)), timeout=30)) as connection:
            connection.sendall(head + form[:50])
            while "in_flight 2.0" not in get(f"{address}/metrics").text:
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            refused(address)
            connection.sendall(form[50:])
            answer = b""
            while part := connection.recv(65536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 202"), answer
        assert process.wait(30) == 0
        said = errors.read_text()
    assert "no key is configured" in said
    assert "'me'" in said
    assert "Birch" not in said
    with Weft.open(ready / "notes.weft", embedder="hashing") as weft:
        (job,) = weft.store.jobs.in_states(UNFINISHED)
        assert job.state == "queued"
        assert weft.search("birch", mode="words") == []
    with serving(ready) as (process, address, _):
        while (state := get(f"{address}/v1/workspaces/main/jobs/{job.id}").json()["state"]) in UNFINISHED:
            time.sleep(0.02)
        assert state == "done"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    with Weft.open(ready / "notes.weft", embedder="hashing") as weft:
        assert weft.search("birch", mode="words")
    assert not list(ready.glob("notes.weft.uploads/*"))


def test_with_a_key_every_request_needs_one(weft, ready):
    key = weft("keys", "create", "--scope", "read").out.strip()
    with serving(ready, "--host", "localhost", "--limit", "burst=3", "--limit", "requests_per_minute=1") as (
        _,
        address,
        errors,
    ):
        assert "every request needs a key" in errors.read_text()
        port = address.rpartition(":")[2]
        url = f"http://127.0.0.1:{port}/openapi.json"
        assert get(url).status_code == 401
        codes = [get(url, headers={"Authorization": f"Bearer {key}"}).status_code for _ in range(4)]
        assert codes == [200, 200, 200, 429]
        answer = get(f"http://127.0.0.1:{port}/healthz")
        assert answer.status_code == 200
        assert "server" not in answer.headers
        logged = errors.read_text()
    assert key not in logged
    assert "GET /openapi.json 429" in logged


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--host", "0.0.0.0"), "weftwork keys create"),
        (("--host", "::"), "weftwork keys create"),
        (("--host", "example.org"), "weftwork keys create"),
        (("--limit", "batches=3"), "unknown limit 'batches': use body_bytes"),
        (("--limit", "batch=0"), "at least 1"),
        (("--limit", "batch"), "NAME=NUMBER"),
        (("--cors", "*"), "no origin"),
        (("--cors", "https://wiki.example/"), "no origin"),
        (("--workers", "0"), "workers"),
        (("--port", "70000"), "--port"),
        (("--store", "absent.weft"), "weftwork init"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_fix(weft, ready, arguments, told):
    ran = weft("serve", *arguments)
    assert ran.code != 0
    assert told in ran.err


def test_a_port_that_is_taken_is_an_error(weft, ready):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        ran = weft("serve", "--port", taken.getsockname()[1])
    assert ran.code == 1
    assert "in use" in ran.err
    assert "choose another" in ran.err


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_there_is_not_is_an_error(port):
    with pytest.raises(InvalidInput, match="0 to 65535"):
        listening("127.0.0.1", port)


def test_without_the_extra_the_error_names_it(ready):
    script = (
        "import sys; sys.modules['fastapi'] = None\n"
        "sys.argv = ['weftwork', 'serve']\nfrom weftwork.cli import main; main()"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=ready, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "pip install 'weftwork[server]'" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_command_line_stands_over_the_file_and_limits_are_put_together():
    table = {"host": "10.0.0.1", "port": 80, "limits": {"batch": 5, "depth": 3}, "cors": ["https://a.example"]}
    settings = merged(table, {"host": None, "port": 90, "limits": ("batch=7",), "cors": (), "open_metrics": False})
    assert settings == {
        "host": "10.0.0.1", "port": 90, "limits": {"batch": 7, "depth": 3}, "cors": ["https://a.example"],
    }  # fmt: skip
    assert merged({}, {}) == {"host": "127.0.0.1", "port": 8000}
    assert merged({"port": 80}, {"port": 0})["port"] == 0


@pytest.mark.parametrize("table", [{"hosts": "x"}, {"port": "80"}, {"cors": "https://a.example"}, {"workers": True}])
def test_a_setting_that_is_wrong_in_the_file_is_refused(table):
    with pytest.raises(InvalidInput, match=r"\[server\]"):
        merged(table, {})


def test_the_file_and_the_environment_are_read(weft, ready, monkeypatch):
    (ready / "weftwork.toml").write_text('[server]\nhost = "0.0.0.0"\n')
    assert "not on 0.0.0.0" in weft("serve").err
    monkeypatch.setenv("WEFTWORK_HOST", "192.168.0.1")
    assert "not on 192.168.0.1" in weft("serve").err
    monkeypatch.setenv("WEFTWORK_HOST", "127.0.0.1")
    monkeypatch.setenv("WEFTWORK_LIMITS", "batch=1 nonsense=2")
    assert "unknown limit 'nonsense'" in weft("serve").err


@pytest.mark.parametrize(
    ("host", "is_own"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("", False), ("localhost.evil.example", False), ("2130706433", False)],
)  # fmt: skip
def test_what_only_this_machine_can_reach(host, is_own):
    assert is_loopback(host) is is_own


def figure(address, name):
    """The sum of a metric over its labels."""
    lines = get(f"{address}/metrics").text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name) and "_created" not in line)


def children(process):
    """The processes that answer: those that spawn has made, without its own tracker."""
    folder = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    found = folder.read_text().split() if folder.exists() else []
    commands = {int(pid): Path(f"/proc/{pid}/cmdline") for pid in found}
    return {pid for pid, command in commands.items() if command.exists() and "spawn_main" in command.read_text()}


def until(condition):
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in four minutes"
        time.sleep(0.05)


def test_several_processes_answer_as_one_server_and_are_renewed_without_a_refusal(ready):
    arguments = ("--processes", "2", "--open-metrics", "--limit", "requests_per_minute=1", "--limit", "burst=20")
    with serving(ready, *arguments) as (process, address, errors):
        until(lambda: "2 processes answer" in errors.read_text())
        first = children(process)
        assert len(first) == 2
        # One rate for all processes, whoever is connected to which, and one account of what was answered.
        codes = [get(f"{address}/v1/workspaces").status_code for _ in range(40)]
        assert 20 <= codes.count(200) <= 25 and codes.count(200) + codes.count(429) == 40
        assert figure(address, "weftwork_http_requests_total{") >= 40
        process.send_signal(signal.SIGHUP)
        answered = []
        until(lambda: answered.append(get(f"{address}/healthz").status_code) or "were renewed" in errors.read_text())
        assert set(answered) == {200}
        second = children(process)
        assert len(second) == 2 and not first & second
        assert figure(address, "weftwork_http_requests_total{") >= 40
        # One that dies is replaced, and the other answers meanwhile.
        victim = min(second)
        os.kill(victim, signal.SIGKILL)
        until(lambda: get(f"{address}/healthz").status_code == 200 and len(children(process) - {victim}) == 2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(240) == 0
        refused(address)
        assert children(process) == set()


def test_the_processes_end_with_their_supervisor_however_it_ends(ready):
    with serving(ready, "--processes", "2") as (process, address, errors):
        until(lambda: "2 processes answer" in errors.read_text())
        process.kill()
        process.wait()
        refused(address)
