"""The options of a process, and its end."""

import signal
import socket
import threading
import time
from contextlib import suppress

import httpx
import pytest
import uvicorn

from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Options
from weftwork.server.http.process import _Server, make_options
from weftwork.server.http.slow_clients import PatientProtocol

from .serving import STUDIO


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"certificate": __file__}, "cannot be used for TLS"),
        ({"certificate": "/no/such.pem"}, "No such file"),
        ({"certificate_key": "key.pem"}, "a key without a certificate"),
        ({"proxies": ["wiki"]}, "no address of a proxy"),
        ({"drain": 9999}, "between 0 and 300"),
    ],
)
def test_options_that_cannot_be_are_refused(weft, chosen, message):
    with pytest.raises(InvalidInput, match=message):
        make_options(weft.store, Config(), {"host": "127.0.0.1", **chosen}, model=None)


def test_a_server_that_drains_answers_and_says_that_it_will_stop_until_a_second_signal(weft):
    app = make_app(weft, Options(local=STUDIO, drain_seconds=300))
    listening, said = threading.Event(), []

    def say(texts):
        said.extend(texts)
        listening.set()

    config = uvicorn.Config(app, port=0, log_config=None, lifespan="on")
    server = _Server(config, app.state.service, say)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert listening.wait(60)
    url = said[0].removeprefix("listening on ")
    assert httpx.get(f"{url}/readyz").status_code == 200
    server.handle_exit(signal.SIGTERM, None)
    assert [httpx.get(f"{url}/{path}").status_code for path in ("readyz", "healthz")] == [503, 200]
    server.handle_exit(signal.SIGTERM, None)
    thread.join(60)
    assert not thread.is_alive() and said[-1] == "stopped"


def test_a_connection_that_was_just_opened_is_answered_though_the_server_stops(weft, monkeypatch):
    monkeypatch.setattr(PatientProtocol, "LATE_SECONDS", 60)
    config = uvicorn.Config(
        make_app(weft, Options(local=STUDIO)), port=0, log_config=None, lifespan="on", http=PatientProtocol
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    address = server.servers[0].sockets[0].getsockname()
    with socket.create_connection(address, timeout=60) as connection:
        while not server.server_state.connections:
            time.sleep(0.01)
        server.should_exit = True
        with suppress(ConnectionRefusedError):
            while True:  # until nobody listens any more: what is open is being shut by then
                socket.create_connection(address, timeout=60).close()
                time.sleep(0.01)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200")
    thread.join(60)
    assert not thread.is_alive()
