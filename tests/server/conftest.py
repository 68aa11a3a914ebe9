import os
import sys
from importlib import resources

import pytest
from mcp import StdioServerParameters

from weftwork import Node, sample

from .talking import open_reduced, open_sample, sight, talking

LONG = "\n\n".join(
    f"Night {night}: the seeing was {'steady' if night % 3 else 'poor'} and {night * 7} stars were counted. " * 4
    for night in range(300)
)


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """The sample workspace with a long page, in a file that processes can open."""
    path = tmp_path_factory.mktemp("studio") / "studio.weft"
    with open_sample(path) as weft:
        weft.add([Node(id="log", type="page", title="Night log", text=LONG)], workspace=sample.WORKSPACE)
    return path


@pytest.fixture(scope="session")
def command(studio, tmp_path_factory):
    """How a client starts the server."""

    def parameters(*more, user="ana", workspace=sample.WORKSPACE):
        keep = {
            name: os.environ[name]
            for name in ("PATH", "SYSTEMROOT", "COVERAGE_PROCESS_START", "PYTHONPATH")
            if name in os.environ
        }
        home = str(tmp_path_factory.mktemp("home"))
        return StdioServerParameters(
            command=sys.executable,
            args=["-m", "weftwork.cli", "mcp", "--store", str(studio), "--workspace", workspace, "--user", user, *more],
            env={**keep, "WEFTWORK_EMBEDDER": "hashing", "HOME": home},
            cwd=home,
        )

    return parameters


@pytest.fixture(scope="session", params=["auto", "legacy"])
def ana(command, request):
    """Ana's assistant, by the protocol of today and by that of before."""
    with talking(command(), request.param) as talk:
        yield talk


@pytest.fixture(scope="session")
def twins(tmp_path_factory):
    """The sample, and the sample without what Ben may not see; with the ids of both kinds."""
    folder = tmp_path_factory.mktemp("twins")
    whole = open_sample(folder / "whole.weft")
    seen, hidden = sight(whole, "ben")
    with resources.as_file(resources.files(sample) / "workspace.jsonl") as source:
        reduced = open_reduced(folder / "reduced.weft", source, seen)
    yield whole, reduced, seen, hidden
    whole.close()
    reduced.close()
