from __future__ import annotations

import json
import sys

import click

from weftwork.cli.options import settings
from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.faces.agent_session import EVENTS, AgentSession
from weftwork.faces.opening import open_configured
from weftwork.surface import surface


@click.command("hook")
@click.argument("event", type=click.Choice(EVENTS))
@click.option("--budget", type=click.IntRange(1), help="Most tokens of a turn.  [default: 16000]")
@settings
def command(event: str, budget: int | None, config: Config) -> None:
    """Answer a hook of a coding agent: its input as JSON on standard input, the answer on standard output.

    A plugin calls it: see  weftwork plugin. It answers nothing where nothing fits.

    \b
    weftwork hook UserPromptSubmit < prompt.json   {"session_id": "s1", "prompt": "When is first light?"}
    """
    try:
        given = json.load(sys.stdin)
    except ValueError as error:
        raise InvalidInput(f"standard input is not JSON ({error}): let the agent call the hook") from error
    if not isinstance(given, dict):
        raise InvalidInput("standard input is not a JSON object: let the agent call the hook")
    with open_configured(config) as weft, surface("agent hook"):
        session = AgentSession(
            weft, given.get("session_id", ""), user=config.user, workspace=config.workspace, budget=budget
        )
        told = session.answer({**given, "hook_event_name": event})
    if told:
        answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": told}}
        click.echo(json.dumps(answer, ensure_ascii=False))
