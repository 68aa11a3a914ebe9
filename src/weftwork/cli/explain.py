from __future__ import annotations

from typing import Any

import click

from weftwork.cli.asking import ask, asking
from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.render import explain, to_dict


@click.command("explain")
@asking
@as_json
@settings
def command(as_json: bool, config: Config, **request: Any) -> None:
    """Show each candidate of a context: who found it, its score, and why it is in or out.

    \b
    weftwork explain "When do we ship?"
    weftwork explain "When do we ship?" --max-tokens 500 --json
    """
    context = ask(config, **request).context
    if as_json:
        print_json(to_dict(context)["decisions"])
    else:
        click.echo(explain(context))
