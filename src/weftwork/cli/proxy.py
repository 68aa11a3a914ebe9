from __future__ import annotations

import logging
import os
import sys

import click

from weftwork.cli.options import settings
from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured
from weftwork.trust import secret


@click.command("proxy")
@click.option("--upstream", required=True, help="The endpoint to go on to, such as https://api.openai.com/v1.")
@click.option("--port", type=click.IntRange(0, 65535), default=8001, show_default=True, help="Port to listen on.")
@click.option("--budget", type=click.IntRange(1), help="Most tokens of a turn.  [default: 16000]")
@click.option("--key-env", help="The variable with the endpoint's key, for programs that send none.")
@settings
def command(upstream: str, port: int, budget: int | None, key_env: str | None, config: Config) -> None:
    """Add what a workspace knows to the requests of a program that cannot be changed.

    It speaks OpenAI's chat completions and responses, to programs of this machine: give them
    http://127.0.0.1:8001/v1 as base address. What nothing is known of goes on as it came.

    \b
    weftwork proxy --upstream https://api.openai.com/v1
    weftwork proxy --upstream http://127.0.0.1:11434/v1 --port 8002 --workspace studio
    """
    import uvicorn  # noqa: PLC0415 - an optional extra

    from weftwork.server.proxy.app import ProxyOptions, make_proxy  # noqa: PLC0415 - an optional extra

    if not upstream.startswith(("http://", "https://")):
        raise InvalidInput(f"--upstream is {upstream!r}: give an address that begins with https:// or http://")
    key = None if key_env is None else secret(key_env, os.environ)
    if key_env is not None and key is None:
        raise InvalidInput(f"--key-env names {key_env}, which is not set: set it, or leave the option out")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="weftwork proxy: %(message)s")
    with open_configured(config) as weft:
        options = ProxyOptions(upstream=upstream, user=config.user, workspace=config.workspace, budget=budget, key=key)
        click.echo(f"http://127.0.0.1:{port}/v1 goes on to {upstream}, as {config.user!r}; stop with Ctrl-C", err=True)
        uvicorn.run(make_proxy(weft, options), host="127.0.0.1", port=port, log_level="warning")
