"""The command, run as its entry point runs it, without a process of its own."""

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from weftwork.cli import main


def settings():
    """The environment of a command: an embedder that needs no model, and nobody's own settings."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("WEFTWORK_")}
    return own | {"WEFTWORK_EMBEDDER": "hashing"}


def run(*arguments, cwd=None, **environment):
    """The exit code, standard output and standard error."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
    with (
        chdir(cwd or Path.cwd()),
        patch.dict(os.environ, settings() | environment, clear=True),
        patch.object(sys, "argv", ["weftwork", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return int(code or 0), out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def succeed(*arguments, cwd=None, **environment):
    """The standard output of a command that has to succeed."""
    code, out, err = run(*arguments, cwd=cwd, **environment)
    assert code == 0, err
    return out
