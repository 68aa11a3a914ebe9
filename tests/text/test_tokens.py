import base64
import csv
import hashlib
import math
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.depth import some
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from weftwork.errors import InvalidInput, UnknownName
from weftwork.text.tokens import CharacterCounter, HuggingFaceCounter, TokenCounter, get_counter

DATA = Path(os.environ.get("WEFTWORK_DATA", Path(__file__).parents[3] / "shared" / "data"))
MULTILINGUAL = DATA / "tokenizer_multilingual"
OPENAI = ("o200k_base", "cl100k_base")
# The digests that tiktoken/openai_public.py checks its downloads against.
DIGESTS = {
    "o200k_base": (199_998, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
    "cl100k_base": (100_256, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
}
BASE64 = base64.b64encode(random.Random(1).randbytes(75_000)).decode()
# Counted with tiktoken 0.14.0 over OpenAI's two vocabularies.
EXPECTED = [
    ("", 0, 0),
    ("Hello, world!", 4, 4),
    ("<|endoftext|>", 7, 7),
    ("a<|endofprompt|>b", 9, 9),
    ("👩‍👩‍👧‍👦", 11, 18),
    ("👍🏽🇩🇪❤️", 8, 15),
    ("我能吞下玻璃而不伤身体。", 11, 17),
    ("これは漢字かな交じり文です。", 10, 13),
    ("안녕하세요 세계", 3, 9),
    ("e\u0301a\u0300\u0302", 5, 6),
    ("\x00", 1, 1),
    ("\x00\x01\x02\x1b[0m\x7f", 8, 7),
    ("don't DON'T we'll", 3, 6),
    ("1234567890 ٣٤٥", 8, 11),
    ("line\r\n\r\n  indented\n\t// code\n", 10, 10),
    ("\u00a0\u2028\u3000\ufeff", 4, 5),
    ("\U0010ffff\ufffd", 5, 5),
    ("a" * 1_000_000, 125_000, 125_000),
    (" " * 100_000, 782, 782),
    ("=" * 100_000, 1_562, 1_563),
    ("\n" * 100_000, 6_250, 3_125),
    ("\r\n" * 50_000, 12_500, 12_500),
    ("漢" * 100_000, 100_000, 200_000),
    ("1" * 100_000, 33_334, 33_334),
    (" " * 100_000 + "x", 783, 783),
    (BASE64, 68_256, 71_715),
]
AWKWARD = ["\n", "\r\n", " ", "    ", "\t", "\x00", "\u2028", "\u00a0", "word", " Word", "'s", "'LL", "ſ"]
AWKWARD += ["/", "//", "=", "---", "1234", "<|endoftext|>", "é", "\u0301", "漢字", "한국어", "न", "ि"]
AWKWARD += ["👩‍👩‍👧", "🏽", "🇩🇪", "\ufe0f"]
texts = st.lists(st.one_of(st.sampled_from(AWKWARD), st.text(max_size=12)), max_size=40).map("".join)
long_texts = st.tuples(texts, st.integers(1, 60), texts).map(lambda parts: parts[0] * parts[1] + parts[2])


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A small byte-level tokenizer in a file that cuts, pads and adds special tokens, like published ones."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<s>"], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(["the quick brown fox jumps over the lazy dog " * 3], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    path = tmp_path_factory.mktemp("model") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> Path:
    """A lossy tokenizer: whole words in lower case, the space between them not counted."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(["one two three"], trainers.WordLevelTrainer(special_tokens=["[UNK]"]))
    path = tmp_path_factory.mktemp("words") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(params=[*OPENAI, "characters", "trained", "words"])
def counter(request) -> TokenCounter:
    name = request.param
    return get_counter(str(request.getfixturevalue(name)) if name in {"trained", "words"} else name)


@pytest.mark.parametrize("name", OPENAI)
def test_vocabularies_in_the_wheel_are_openai_files_byte_for_byte(name):
    size, digest = DIGESTS[name]
    counter: Any = get_counter(name)
    tokenizer = counter._tokenizer
    lines = (b"%s %d\n" % (base64.b64encode(tokenizer.decode_token_bytes(i)), i) for i in range(size))
    assert hashlib.sha256(b"".join(lines)).hexdigest() == digest


@pytest.mark.skipif(not MULTILINGUAL.is_dir(), reason=f"reference counts are not in {MULTILINGUAL}; set WEFTWORK_DATA")
@pytest.mark.parametrize("name", OPENAI)
def test_counts_agree_with_tiktoken_in_every_language(name):
    with (MULTILINGUAL / "reference_token_counts.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    expected = {row["path"]: int(row[name]) for row in rows}
    counter = get_counter(name)
    counted = {path: counter.count((MULTILINGUAL / path).read_bytes().decode()) for path in expected}
    assert len(expected) == 528
    assert counted == expected


@pytest.mark.parametrize(("text", "o200k", "cl100k"), EXPECTED, ids=lambda value: repr(value)[:20])
def test_counts_agree_with_tiktoken_on_awkward_text(text, o200k, cl100k):
    assert (get_counter("o200k_base").count(text), get_counter("cl100k_base").count(text)) == (o200k, cl100k)


def test_names_of_special_tokens_are_plain_text():
    counter = get_counter()
    assert max(counter.encode("<|endoftext|><|endofprompt|><|system|>")) < 199_998


@pytest.mark.parametrize(("length", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_characters_are_counted_four_to_a_token_rounded_up(length, tokens):
    assert CharacterCounter().count("漢" * length) == tokens


def test_characters_encode_to_their_code_points():
    assert CharacterCounter().encode("aé👩") == [0x61, 0xE9, 0x1F469]


@pytest.mark.parametrize("name", [*OPENAI, "characters", "trained"])
@settings(deadline=None)
@given(text=texts)
def test_decoding_gives_back_what_was_encoded(name, trained, text):
    counter = get_counter(str(trained) if name == "trained" else name)
    assert counter.decode(counter.encode(text)) == text


@pytest.mark.parametrize("name", [*OPENAI, "characters", "trained", "words"])
@settings(deadline=None)
@given(text=long_texts, limit=st.integers(-1, 300))
@example(text="漢字" * 200, limit=7)
@example(text=" " * 5_000, limit=3)
@example(text="a\ud800b" * 500, limit=5)
@example(text="---\n//", limit=1)  # the last token, "\n//", counts two by itself
@example(text="\u0301'LLL", limit=2)  # in cl100k the last two tokens count three
def test_truncated_text_is_a_prefix_or_suffix_within_the_limit(name, trained, words, text, limit):
    counter = get_counter({"trained": str(trained), "words": str(words)}.get(name, name))
    start, end = counter.truncate(text, limit), counter.truncate_start(text, limit)
    assert text.startswith(start)
    assert text.endswith(end)
    assert max(counter.count(start), counter.count(end)) <= max(limit, 0)
    if counter.count(text) <= limit > 0:
        assert start == end == text


@pytest.mark.parametrize("name", [*OPENAI, "characters", "trained", "words"])
@settings(deadline=None)
@given(text=long_texts)
def test_text_is_whole_at_its_own_count(name, trained, words, text):
    counter = get_counter({"trained": str(trained), "words": str(words)}.get(name, name))
    total = counter.count(text)
    if total:
        assert counter.truncate(text, total) == counter.truncate_start(text, total) == text


@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize("run", [" ", "=", "a", "\n", "-", "漢", "the quick brown fox. ", "1"])
def test_repeated_text_far_larger_than_the_limit_is_whole_at_its_own_count(name, run):
    counter = get_counter(name)
    for repeats in (1_000, 20_000, 20_001):
        text = run * repeats
        total = counter.count(text)
        assert counter.truncate(text, total) == counter.truncate_start(text, total) == text


@pytest.mark.parametrize("name", OPENAI)
@settings(deadline=None)
@given(text=long_texts, limit=st.integers(1, 200))
def test_truncation_leaves_no_more_unused_than_one_character_takes(name, text, limit):
    counter = get_counter(name)
    wanted = min(limit, counter.count(text)) - 4
    assert counter.count(counter.truncate(text, limit)) >= wanted
    assert counter.count(counter.truncate_start(text, limit)) >= wanted


@pytest.mark.parametrize("limit", [0, -1, -100])
def test_nothing_fits_a_limit_of_nothing(counter, limit):
    assert counter.truncate("  some text", limit) == ""
    assert counter.truncate_start("some text  ", limit) == ""


def test_truncation_keeps_the_named_side():
    counter = get_counter()
    assert counter.truncate("The quick brown fox jumps", 3) == "The quick brown"
    assert counter.truncate_start("The quick brown fox jumps", 3) == " brown fox jumps"


@pytest.mark.parametrize("name", OPENAI)
def test_a_cut_inside_a_character_leaves_the_character_out(name):
    counter = get_counter(name)
    family = "👩‍👩‍👧"
    for limit in range(1, counter.count(family)):
        assert family.startswith(counter.truncate(family, limit))
        assert family.endswith(counter.truncate_start(family, limit))


@pytest.mark.parametrize("name", OPENAI)
def test_a_small_cut_of_a_large_text_reads_only_a_part_of_it(name):
    counter: Any = get_counter(name)
    counter.count("")
    seen = counter._seen
    counter.truncate("The quick brown fox. " * 50_000, 100)
    counter.truncate_start("The quick brown fox. " * 50_000, 100)
    assert counter._seen - seen < 20_000


# Both pre-tokenizers end a piece after a line feed unless white space or, in o200k, a slash follows it.
@pytest.mark.parametrize("name", OPENAI)
@settings(deadline=None, max_examples=some(600))
@given(
    before=texts,
    first=st.one_of(st.sampled_from("#[-`~<>'\"*|{(\\_=.!\u0301\x00👩"), st.characters(categories=["L", "N"])),
    after=texts,
)
@example(before="//", first="'", after="s")
@example(before=" \n \n\t", first="\u0301", after="")
def test_counts_add_up_where_a_line_feed_meets_neither_space_nor_slash(name, before, first, after):
    counter = get_counter(name)
    line, rest = before + "\n", first + after
    assert counter.encode(line) + counter.encode(rest) == counter.encode(line + rest)


def test_counts_do_not_add_up_where_a_slash_follows_the_line_feed():
    counter = get_counter("o200k_base")
    assert counter.count("*\n") + counter.count("//") != counter.count("*\n//")


@pytest.mark.parametrize("name", [*OPENAI, "trained"])
@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00", "漢\ud800"])
def test_a_lone_surrogate_counts_as_the_replacement_character(name, trained, text):
    counter = get_counter(str(trained) if name == "trained" else name)
    written = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert counter.encode(text) == counter.encode(written)
    assert counter.decode(counter.encode(text)) == written


def test_tokens_that_end_inside_a_character_decode_to_the_replacement_character():
    counter = get_counter()
    assert counter.decode(counter.encode("👩")[:1]) == "\ufffd"


@pytest.mark.parametrize("name", OPENAI)
def test_threads_that_share_a_counter_count_as_one_thread_does(name):
    chooser = random.Random(7)
    samples = ["".join(chooser.choices(AWKWARD, k=200)) * chooser.randint(1, 20) for _ in range(200)]
    counter = get_counter(name)
    alone = [counter.encode(text) for text in samples]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(counter.encode, samples * 4))
    assert together == alone * 4


def test_pieces_kept_from_earlier_texts_do_not_pile_up():
    counter: Any = get_counter()
    counter.count(" ".join(f"{number:b}".translate({48: "a", 49: "b"}) for number in range(1_000)))
    for _ in range(17):
        counter.count("the fox " * 125_000)
    assert counter._tokenizer.cache_len < 1_000


def test_first_use_from_many_threads_gives_one_counter(trained):
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda _: get_counter(str(trained)).count("the quick fox"), range(32)))
    assert len(set(counts)) == 1


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [
        ("o200k", "o200k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("ft:gpt-4o:acme", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt-5.1-mini", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("cl100k", "cl100k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("characters", "characters"),
    ],
)
def test_a_model_is_counted_in_its_vocabulary(name, vocabulary):
    assert get_counter(name).name == vocabulary


def test_the_default_is_o200k_and_loaded_once_for_all_its_names():
    assert get_counter() is get_counter("o200k_base") is get_counter("gpt-4o")


@pytest.mark.parametrize(
    ("name", "margin"), [("claude-sonnet-4-5", 1.4), ("anthropic/claude-3", 1.4), ("gemini-2.5-pro", 1.2)]
)
def test_models_without_a_published_vocabulary_are_estimated_and_called_an_estimate(name, margin):
    counter = get_counter(name)
    assert f"an estimate: o200k_base and {margin - 1:.0%}" in counter.name
    other = get_counter("o200k_base")
    text = "The mirror ships in April, and the base is made of birch. 鏡は四月に届きます。 " * 20
    assert counter.count(text) == math.ceil(other.count(text) * margin) > other.count(text)
    for limit in (0, 1, 7, 50, 10_000):
        assert counter.count(counter.truncate(text, limit)) <= limit
        assert counter.count(counter.truncate_start(text, limit)) <= limit
        assert text.startswith(counter.truncate(text, limit))
        assert text.endswith(counter.truncate_start(text, limit))
    assert counter.decode(counter.encode(text)) == text


@pytest.mark.parametrize("name", ["", "o200k_bse", "gpt-40", "clawd-3", "no/such/tokenizer.json", "x" * 5_000, "\x00"])
def test_an_unknown_name_is_refused_with_the_names_that_are_known(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName) as caught:
        get_counter(name)
    assert caught.value.kind == "tokenizer"
    assert {"o200k_base", "cl100k_base", "characters"} <= set(caught.value.available)


def test_a_hugging_face_file_is_found_by_its_path_or_its_folder(trained):
    counter = get_counter(str(trained))
    assert isinstance(counter, HuggingFaceCounter)
    assert get_counter(str(trained.parent)) is counter
    assert get_counter(counter.name) is counter


def test_a_hugging_face_file_counts_neither_its_cut_nor_its_padding_nor_what_it_adds(trained):
    counter = get_counter(str(trained))
    assert counter.encode("") == []
    assert counter.count("the") == 1
    assert counter.count("the fox " * 100) > 100


def test_space_that_a_tokenizer_does_not_count_is_kept_by_a_cut(words):
    counter = get_counter(str(words))
    assert counter.truncate("One   two three", 1) == "One   "
    assert counter.truncate_start("One two   three", 1) == "   three"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b'{"vocab_size": 3}', b"\xff\xfe"])
def test_a_file_that_is_no_tokenizer_is_refused_by_its_name(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"tokenizer\.json"):
        get_counter(str(path)).count("text")


def test_importing_the_module_loads_no_tokenizer():
    code = "import sys, weftwork.text.tokens as t; t.get_counter(); print({'splintr', 'tokenizers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
