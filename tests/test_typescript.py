"""The TypeScript client: its generated files are up to date, and it talks to a running server."""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from weftwork import Weft
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Local, Options

from .server.http.serving import running

ROOT = Path(__file__).parent.parent
CLIENT = ROOT / "clients" / "typescript"


def generator():
    spec = importlib.util.spec_from_file_location("typescript_client", ROOT / "scripts" / "typescript_client.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_files_are_those_of_the_description():
    for name, content in generator().generated().items():
        written = (CLIENT / "src" / name).read_text(encoding="utf-8")
        assert written == content, f"{name} is out of date: run  make client"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_client_talks_to_a_running_server(tmp_path):
    with Weft.open(tmp_path / "a.weft", embedder="hashing") as weft:
        options = Options(local=Local(user="me", workspace="main"), limits=Limits(requests_per_minute=0))
        with running(make_app(weft, options)) as url:
            ran = subprocess.run(
                ["node", "--test", "test/client.test.js"], cwd=CLIENT, env={**os.environ, "WEFTWORK_URL": url},
                capture_output=True, text=True, check=False, timeout=120,
            )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
