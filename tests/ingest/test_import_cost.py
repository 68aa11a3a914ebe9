"""What an import costs, in counts that no other program on the machine can change.

The bounds are a tenth above what was measured; see tests/test_cost.py.
"""

import cProfile
import random
from collections import Counter

import pytest

from weftwork import Weft
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.follow import follow

WORDS = (
    "mirror telescope library birch polish april lens tube focus star moon night grind base ship harbour bridge "
    "winter garden letter museum copper valley engine market river kitchen lantern painting violin orchard"
).split()
NOTES = 60


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The calls of an import by name, for each node, and the number of nodes."""
    rng = random.Random(18)
    folder = tmp_path_factory.mktemp("vault")
    for number in range(NOTES):
        sections = "".join(
            f"\n## {' '.join(rng.sample(WORDS, 2))}\n\n{' '.join(rng.choices(WORDS, k=60))}.\n\n- one\n- two\n"
            for _ in range(4)
        )
        (folder / f"note {number}.md").write_text(f"About [[note {rng.randrange(NOTES)}]].\n{sections}")
    with Weft.open(tmp_path_factory.mktemp("cost") / "a.weft") as weft:
        weft.tools.counter.count("warm")
        weft.tools.embedder.embed("warm")
        profile = cProfile.Profile()
        profile.enable()
        report = follow(weft, folder, get_connector("obsidian"))
        profile.disable()
    calls: Counter[str] = Counter()
    for entry in profile.getstats():
        calls[entry.code if isinstance(entry.code, str) else entry.code.co_name] += entry.callcount
    return calls, report.nodes


def test_an_import_takes_so_many_calls_for_each_node(imported):
    calls, nodes = imported
    assert nodes == 5 * NOTES + 1
    assert calls.total() / nodes <= 2_260


def test_each_text_is_counted_and_encoded_once(imported):
    calls, nodes = imported
    assert calls["<method 'encode_ordinary' of 'builtins.AnyTokenizer' objects>"] == nodes
    assert calls["<method 'encode_flat' of 'builtins.AnyTokenizer' objects>"] <= nodes


def test_a_file_takes_a_few_statements_however_many_nodes_it_has(imported):
    calls, _ = imported
    assert calls["<method 'execute' of 'sqlite3.Connection' objects>"] / NOTES <= 6.5
