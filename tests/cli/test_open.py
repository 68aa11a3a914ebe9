"""`weftwork open`: it serves the store where nobody does, and opens what answers."""

import os
import signal
import subprocess
import sys

from weftwork.cli.open import answers


def test_it_serves_the_store_itself_and_opens_a_server_that_answers(weft, here, monkeypatch):
    assert weft("init").code == 0
    own = {name: value for name, value in os.environ.items() if not name.startswith("WEFTWORK_")}
    command = [sys.executable, "-m", "weftwork.cli", "open", "--port", "0", "--print"]
    environment = {**own, "WEFTWORK_EMBEDDER": "hashing", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            address = process.stdout.readline().strip()
            assert answers(address)
            opened = []
            monkeypatch.setattr("webbrowser.open", lambda asked: opened.append(asked) or True)
            assert weft("open", "--port", address.strip("/").rpartition(":")[2]).code == 0
            assert opened == [address]
        finally:
            process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        assert "the page at this address shows what a model would read" in process.stderr.read()
    assert not answers(address)
