"""Support: a context is empty where nothing answers the query."""

from dataclasses import replace

import pytest

from weftwork import Node, Weft
from weftwork.embed.card import Trust, known_cards
from weftwork.embed.static import StaticEmbedder
from weftwork.errors import InvalidInput
from weftwork.request import Message

WORDS = (
    "brass gear oil cold press paper glue thread linen board knife bone folder wax needle awl spine cloth ink".split()
)


THANKS = Node(id="thanks", type="page", title="Thanks", text="Thanks to all who helped.")
ANNA = Node(
    id="anna",
    type="page",
    title="Anna Lindqvist",
    text="She sells atlases on the market of Uppsala and mends their spines.",
)


def _word(place):
    return WORDS[place % len(WORDS)]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """Sixty notes on binding books, with the built-in embeddings."""
    notes = [
        Node(
            id=f"n{number}",
            type="page",
            title=f"About {_word(number)} and {_word(7 * number + 3)}",
            text=f"The {_word(number)} is kept beside the {_word(3 * number + 1)}, step {number}.",
        )
        for number in range(60)
    ]
    with Weft.open(tmp_path_factory.mktemp("support") / "notes.weft", embedder=StaticEmbedder()) as weft:
        weft.add([*notes, THANKS, ANNA])
        yield weft


@pytest.mark.parametrize(
    "query", ["thanks!", "hello", "ok, great", "👍", "asdkjh qwe zzz", "Who won the football world cup in Brazil?"]
)
def test_courtesies_nonsense_and_other_subjects_get_nothing(workshop, query):
    context = workshop.context(query)
    assert (context.text, context.tokens, context.items) == ("", 0, ())
    assert context.support < 0.5
    assert any(warning.startswith("nothing ") for warning in context.warnings)
    assert all("support" in decision.reason for decision in context.trace)


@pytest.mark.parametrize("query", ["Where is the needle kept?", "needel and linnen", "How do I oil the gear?"])
def test_what_the_workspace_answers_is_shown(workshop, query):
    context = workshop.context(query)
    assert context.items
    assert context.support >= 0.5
    assert not context.warnings


def test_a_search_finds_nothing_by_a_faint_likeness_alone_but_words_always(workshop):
    assert workshop.search("asdkjh qwe zzz") == []
    assert workshop.search("football in Brazil") == []
    assert workshop.search("football in Brazil", mode="vector")
    assert workshop.search("thanks!")[0].node.id == "thanks"
    assert workshop.search("needel")


def test_the_least_support_can_be_set(workshop):
    assert "ask with min_support=0" in workshop.context("thanks!").warnings[0]
    assert workshop.context("thanks!", min_support=0).items
    assert workshop.context("thanks!", min_support=0).support is None
    assert not workshop.context("Where is the needle of Alexandra and Bartholomew?", min_support=1.0).items


@pytest.mark.parametrize("least", [-0.1, 1.5, "much", True])
def test_a_least_support_that_is_no_share_is_refused(workshop, least):
    with pytest.raises(InvalidInput, match="min_support must be a number from 0 to 1"):
        workshop.context("needle", min_support=least)


@pytest.mark.parametrize("options", [{"focus": "n3"}, {"include": ("n3",)}])
def test_what_is_asked_for_by_other_means_than_words_is_shown(workshop, options):
    context = workshop.context("thanks!", **options)
    assert context.support is None
    assert [item.candidate.node.id for item in context.items] == ["n3"]


def test_a_courtesy_in_a_thread_brings_what_was_said_and_no_search_results(workshop):
    said = [Message("user", "Where is the needle kept?"), Message("assistant", "Beside the linen.")]
    context = workshop.context("thanks!", history=said, recipe="workspace")
    assert {item.candidate.section for item in context.items} <= {"history"}
    assert "Thanks to all" not in context.text


@pytest.mark.parametrize("recipe", ["default", "workspace", "graph", "conversation", "memory", "thread", "research"])
@pytest.mark.parametrize("query", ["thanks!", "asdkjh qwe zzz", "Who won the football world cup in Brazil?"])
def test_every_recipe_is_silent_where_nothing_answers(workshop, recipe, query):
    assert workshop.context(query, recipe=recipe).items == ()


def test_one_word_in_common_is_no_answer(workshop):
    assert workshop.context("Which cloth did the astronauts of the lunar programme wear in orbit?").support < 0.5


@pytest.mark.parametrize(
    ("known", "unknown", "place"),
    [
        ("How do I oil the gear?", "How do I oil the gear of a Volkswagen?", -1),
        ("Where is the needle kept?", "Where does Jonathan keep the needle?", 2),
        ("What does Anna sell?", "What does Bartholomew sell?", 2),
    ],
)
def test_a_name_that_is_nowhere_leaves_little_support(workshop, known, unknown, place):
    assert workshop.context(known).items
    context = workshop.context(unknown)
    assert not context.items
    assert f"no text has {unknown.split()[place].strip('?').lower()!r}" in context.warnings[0]


def test_a_misspelt_name_and_one_in_the_genitive_are_names_that_are_known(workshop):
    asked = [
        "Where does Lindqvist sell atlases?",
        "Where does Lindquist sell atlases?",
        "Where are Lindqvist's atlases?",
    ]
    right, misspelt, genitive = (workshop.context(each).support for each in asked)
    assert right > misspelt >= 0.5
    assert genitive >= 0.5


def test_more_words_of_the_question_in_one_passage_are_more_support(workshop):
    questions = ["atlases on the bus", "atlases on the market by bus", "atlases on the market of Uppsala by bus"]
    supports = [workshop.context(each, min_support=0.01).support for each in questions]
    assert supports == sorted(set(supports))


class _WithoutCard:
    """A provider whose cosines nobody has measured."""

    model = "of-my-own"

    def __init__(self, embedder):
        self._embedder = embedder

    @property
    def dimensions(self):
        return self._embedder.dimensions

    def embed_batch(self, texts):
        return self._embedder.embed_batch(texts)


@pytest.mark.parametrize("embedder", [None, "hashing", _WithoutCard(StaticEmbedder())], ids=["none", "hashing", "own"])
def test_support_needs_no_vectors_and_no_card(tmp_path, embedder):
    notes = [
        Node(id=f"n{n}", title=f"The {_word(n)}", text=f"The {_word(n)} lies beside the {_word(3 * n + 1)}.")
        for n in range(60)
    ]
    with Weft.open(tmp_path / "notes.weft", embedder=embedder) as weft:
        weft.add([*notes, ANNA])
        for question in ("Where does the needle lie?", "needel and linen", "Where does Anna sell atlases?"):
            assert weft.context(question).items, question
        for question in ("asdkjh qwe zzz", "Who won the football world cup in Brazil?", "Where is the train to Milan?"):
            assert not weft.context(question).items, question


def test_what_has_no_vector_yet_is_judged_by_its_words(tmp_path):
    with Weft.open(tmp_path / "notes.weft", embedder=None) as weft:
        weft.add([Node(id=f"n{n}", title=f"The {_word(n)}", text=f"Keep it at shelf {n}.") for n in range(60)])
    with Weft.open(tmp_path / "notes.weft", embedder=StaticEmbedder()) as weft:
        assert weft.context("Which shelf is the needle at?").items
        assert not weft.context("Who won the football world cup in Brazil?").items


def test_in_a_small_workspace_only_courtesies_get_nothing(tmp_path):
    with Weft.open(tmp_path / "notes.weft", embedder=StaticEmbedder()) as weft:
        weft.add([Node(id="a", type="page", text="The awl is in the drawer.")])
        context = weft.context("Which drawer did Alexandra paint in Brazil?")
        assert (context.support, bool(context.items)) == (None, True)
        assert not weft.context("thank you very much").items


def test_a_question_that_somebody_asked_before_is_no_answer_to_it(workshop):
    thread = workshop.threads.create("Chat").id
    nonsense, question = "Who won the football world cup in Brazil?", "Where is the bone folder kept?"
    workshop.threads.post(thread, nonsense)
    workshop.threads.post(thread, question)
    assert not workshop.context(nonsense).items
    context = workshop.context(question)
    assert context.items and "folder" in context.text and question not in context.text
    assert [one.reason for one in context.trace if not one.node.startswith("n")] == ["it only repeats the question"]
    workshop.remove([thread])


class _WithCard(StaticEmbedder):
    """The static model under another card."""

    def __init__(self, trust):
        super().__init__()
        self._trust = trust

    @property
    def card(self):
        return replace(known_cards()["static"], trust=self._trust)


def test_support_is_on_the_scale_of_the_models_card(tmp_path):
    notes = [Node(id=f"n{n}", title=f"Note {n}", text=f"Shelf {n} holds paint and brushes.") for n in range(60)]
    asked, supports = "Which shelf holds paint?", {}
    for half in (0.07, 2.0):
        with Weft.open(tmp_path / f"{half}.weft", embedder=_WithCard(Trust(half=half))) as weft:
            weft.add(notes)
            supports[half] = weft.context(asked, min_support=0.1).support
    assert supports[0.07] > 0.5 > supports[2.0]
