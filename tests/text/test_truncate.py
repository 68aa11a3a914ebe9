import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pack.making import WordCounter

from weftwork.errors import EmbeddingError, UnknownName
from weftwork.text.tokens import CharacterCounter, get_counter
from weftwork.text.truncate import STRATEGIES, truncate

WORDS = WordCounter()
STORY = (
    "The harbour opened in 1890. Ships came from every coast. A lighthouse was added later. "
    "Its lamp burned whale oil. The keeper lived alone there. Today it is a museum."
)


def cut(text, limit, strategy, counter=WORDS, **options):
    return truncate(text, limit, strategy=strategy, counter=counter, **options)


def test_a_text_that_fits_is_left_alone():
    assert cut("Two words", 2, "summarise").text == "Two words"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_limit_of_zero_leaves_nothing(strategy):
    assert cut(STORY, 0, strategy).text == ""


def test_an_unknown_strategy_is_refused():
    with pytest.raises(UnknownName, match="unknown truncation strategy 'shrink': use one of extractive"):
        cut("", 0, "shrink")


def test_keeping_the_start_ends_at_a_sentence_that_is_near():
    # 11 words are left for the text: two sentences have 10
    assert cut(STORY, 12, "keep_start").text == "The harbour opened in 1890. Ships came from every coast. …"


def test_keeping_the_start_ends_at_a_whole_sentence_if_the_cut_falls_there():
    assert cut(STORY, 11, "keep_start").text == "The harbour opened in 1890. Ships came from every coast. …"


def test_keeping_the_start_ends_at_a_word_if_no_sentence_is_near():
    counter = CharacterCounter()
    assert cut("Alphabetical considerations matter greatly", 9, "keep_start", counter).text == (
        "Alphabetical considerations …"
    )


def test_keeping_the_end_begins_at_a_sentence_that_is_near():
    assert cut(STORY, 12, "keep_end").text == "… The keeper lived alone there. Today it is a museum."


def test_keeping_the_end_begins_at_a_word_if_no_sentence_is_near():
    counter = CharacterCounter()
    assert cut("greatly matter considerations alphabetical", 9, "keep_end", counter).text == (
        "… considerations alphabetical"
    )


def test_extraction_keeps_the_sentences_that_share_most_with_the_query_in_their_order():
    # 5 words each; the opening sentence ranks above those that share nothing
    made = cut(STORY, 17, "extractive", words=frozenset({"Lamp", "lighthouse", "oil"}))
    assert made.text == "The harbour opened in 1890. … A lighthouse was added later. Its lamp burned whale oil. …"
    assert made.strategy == "extractive"


def test_extraction_prefers_rare_words_to_common_ones():
    text = "It rains. The cat sat. The cat ran. The cat slept. A comet fell."
    assert cut(text, 3, "extractive", words={"cat", "comet"}).text == "A comet fell."


def test_extraction_without_query_words_keeps_the_first_sentences():
    assert cut(STORY, 11, "extractive").text == "The harbour opened in 1890. Ships came from every coast. …"


@pytest.mark.parametrize(("limit", "shown"), [(4, "… A comet fell."), (3, "A comet fell."), (2, "It rains.")])
def test_extraction_marks_both_ends_where_there_is_room_for_it(limit, shown):
    assert cut("It rains. The cat sat. A comet fell.", limit, "extractive", words={"comet"}).text == shown
    middle = cut("It rains. A comet fell. The cat sat.", 5, "extractive", words={"comet"}).text
    assert middle == "… A comet fell. …"


def test_extraction_finds_words_in_scripts_without_spaces():
    text = "今日は晴れです。灯台は古いです。船が来ます。"
    assert cut(text, 2, "extractive", CharacterCounter(), words={"灯台"}).text == "灯台は古いです。"


def test_extraction_keeps_the_start_if_no_sentence_fits_and_says_so():
    made = cut("one two three four five six", 4, "extractive")
    assert (made.text, made.strategy) == ("one two three …", "keep_start")
    assert made.note == "no sentence fits: the start is kept"


def test_a_summary_within_the_limit_is_used():
    made = cut(STORY, 4, "summarize", summarise=lambda text, limit: "An old harbour.")
    assert (made.text, made.strategy, made.note) == ("An old harbour.", "summarise", "")


def fail(text, limit):
    raise EmbeddingError("the model is away")


@pytest.mark.parametrize(
    ("summarise", "why"),
    [
        (None, "there is no model to summarise"),
        (fail, "the summary failed (the model is away)"),
        (lambda text, limit: "a b c d e f g", "the summary has 7 tokens, not 1 to 6"),
        (lambda text, limit: "  ", "the summary has 0 tokens, not 1 to 6"),
    ],
)
def test_without_a_usable_summary_sentences_are_kept_and_the_note_says_why(summarise, why):
    made = cut(STORY, 6, "summarise", summarise=summarise)
    assert made.text == "The harbour opened in 1890. …"
    assert made.strategy == "extractive"
    assert made.note == f"{why}: the sentences nearest to the query are kept"


def test_white_space_alone_is_cut_without_a_mark():
    assert cut(" " * 40, 3, "keep_start", CharacterCounter()).text == " " * 12


TEXTS = st.text(max_size=200) | st.text(st.sampled_from("aB é。.!\n-😀 字\u0301"), max_size=200)


@pytest.mark.parametrize("counter", [WORDS, CharacterCounter(), get_counter()], ids=lambda each: each.name)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(deadline=None)
@given(text=TEXTS, limit=st.integers(0, 40), words=st.frozensets(st.text(max_size=3), max_size=4))
def test_no_text_is_ever_longer_than_the_limit(counter, strategy, text, limit, words):
    assert counter.count(cut(text, limit, strategy, counter, words=words).text) <= limit


@settings(deadline=None)
@given(text=TEXTS, limit=st.integers(0, 40))
def test_a_cut_text_is_made_of_the_text(text, limit):
    start = cut(text, limit, "keep_start", CharacterCounter()).text
    end = cut(text, limit, "keep_end", CharacterCounter()).text
    assert text.startswith(start.removesuffix(" …")) or text.startswith(start)
    assert text.endswith(end.removeprefix("… ")) or text.endswith(end)


TABLE = "| Plan | Deductible | Copay |\n| --- | --- | --- |\n" + "\n".join(
    f"| Plan {number} | {number * 100} dollars | {number} dollars |" for number in range(1, 40)
)


def test_rows_of_a_table_keep_its_header_row():
    text = f"Plans differ.\n\n{TABLE}\n\nAsk for more."
    counter = get_counter("o200k_base")
    shown = truncate(text, 90, strategy="extractive", counter=counter, words={"31"}).text
    lines = shown.splitlines()
    head = next(place for place, line in enumerate(lines) if "| Plan | Deductible | Copay |" in line)
    assert lines[head + 1] == "| --- | --- | --- |"
    row = next(place for place, line in enumerate(lines) if line.startswith("| Plan 31 | 3100 dollars |"))
    assert head < row and "| … |" in lines[head:row]
    assert counter.count(shown) <= 90
