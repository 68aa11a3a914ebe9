"""A check for continuous integration: fail when contexts lose the evidence that answers need.

python examples/evaluate_in_ci.py notes/ questions.jsonl 0.9

Each line of the questions is such as {"query": "When do we ship?", "quotes": ["ships in April"]}.
"""

import sys
from pathlib import Path

from weftwork import Weft
from weftwork.evaluate.questions import read_questions
from weftwork.evaluate.run import evaluate
from weftwork.evaluate.variants import combine


def recall(weft: Weft, questions: str, budget: int = 2000) -> float:
    """The share of the evidence that is in the contexts, over all questions."""
    asked = read_questions(Path(questions))
    evaluation = evaluate(weft, asked, combine(budgets=(budget,)), user="me", workspace="main")
    return evaluation.results[0].interval("recall").mean


def main(folder: str, questions: str, least: str) -> None:
    """Exit with 1 if the recall is below the least."""
    with Weft.open("ci.weft") as weft:
        weft.add(folder)
        reached = recall(weft, questions)
    print(f"recall {reached:.2f}, at least {float(least):.2f} is wanted")
    sys.exit(reached < float(least))


if __name__ == "__main__":
    main(*sys.argv[1:])
