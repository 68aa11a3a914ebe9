"""The options of a process, and its end."""

import signal
import threading

import httpx
import pytest
import uvicorn

from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Options
from weftwork.server.http.process import _Server, make_options

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
