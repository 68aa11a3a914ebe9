"""What later questions gain when a user says what was useful, and what others and noise can do to them.

A session on a set of judged texts: the user asks every second question, and of the first ten texts of each ranking
calls useful what answers, and useless what does not among the first three. Then the other questions are asked, before
and after, and nDCG@10 is compared by the paired bootstrap:

  related    questions that need a text which was called useful
  others     the questions that do not; they should lose nothing
  all        both together
  noise      all, where each word was drawn by lot: useful or useless
  contrary   all, where each word was the opposite of the truth
  unasked    all, where the words were said without the question they were for
  another    the largest difference of any score for a user who said nothing: it has to be 0

"bound" is the largest change of any score, beside the one that the profile allows. The bound and the least likeness of
questions (score/verdicts.py) were chosen on five sets together, in both halves, for what no set loses by.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import models
from benchmarks.judged import Asked, Judged
from benchmarks.relevance import BUDGET, kept
from benchmarks.timing import say
from weftwork import Weft
from weftwork.evaluate import metrics
from weftwork.recipe import get_recipe
from weftwork.score.profiles import FEEDBACK
from weftwork.types import Candidate

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
SETS = "ir_cisi,cookbook_code"
HALVES = {"even": 0, "odd": 1}
SEEN, DISMISSED = 10, 3
Said = Callable[[bool], bool]
"""Whether the user calls a text useful that does answer, or does not."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", default=SETS, help="names of sets, separated by commas")
    parser.add_argument("--half", choices=HALVES, default="even", help="the questions of the session")
    parser.add_argument("--questions", type=int, help="only the first so many of each set")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Figures by set."""
    wanted, figures = set(args.sets.split(",")), {}
    for source in models.sets():
        if source.name in wanted:
            figures[source.name] = _measured(source, source.questions[: args.questions], HALVES[args.half])
            say(f"{source.name}: {figures[source.name]}")
    return {"half": args.half, "sets": figures}


def _measured(source: Judged, questions: Sequence[Asked], half: int) -> dict[str, Any]:
    session, later = questions[half::2], questions[1 - half :: 2]
    draw = random.Random(7)
    truth: Said = lambda answers: answers  # noqa: E731
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, said, asked in (
            ("all", truth, True),
            ("noise", lambda answers: draw.random() < 0.5, True),
            ("contrary", lambda answers: not answers, True),
            ("unasked", truth, False),
        ):
            store = Path(folder) / name
            shutil.copytree(kept(source).store.parent, store)
            with Weft.open(store / "set.weft", clock=lambda: NOW) as weft:
                weft.add_user("another")
                before = [_ranked(weft, each) for each in later]
                others = [_ranked(weft, each, "another") for each in later]
                praised = _talk(weft, session, said, asked)
                after = [_ranked(weft, each) for each in later]
                related = [not praised.isdisjoint(each.grades) for each in later]
                gains = [
                    (metrics.ndcg(_nodes(left), each.grades, 10), metrics.ndcg(_nodes(right), each.grades, 10))
                    for each, left, right in zip(later, before, after, strict=True)
                ]
                figures[name] = _gain(gains)
                if name == "all":
                    marks = list(zip(gains, related, strict=True))
                    figures["related"] = _gain([gain for gain, is_related in marks if is_related])
                    figures["others"] = _gain([gain for gain, is_related in marks if not is_related])
                    figures["bound"] = [_largest(before, after), max(FEEDBACK.values())]
                unmoved = [_ranked(weft, each, "another") for each in later]
                figures["another"] = max(figures.get("another", 0.0), _largest(others, unmoved))
    return figures


def _talk(weft: Weft, session: Sequence[Asked], said: Said, asked: bool) -> set[str]:
    """Ask the questions of a session, say what was useful, and return the texts that were called so and answer."""
    praised = set()
    rankings = [_nodes(_ranked(weft, each))[:SEEN] for each in session]
    for each, ranking in zip(session, rankings, strict=True):
        for place, node in enumerate(ranking):
            answers = node in each.grades
            if answers or place < DISMISSED:
                weft.feedback(node, said(answers), query=each.text if asked else "")
                praised |= {node} if answers else set()
    return praised


def _ranked(weft: Weft, asked: Asked, user: str = "me") -> list[Candidate]:
    recipe = get_recipe("default")
    return weft.rank(weft.request(asked.text, recipe, budget=BUDGET, user=user), recipe).candidates


def _nodes(candidates: Sequence[Candidate]) -> list[str]:
    return list(dict.fromkeys(each.node.id for each in candidates))


def _largest(before: Sequence[Sequence[Candidate]], after: Sequence[Sequence[Candidate]]) -> float:
    """The largest change of the score of any candidate."""
    changes = [0.0]
    for left, right in zip(before, after, strict=True):
        scores = {each.key: each.score for each in left}
        changes += [abs(each.score - scores[each.key]) for each in right if each.key in scores]
    return round(max(changes), 6)


def _gain(pairs: Sequence[tuple[float, float]]) -> str:
    """nDCG@10 before and after, with the difference and its interval."""
    if not pairs:
        return "no questions"
    before, after = zip(*pairs, strict=True)
    gain = metrics.paired(after, before)
    means = (sum(each) / len(pairs) for each in (before, after))
    first, second = (f"{mean:.4f}" for mean in means)
    return f"{first} → {second} ({gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}], n {len(pairs)})"
