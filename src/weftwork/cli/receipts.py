from __future__ import annotations

import click

from weftwork.cli.options import as_json, confirm_removal, print_json, settings, without_asking
from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured
from weftwork.receipts import Receipt, Replay
from weftwork.render.quote import inline
from weftwork.types import EVERYONE
from weftwork.wire import encode

LISTED = 20
everyone = click.option("--everyone", is_flag=True, help="Those of all users: who has the store may read them.")


@click.group("receipts", invoke_without_command=True)
@click.option("--limit", type=int, default=LISTED, show_default=True, help="How many.")
@click.option("--thread", help="Only those of this thread.")
@everyone
@as_json
@settings
def command(*, limit: int, thread: str | None, everyone: bool, as_json: bool, config: Config) -> None:
    """List the contexts and turns that were handed out, the latest first.

    \b
    weftwork receipts
    weftwork receipts --thread me/thr-3k9x0a1b2c --json
    weftwork receipts show rec-3k9x0a1b2c
    weftwork receipts replay rec-3k9x0a1b2c
    weftwork receipts erase --all
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    with open_configured(config) as weft:
        found = weft.receipts.list(limit, thread=thread, user=config.user, workspace=config.workspace, admin=everyone)
    if as_json:
        print_json([encode(receipt) for receipt in found])
        return
    for receipt in found:
        click.echo(line(receipt))
    if not found:
        click.echo("no receipts", err=True)


@command.command("show")
@click.argument("receipt")
@everyone
@as_json
@settings
def show(*, receipt: str, everyone: bool, as_json: bool, config: Config) -> None:
    """Show who was given what, when and why.

    \b
    weftwork receipts show rec-3k9x0a1b2c
    """
    with open_configured(config) as weft:
        found = weft.receipts.get(receipt, user=config.user, workspace=config.workspace, admin=everyone)
    if as_json:
        print_json(encode(found))
    else:
        click.echo("\n".join(told(found)))


@command.command("replay")
@click.argument("receipt")
@everyone
@click.option("--text", is_flag=True, help="Also print what the same request gives now.")
@as_json
@settings
def replay(*, receipt: str, everyone: bool, text: bool, as_json: bool, config: Config) -> None:
    """Ask the same again, and say how what is given now differs from what was given then.

    \b
    weftwork receipts replay rec-3k9x0a1b2c
    weftwork receipts replay rec-3k9x0a1b2c --text
    """
    with open_configured(config) as weft:
        found = weft.receipts.replay(receipt, user=config.user, workspace=config.workspace, admin=everyone)
    if as_json:
        print_json(encode(found))
        return
    for each in compared(found):
        click.echo(each)
    if text:
        click.echo(f"\n{found.text}", nl=False)


@command.command("erase")
@click.argument("receipts", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All receipts of the user.")
@everyone
@without_asking
@settings
def erase(*, receipts: tuple[str, ...], everything: bool, everyone: bool, yes: bool, config: Config) -> None:
    """Remove receipts for good.

    \b
    weftwork receipts erase rec-3k9x0a1b2c
    weftwork receipts erase --all --yes
    """
    if bool(receipts) == everything:
        raise InvalidInput("name the receipts to erase, or give --all")
    whose = "all users" if everyone else config.user
    confirm_removal([inline(name) for name in receipts] or [f"all receipts of {inline(whose)}"], yes)
    with open_configured(config) as weft:
        erased = weft.receipts.erase(
            *receipts,
            everything=everything,
            of=EVERYONE if everyone and everything else None,
            user=config.user,
            workspace=config.workspace,
            admin=everyone,
        )
    click.echo(f"{erased} erased")


def line(receipt: Receipt) -> str:
    """A receipt on one line."""
    given = f"{len(receipt.used)} source{'' if len(receipt.used) == 1 else 's'}" if receipt.inject else "nothing"
    return (
        f"{receipt.id}  {receipt.at:%Y-%m-%d %H:%M}  {inline(receipt.user, 40)}  {receipt.kind} by "
        f"{inline(receipt.surface, 40)}  {given}, {receipt.tokens} tokens  {inline(receipt.query, 80)}"
    )


def told(receipt: Receipt) -> list[str]:
    """A receipt in full."""
    lines = [
        f"{receipt.id}: a {receipt.kind} for {inline(receipt.user)} in {inline(receipt.workspace)}, by "
        f"{inline(receipt.surface)}, {receipt.at:%Y-%m-%d %H:%M:%S} UTC",
        f"asked      {inline(receipt.query, 500)}",
        f"given      {receipt.tokens} of {receipt.budget} tokens"
        + (f", {receipt.cached_tokens} of them sent before" if receipt.kind == "turn" else ""),
        f"recipe     {inline(receipt.recipe)}; version {receipt.version} of the workspace; {receipt.software}, "
        f"{receipt.tokenizer}, {receipt.embedder or 'no embedder'}",
        f"hash       {receipt.hash}",
    ]
    lines += [f"thread     {inline(receipt.thread)}"] if receipt.thread else []
    lines += [f"because    {inline(receipt.reason, 300)}"] if receipt.reason else []
    lines += [f"support    {receipt.support:.2f}"] if receipt.support is not None else []
    lines += [f"warning    {inline(warning, 300)}" for warning in receipt.warnings]
    if receipt.used:
        lines.append("sources")
    lines += [
        f"  [{each.citation}] {inline(each.title, 80) or 'no longer available'}: {inline(each.why, 200)}"
        for each in receipt.used
    ]
    if receipt.earlier:
        lines.append(f"from earlier turns: {', '.join(receipt.earlier)}")
    if receipt.withdrawn:
        lines.append(f"withdrawn: {', '.join(receipt.withdrawn)}")
    if receipt.left_out:
        lines.append(f"left out, the best of {receipt.considered} considered")
    lines += [
        f"  [{each.citation}] {inline(each.title, 80) or 'no longer available'}: {inline(each.why, 200)}"
        for each in receipt.left_out
    ]
    if receipt.answer is not None:
        answer = receipt.answer
        lines.append(f"the answer cited {', '.join(answer.cited) or 'nothing'}")
        lines += [f"and ids that it was never given: {', '.join(answer.unknown)}"] if answer.unknown else []
    return lines


def compared(found: Replay) -> list[str]:
    """A replay in words."""
    lines = ["the same, byte for byte" if found.same else "not the same any more"]
    for name in ("unchanged", "changed", "gone", "unchosen", "added"):
        ids = getattr(found, name)
        lines += [f"{name:<10} {', '.join(ids)}"] if ids else []
    return lines
