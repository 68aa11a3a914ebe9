"""The command line: one subcommand for each benchmark.

A benchmark is a module with a docstring, `add_arguments(parser)` and `run(args)`, which returns the
figures as a dictionary; it is known as soon as its name stands in `BENCHMARKS`. Its own
`table(figures)`, if it has one, shows them on a terminal.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any, Protocol

from benchmarks import (
    ablation,
    answers,
    conflicts,
    contexts,
    documents,
    feedback,
    follow_ups,
    graph,
    hostile,
    ingest,
    injection,
    latency,
    load,
    memory,
    models,
    parsing,
    peers,
    relevance,
    research,
    session,
    support,
    turns,
    words,
)
from benchmarks.report import save, table
from benchmarks.timing import say

EXAMPLES = """examples:
  python -m benchmarks latency --passages 100000
  python -m benchmarks latency --passages 10000 --queries 500 --json
  python -m benchmarks latency --store postgres --passages 100000 --json
  python -m benchmarks ingest --passages 5000 --save
  python -m benchmarks ingest --connector obsidian --rounds 1 --json
  python -m benchmarks workspace --json
  python -m benchmarks workspace --precision
  python -m benchmarks documents --limit 4 --json
  python -m benchmarks parsing --limit 18 --failed
  python -m benchmarks graph --passages 100000 --json
  python -m benchmarks research --json
  python -m benchmarks answers --half check --json
  python -m benchmarks relevance --sets ir_med,ir_cisi --json
  python -m benchmarks relevance --data ~/beir/scifact --json
  python -m benchmarks contexts --sets vaults --recipes default --half fit
  python -m benchmarks contexts --sets kb_foam_docs --budgets 1000 --text
  python -m benchmarks peers --json --save
  python -m benchmarks load --seconds 30 --json
  python -m benchmarks hostile
  python -m benchmarks words --questions 50 --json
  python -m benchmarks support --json
  python -m benchmarks feedback --sets ir_cisi,cookbook_code --json
  python -m benchmarks follow-ups --half confirm --json
  python -m benchmarks injection --flagged 3
  python -m benchmarks models --models static,bge-small-en-v1.5 --half confirm --json
  python -m benchmarks turns --json

Texts come from $WEFTWORK_DATA or ../shared/data. Workspaces are built once and kept in .cache/bench
(or $WEFTWORK_BENCH_CACHE). Progress goes to standard error, results to standard output."""


class Benchmark(Protocol):
    """What a module of this package offers."""

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare its own options."""

    def run(self, args: argparse.Namespace) -> dict[str, Any]:
        """Measure."""


BENCHMARKS: dict[str, Benchmark] = {
    "latency": latency,
    "ingest": ingest,
    "hostile": hostile,
    "injection": injection,
    "documents": documents,
    "memory": memory,
    "parsing": parsing,
    "conflicts": conflicts,
    "graph": graph,
    "workspace": session,
    "research": research,
    "relevance": relevance,
    "models": models,
    "feedback": feedback,
    "follow-ups": follow_ups,
    "contexts": contexts,
    "ablation": ablation,
    "peers": peers,
    "answers": answers,
    "load": load,
    "words": words,
    "support": support,
    "turns": turns,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one benchmark and print its figures."""
    args = _parser().parse_args(arguments)
    figures = BENCHMARKS[args.benchmark].run(args)
    if args.save:
        say(f"saved to {save(args.benchmark, figures)}")
    show = getattr(BENCHMARKS[args.benchmark], "table", table)
    print(json.dumps(figures) if args.json else show(figures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures Weftwork beside the bare cost of the same work.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="benchmark", required=True, metavar="NAME")
    for name, module in BENCHMARKS.items():
        text = module.__doc__ or ""
        command = commands.add_parser(
            name,
            help=text.partition("\n")[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.add_argument("--seed", type=int, default=1, help="draws the same texts and queries again (default: 1)")
        command.add_argument("--json", action="store_true", help="print one JSON object as the last line")
        command.add_argument("--save", action="store_true", help=f"append the figures to results/{name}.jsonl")
    return parser


if __name__ == "__main__":
    main()
