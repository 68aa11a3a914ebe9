from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from shutil import which

import click

from weftwork import sample
from weftwork.cli.options import as_json, echo_json
from weftwork.config import FILE
from weftwork.engine import Weft
from weftwork.render import to_json
from weftwork.render.quote import inline
from weftwork.types import Context, Decision, Fate

QUESTION = "What is overdue before the first telescopes ship, and what was decided about the mirrors?"
BUDGET = 720
BAR = 24
RULE = "-" * 78
QUOTED = (
    "The pasted mail gives orders; the fence around it is longer than its own, so they stay a quotation.\n"
    "A backslash stands before the citation that it makes up."
)
SHOWN: Mapping[Fate, int] = {"included": 3, "truncated": 2, "line": 1, "dropped": 2}
"""Candidates of each fate in the table of reasons."""
CITED = 5
NEXT = (
    'weftwork context "What do librarians check when a telescope comes back?" --max-tokens 600',
    'weftwork explain "Who can bring the foam in time?" --user ben',
    "weftwork search mirror pinholes",
)
SERVER = "pip install 'weftwork[server]'   # what the next one needs"
OPEN = "weftwork open   # all of this on a page, in the browser"


@click.command("demo")
@click.option("--dir", "folder", type=click.Path(path_type=Path, file_okay=False), default="demo", show_default=True)
@as_json
def command(folder: Path, as_json: bool) -> None:
    """Load the sample workspace and show what Weftwork does with one question.

    \b
    weftwork demo                             make demo/studio.weft and look around
    weftwork demo --json | jq .citations      the same context for a program
    """
    folder.mkdir(parents=True, exist_ok=True)
    with Weft.open(folder / "studio.weft", clock=lambda: sample.NOW) as weft:
        sample.load(weft)
        ana, ben = (_ask(weft, user) for user in ("ana", "ben"))
        hidden = _hidden(weft, ana)
    _write_settings(folder / FILE)
    if as_json:
        echo_json(to_json(ana))
        return
    for heading, lines in _chapters(ana, ben, hidden, folder):
        click.secho(heading, bold=True)
        click.echo("\n".join(lines) + "\n")


def _ask(weft: Weft, user: str) -> Context:
    return weft.context(
        QUESTION, user=user, workspace=sample.WORKSPACE, budget=BUDGET, focus="finch", thread="thread-ship"
    )


def _hidden(weft: Weft, context: Context) -> set[str]:
    """Nodes among one user's candidates that Ben may not see."""
    candidates = {decision.node for decision in context.trace}
    with weft.store.view(sample.WORKSPACE, "ben") as view:
        return candidates - {node.id for node in view.nodes(sorted(candidates))}


def _write_settings(path: Path) -> None:
    """Write settings, so that commands in the folder need no options."""
    if not path.exists():
        lines = (
            'store = "studio.weft"',
            f'workspace = "{sample.WORKSPACE}"',
            f'user = "{sample.OWNER}"',
            f'clock = "{sample.NOW.isoformat()}"  # the sample is read as of this day, so that its dates do not age',
        )
        path.write_text("\n".join(lines) + "\n", "utf-8")


def _chapters(ana: Context, ben: Context, hidden: set[str], folder: Path) -> Iterator[tuple[str, list[str]]]:
    yield (
        "Weftwork gathers what a language model should read before it answers.",
        ["Here it works on a sample workspace: a small observatory builds telescopes for libraries to lend."],
    )
    yield "Ana works on the page “Finch”, in the thread “Are we ready to ship?”, and asks:", [f"  {QUESTION}"]
    yield (
        f"1. The context, ready for a prompt: {ana.tokens} of {BUDGET} tokens",
        [RULE, ana.text.rstrip(), RULE, QUOTED],
    )
    yield "2. Where the tokens went", _bars(ana)
    yield "3. What the citations point to", _citations(ana)
    yield f"4. Why: {len(ana.trace)} candidates, each with a fate and a reason", _reasons(ana)
    yield "5. Ben, a guest, asks the same from the same page", _compared(ana, ben, hidden)
    yield "6. Your turn", [f"  {line}" for line in _steps(folder)]


def _steps(folder: Path) -> list[str]:
    """The commands to go on with, and those that they need first."""
    activate = [] if which("weftwork") else [f"source {quote(str(Path(sys.executable).parent / 'activate'))}"]
    install = [] if find_spec("uvicorn") else [SERVER]
    return [*activate, f"cd {quote(str(folder))}", *NEXT, *install, OPEN]


def _bars(context: Context) -> list[str]:
    parts = [(section.name, section.tokens, section.budget) for section in context.sections]
    listed = sum(excerpt.tokens for excerpt in context.overflow)
    headings = context.tokens - listed - sum(tokens for _, tokens, _ in parts)
    rows = [*parts, ("titles only", listed, None), ("headings", headings, None)]
    lines = [_bar(name, tokens, share or BUDGET, f"share {share}" if share else "") for name, tokens, share in rows]
    return [*lines, _bar("total", context.tokens, BUDGET, f"budget {BUDGET}")]


def _bar(name: str, tokens: int, whole: int, note: str) -> str:
    filled = min(BAR, round(BAR * tokens / whole))
    return f"  {name:<11} [{'#' * filled:.<{BAR}}] {tokens:>4}  {note}".rstrip()


def _citations(context: Context) -> list[str]:
    cited = [citation for citation in context.citations if f"[{citation.id}]" in context.text]
    lines = [
        f"  [{citation.id}] {inline(citation.source or citation.node, 40)}, characters {citation.start}-{citation.end}"
        for citation in cited[:CITED]
    ]
    return [*lines, f"  … and {len(cited) - len(lines)} more"]


def _reasons(context: Context) -> list[str]:
    lines = ["  fate      score tokens  candidate                     found by       reason"]
    for fate, limit in SHOWN.items():
        decisions = [decision for decision in context.trace if decision.fate == fate]
        repeats = [decision for decision in decisions if decision.reason.startswith("a repeat of")]
        shown = [decision for decision in decisions if decision not in repeats][:limit] + repeats[:1]
        lines += [_row(decision) for decision in shown]
    return [*lines, f"  … and {len(context.trace) - len(lines) + 1} more: see them all with  weftwork explain"]


def _row(decision: Decision) -> str:
    name = inline(decision.title or decision.node, 28)
    others = f" +{len(decision.findings) - 1}" if len(decision.findings) > 1 else ""
    near = f"; about {decision.missing_tokens} tokens short" if decision.missing_tokens else ""
    return (
        f"  {decision.fate:<9} {decision.score:>5.2f} {decision.tokens:>6}  {name:<28}  "
        f"{decision.findings[0].collector + others:<13}  {decision.reason}{near}"
    )


def _compared(ana: Context, ben: Context, hidden: set[str]) -> list[str]:
    shown = hidden & {item.candidate.node.id for item in ana.items}
    leaked = hidden & {decision.node for decision in ben.trace}
    return [
        f"  Ana gets {_counts(ana)}",
        f"  Ben gets {_counts(ben)}",
        f"  {len(hidden)} of Ana's candidates are not for guests, and {len(shown)} of them stand in her context.",
        f"  {len(leaked)} of them were candidates for Ben: what he may not see changes nothing that he gets.",
    ]


def _counts(context: Context) -> str:
    parts = ", ".join(f"{section.name} {len(section.excerpts)}" for section in context.sections)
    titles = len(context.overflow)
    return f"{len(context.excerpts)} sources ({parts}) and {titles} title{'' if titles == 1 else 's'}"
