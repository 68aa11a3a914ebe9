"""What a context costs, in counts that no other program on the machine can change.

The bounds are a tenth above what was measured. One that is exceeded tells that somebody made every context dearer:
find out by what with `python -m cProfile`, and raise it only for a reason that is worth it.
"""

import cProfile
import random
from collections import Counter
from datetime import UTC, datetime

import pytest

from weftwork import Edge, Node, Weft
from weftwork.context_cache import ContextCache

WORDS = (
    "mirror telescope library birch polish april lens tube focus star moon night grind base ship harbour bridge "
    "winter garden letter museum copper valley engine market river kitchen lantern painting violin orchard"
).split()
QUESTIONS = (
    "how is the mirror of the telescope polished",
    "which letter came to the museum in april",
    "copper engine of the ship in the harbour",
    "who painted the orchard beside the river",
)
NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
COUNTED = {
    "statements": "<method 'execute' of 'sqlite3.Connection' objects>",
    "tokenizer calls": "<method 'encode_ordinary' of 'builtins.AnyTokenizer' objects>",
    "rendered excerpts": "_content",
}


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    rng = random.Random(18)
    nodes, edges = [], []
    for page in range(50):
        nodes.append(Node(id=f"p{page}", type="page", title=" ".join(rng.sample(WORDS, 3)), text="About it."))
        edges += [Edge(source=f"p{page}", target=f"p{rng.randrange(50)}") for _ in range(2)]
        for block in range(12):
            text = " ".join(rng.choices(WORDS, k=rng.randrange(20, 60))).capitalize() + "."
            nodes.append(Node(id=f"p{page}-{block}", type="block", parent=f"p{page}", position=block, text=text))
    # A clock that stands still: a context of another minute is made anew.
    with Weft.open(tmp_path_factory.mktemp("cost") / "a.weft", clock=lambda: NOW) as opened:
        opened.add(nodes, edges)
        opened.context("a question before all others")
        yield opened


def cost(weft, questions=QUESTIONS, **options):
    """Counts for each context, made anew."""
    weft.context_cache = ContextCache()
    profile = cProfile.Profile()
    for question in questions:
        profile.enable()
        context = weft.context(question, **options)
        profile.disable()
        assert context.items, "a context of nothing costs nothing"
    called: Counter[str] = Counter()
    for entry in profile.getstats():
        called[_name(entry.code)] += entry.callcount
    counts = {name: called[function] / len(questions) for name, function in COUNTED.items()}
    return {"calls": called.total() / len(questions), **counts}


def _name(code):
    return code if isinstance(code, str) else code.co_name


def within(counts, bounds):
    exceeded = {name: (counts[name], bound) for name, bound in bounds.items() if counts[name] > bound}
    assert not exceeded, f"(measured, bound): {exceeded}"


def test_a_question_that_was_not_asked_before_keeps_its_bounds(weft):
    within(cost(weft), {"statements": 22, "tokenizer calls": 109, "rendered excerpts": 50, "calls": 108_000})


def test_the_same_questions_again_read_hardly_anything(weft):
    cost(weft)
    within(cost(weft), {"statements": 10, "tokenizer calls": 18, "rendered excerpts": 10, "calls": 64_500})


def test_a_focus_adds_few_statements(weft):
    cost(weft)
    within(cost(weft, focus="p7-3"), {"statements": 15, "tokenizer calls": 31, "calls": 73_000})


def test_after_a_write_little_is_read_again(weft):
    cost(weft)
    weft.add([Node(id="new", type="page", title="News", text="The mirror was polished in the harbour.")])
    within(cost(weft), {"statements": 19, "tokenizer calls": 20, "calls": 69_000})


def test_a_cached_context_costs_next_to_nothing(weft):
    weft.context(QUESTIONS[0])
    profile = cProfile.Profile()
    profile.enable()
    weft.context(QUESTIONS[0])
    profile.disable()
    within({"calls": sum(entry.callcount for entry in profile.getstats())}, {"calls": 450})


def test_the_receipt_of_a_cached_context_is_written_from_the_one_before(weft):
    weft.context(QUESTIONS[0])
    weft.receipts.write_pending()
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(10):
        weft.context(QUESTIONS[0])
    weft.receipts.write_pending()
    profile.disable()
    within({"calls": sum(entry.callcount for entry in profile.getstats()) / 10}, {"calls": 465})
