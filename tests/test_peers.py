import argparse
import json

import pytest
from benchmarks import peers

from weftwork.text.tokens import get_counter

TEXTS = {
    "mirror": "The mirror of a telescope is ground for nine weeks.",
    "rail": "Crates travel by rail to the harbour.",
    "tea": "Tea is served at four in the workshop.",
}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """Two that need no environment of their own, on a set of three texts."""
    folder = tmp_path_factory.mktemp("set") / "tiny"
    folder.mkdir()
    corpus = [{"_id": name, "title": "", "text": text} for name, text in TEXTS.items()]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in corpus))
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "How long is the mirror ground?"}\n')
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tmirror\t1\n")
    parser = argparse.ArgumentParser()
    peers.add_arguments(parser)
    args = parser.parse_args(["--data", str(folder), "--peers", "weftwork,vectors"])
    args.save = False
    return peers.run(args)


def test_every_peer_has_every_figure(figures):
    assert figures["peers"] == ["weftwork", "vectors"]
    tiny = figures["sets"]["tiny"]
    assert set(tiny) == {*peers.METRICS, *peers.COSTS}
    assert all(set(values) == {"weftwork", "vectors"} for values in tiny.values())
    assert tiny["nDCG@10"] == {"weftwork": 1.0, "vectors": 1.0}
    assert all(value > 0 for cost in ("query_p95_ms", "memory_mb") for value in tiny[cost].values())


def test_the_table_has_a_line_for_every_figure_and_marks_the_best(figures):
    page = peers.page(figures)
    assert "| | weftwork | vectors |" in page
    assert "| nDCG@10 | **1** | **1** |" in page


def test_a_budget_is_filled_until_the_next_piece_does_not_fit():
    counter = get_counter("o200k_base")
    pieces = [("a", "one two three"), ("b", "four five"), ("c", "six")]
    room = counter.count("one two three\n\n") + counter.count("four five\n\n")
    assert peers.filled(pieces, room) == pieces[:2]
    assert peers.filled(pieces, room - 1) == pieces[:1]
    assert peers.filled(pieces, 0) == []
