from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import click

from weftwork.cli.options import settings
from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured
from weftwork.faces.research import ChatModel, ModelSettings

KINDS = {"host": str, "port": int, "cors": list, "open_metrics": bool, "uploads": str, "workers": int, "threads": int,
         "processes": int, "certificate": str, "certificate_key": str, "proxies": list, "drain": int, "log": str,
         "limits": dict, "oauth": dict, "otel": bool, "new_users": list}  # fmt: skip
"""Settings of the table [server] of weftwork.toml, and their types."""


@click.command("serve")
@click.option("--host", envvar="WEFTWORK_HOST", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", envvar="WEFTWORK_PORT", type=click.IntRange(0, 65535), help="Port.  [default: 8000]")
@click.option("--cors", envvar="WEFTWORK_CORS", multiple=True, help="An origin whose pages may call this server.")
@click.option("--limit", "limits", envvar="WEFTWORK_LIMITS", multiple=True, help="NAME=NUMBER, such as batch=500.")
@click.option("--uploads", envvar="WEFTWORK_UPLOADS", help="Folder in which uploads wait.  [default: beside the store]")
@click.option("--workers", envvar="WEFTWORK_WORKERS", type=int, help="Documents indexed at once.  [default: 1]")
@click.option("--threads", envvar="WEFTWORK_THREADS", type=int, help="Requests worked on at once.  [default: 16]")
@click.option(
    "--processes",
    envvar="WEFTWORK_PROCESSES",
    type=int,
    help="Processes that answer; SIGHUP renews.  [default: 1]",
)
@click.option("--certificate", envvar="WEFTWORK_CERTIFICATE", metavar="FILE", help="Speak TLS with this certificate.")
@click.option(
    "--certificate-key", envvar="WEFTWORK_CERTIFICATE_KEY", metavar="FILE", help="The key of the certificate."
)
@click.option("--proxy", "proxies", envvar="WEFTWORK_PROXIES", multiple=True, metavar="ADDRESS",
              help="A proxy that is believed what client it speaks for.")  # fmt: skip
@click.option("--drain", envvar="WEFTWORK_DRAIN", type=int, metavar="SECONDS",
              help="Answer so long after SIGTERM, while /readyz says no.  [default: 0]")  # fmt: skip
@click.option(
    "--log", envvar="WEFTWORK_LOG", type=click.Choice(["text", "json"]), help="Form of the log.  [default: text]"
)
@click.option("--open-metrics", envvar="WEFTWORK_OPEN_METRICS", is_flag=True, help="Let everyone read /metrics.")
@click.option(
    "--otel", envvar="WEFTWORK_OTEL", is_flag=True, help="Send OpenTelemetry spans; OTEL_… variables say where."
)
@settings
def command(*, config: Config, **arguments: Any) -> None:
    """Serve a store over HTTP and MCP, with the inspector at /.

    The keys in the store say who may do what: make them with  weftwork keys create. Without any key the server
    listens on this machine only and answers as the configured user.

    \b
    weftwork serve
    weftwork serve --host 0.0.0.0 --port 8080 --cors https://wiki.example.org
    weftwork serve --processes 4
    weftwork serve --limit requests_per_minute=120 --limit body_bytes=500000
    """
    serve(config, merged(config.server, arguments), lambda text: click.echo(text, err=True))


def serve(config: Config, chosen: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """Serve a store by these settings until a signal comes."""
    from weftwork.server.http.logs import set_up_logging  # noqa: PLC0415 - an optional extra
    from weftwork.server.http.process import listening, make_options, run  # noqa: PLC0415 - an optional extra

    set_up_logging(chosen.get("log", "text"))
    processes = chosen.get("processes", 1)
    if processes < 1:
        raise InvalidInput(f"processes must be at least 1, got {processes}")
    if processes > 1:
        from weftwork.server.http.processes import serve_together  # noqa: PLC0415 - an optional extra

        serve_together(config, chosen, processes=processes, say=say)
        return
    model = ModelSettings.from_mapping(config.model, os.environ)
    with open_configured(config) as weft:
        options = make_options(weft.store, config, chosen, model=None if model is None else ChatModel(model))
        with listening(chosen["host"], chosen["port"]) as listener:
            run(weft, options, listener=listener, say=lambda texts: say("\n".join(texts)))


def merged(table: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the options of the command line and the environment over the table [server]."""
    for name, value in table.items():
        if name not in KINDS:
            raise InvalidInput(f"[server] has an unknown setting {name!r}: use {', '.join(KINDS)}")
        if type(value) is not KINDS[name]:
            raise InvalidInput(f"{name} in [server] must be of type {KINDS[name].__name__}, got {value!r}")
    chosen = {name: value for name, value in options.items() if value not in (None, ()) and value is not False}
    if "limits" in chosen:
        chosen["limits"] = {**table.get("limits", {}), **dict(map(_limit, chosen["limits"]))}
    return {"host": "127.0.0.1", "port": 8000, **table, **chosen}


def _limit(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not (number.isascii() and number.isdigit()):
        raise click.UsageError(f"--limit {text}: write NAME=NUMBER, such as batch=500")
    return name, int(number)
