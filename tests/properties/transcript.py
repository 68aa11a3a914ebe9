"""What the sample workspace answers to a number of requests; also run as a program, to compare processes."""

import json
import sys
from dataclasses import asdict

from weftwork import Message, Recipe, Weft, sample
from weftwork.pack import PACKERS
from weftwork.recipe import EVERYTHING, SECTION_BUDGETS
from weftwork.render import explain, to_json
from weftwork.render.builtin import BUILTIN
from weftwork.score.profiles import PROFILES

QUERIES = ("What was decided about the mirrors?", "overdue tasks last week #ship", "telescop libary", "")


def open_sample(path, embedder):
    """The sample workspace in a store at this path, filled if it is not there yet."""
    weft = Weft.open(path, embedder=embedder, clock=lambda: sample.NOW)
    sample.load(weft)
    return weft


def transcript(weft):
    """Contexts by every packer, template and profile, for several users, with their accounts; and searches."""
    lines = []
    names = zip(sorted(BUILTIN) * 2, PACKERS * 3, sorted(PROFILES) * 3, strict=False)
    focus = weft.search(QUERIES[0], user=sample.OWNER, workspace=sample.WORKSPACE)[0].node.id
    for number, (template, packer, profile) in enumerate(names):
        recipe = Recipe(
            name=f"drawn {number}",
            collectors=EVERYTHING,
            profile=PROFILES[profile],
            packer=packer,
            template=template,
            sections=SECTION_BUDGETS,
            lines=number % 2 == 0,
        )
        for user, query in zip(sorted(weft.store.users(sample.WORKSPACE)) * 2, QUERIES, strict=False):
            context = weft.context(
                query,
                user=user,
                workspace=sample.WORKSPACE,
                budget=(50, 400, 3000)[number % 3],
                recipe=recipe,
                focus=focus if user == sample.OWNER else None,
                history=(Message("user", "and the coating?"),),
                boosts={"ship": 0.1},
            )
            lines += [to_json(context), explain(context)]
    for query in QUERIES:
        for mode in ("hybrid", "words", "vector"):
            found = weft.search(query, user=sample.OWNER, workspace=sample.WORKSPACE, mode=mode)
            lines += [json.dumps(_bare(result), sort_keys=True, default=str) for result in found]
    return "\n".join(lines)


def _bare(result):
    """A result without the frozen sets, which no order is promised for."""
    plain = asdict(result)
    del plain["node"]["access"]
    return plain


if __name__ == "__main__":
    with open_sample(sys.argv[1], sys.argv[2]) as opened:
        sys.stdout.buffer.write(transcript(opened).encode())
