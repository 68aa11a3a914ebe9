import pytest

from weftwork.ingest.mentions import Mention, MentionFinder, find_mentions, mentionable

TITLES = {
    "Hill Street Observatory": "obs",
    "Hill Street": "street",
    "Calder": "calder",
    "telescope": "scope",
    "京都": "kyoto",
}


def targets(text, titles=TITLES):
    return [mention.target for mention in MentionFinder(titles).find("x", text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We met at the hill street\nobservatory.", ["obs"]),
        ("From Hill Street to the Hill Street Observatory", ["street", "obs"]),
        ("Calder and Calder", ["calder"]),
        ("calder, CALDER, Calders, McCalder", []),
        ("Telescope first, then a telescope", ["scope"]),
        ("a TELESCOPE", []),
        ("the uphill street", []),
        ("昨日京都へ行った", ["kyoto"]),
        ("Hill-Street", []),
        ("", []),
    ],
)
def test_titles_are_found_as_whole_words_the_longest_first(text, found):
    assert targets(text) == found


@pytest.mark.parametrize("title", ["the", "Inbox", "2024", "A", "Go", "Notes", "to do", "7", "", "___", "見"])
def test_titles_that_say_little_are_not_looked_for(title):
    assert not mentionable(title)


@pytest.mark.parametrize(
    "title", ["Finch", "2024-05-01", "R&D lab", "Ωmega", "New York", "東京", "the way of the work"]
)
def test_titles_that_say_something_are(title):
    assert mentionable(title)


@pytest.mark.parametrize(
    "text",
    [
        "Run it:\n\n```telescope\nlook(telescope)\n```",
        "See [this](../optics/telescope.md) and https://example.org/telescope/list",
        "See [[hardware/telescope|that]]",
        "Open `mount.telescope` or telescope.toml",
    ],
)
def test_code_addresses_and_names_with_dots_mention_nothing(text):
    assert targets(text) == []
    assert targets(f"{text}\n\nA telescope.") == ["scope"]


def test_names_are_compared_whatever_their_composition():
    assert targets("Im Cafe\u0301 Bräuner", {"Café Bräuner": "cafe"}) == ["cafe"]


def test_a_text_does_not_mention_itself():
    texts = [("a", "Amber stone and birch water"), ("b", "Amber stone")]
    titles = {"Amber stone": "a", "Birch water": "b"}
    assert list(find_mentions(texts, titles)) == [Mention("a", "b", "Birch water"), Mention("b", "a", "Amber stone")]


def test_what_is_found_is_what_a_plain_search_finds():
    """Against a search for each title in each text."""
    import random
    import re

    rng = random.Random(7)
    words = ["amber", "birch", "cedar", "dune", "ember", "fern", "Amber", "Cedar"]
    titles = {" ".join(rng.choices(words[:6], k=2)): f"t{number}" for number in range(25)}
    for number in range(200):
        text = " ".join(rng.choices(words, k=12))
        spans = sorted(
            (found.start(), -found.end(), target)
            for title, target in titles.items()
            for found in re.finditer(rf"(?=\b({title})\b)", text, re.I)
            for found in [re.compile(re.escape(title), re.I).match(text, found.start())]
        )
        expected, reached = {}, -1
        for _, end, target in spans:
            if -end > reached:
                reached = -end
                expected[target] = None
        assert targets(text, titles) == list(expected), (number, text)
