import json
import math

import pytest

from weftwork import Node, Weft
from weftwork.errors import InvalidInput, NotFound, UnknownName
from weftwork.evaluate.page import to_html
from weftwork.evaluate.questions import Question, read_questions
from weftwork.evaluate.report import to_dict, to_table
from weftwork.evaluate.run import evaluate, judge
from weftwork.evaluate.suggest import suggest
from weftwork.evaluate.variants import combine

NODES = [
    Node(id="ship", type="page", title="Shipping dates", text="The telescope ships on the first of June, by rail." * 3),
    Node(id="mirror", type="page", title="Mirror", text="# Grinding\n\nThe mirror is ground for nine weeks.\n"),
    Node(id="diary", type="page", title="A diary page", text="Nobody but Ana reads of the mirror here. " * 3,
         access=frozenset({"ana"})),
]  # fmt: skip


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("evaluate") / "a.weft") as opened:
        opened.add_user("ana")
        opened.add(NODES)
        yield opened


def asked(weft, *questions, user="me", **ways):
    return evaluate(weft, questions, combine(**ways), user=user, workspace="main")


def test_evidence_is_found_by_id_by_citation_and_by_quote(weft):
    context = weft.context("When does the telescope ship?")
    citation = next(item.candidate.passage.citation for item in context.items if item.candidate.node.id == "ship")
    question = Question("1", context.query, ("ship", citation, "absent"), ("FIRST of\nJune", "second of May"))
    outcome = judge(context, question)
    assert outcome.recall == 3 / 5
    assert outcome.missing == ("absent", "second of May")
    assert outcome.complete == 0.0
    assert outcome.pieces == 3


def test_what_comes_later_gains_less(weft):
    context = weft.context("When does the mirror ship?")
    order = [item.candidate.node.id for item in context.items]
    assert sorted(order) == ["mirror", "ship"]
    first, last = (judge(context, Question("1", "q", (name,))) for name in order)
    assert (first.ndcg, last.ndcg) == (1.0, pytest.approx(1 / math.log2(3)))
    assert first.precision == last.precision == 0.5


def test_an_empty_context_misses_everything(weft):
    outcome = judge(weft.context("zzz qqq", budget=1), Question("1", "zzz", ("ship",)))
    assert (outcome.recall, outcome.precision, outcome.ndcg, outcome.pieces) == (0.0, 0.0, 0.0, 0)


def test_what_a_user_may_not_see_is_unknown_to_them(weft):
    question = Question("1", "Who reads of the mirror?", ("diary",))
    assert asked(weft, question).unknown == ("diary",)
    assert asked(weft, question).results[0].interval("recall").mean == 0.0
    assert asked(weft, question, user="ana").unknown == ()
    assert asked(weft, question, user="ana").results[0].interval("recall").mean == 1.0


def test_every_combination_is_asked_and_compared_with_the_first(weft):
    questions = [
        Question("1", "When does it ship?", ("ship",)),
        Question("2", "How long is it ground?", (), ("nine weeks",)),
    ]
    evaluation = asked(
        weft, *questions, recipes=("default", "graph"), budgets=(100, 2000), packers=("greedy", "optimal")
    )
    values = to_dict(evaluation)
    assert len(values["variants"]) == 8
    assert len({value["name"] for value in values["variants"]}) == 8
    for each, result in zip(values["variants"], evaluation.results, strict=True):
        assert result.tokens <= each["budget"]
        assert all(part["low"] <= part["mean"] <= part["high"] for part in each["metrics"].values())
    assert values["variants"][0]["against_first"] == {}
    assert values["variants"][1]["against_first"].keys() == {"recall", "precision", "nDCG", "complete"}
    json.dumps(values)
    table = to_table(evaluation).splitlines()
    assert len(table) == 1 + 2 * 8
    assert "optimal · 2,000 tokens" in table[-2]


def test_tokens_are_divided_by_the_pieces_that_were_found(weft):
    (result,) = asked(weft, Question("1", "When does it ship?", ("ship",)), Question("2", "Who?", ("no",))).results
    assert result.tokens_per_piece == sum(outcome.tokens for outcome in result.outcomes)
    (nothing,) = asked(weft, Question("2", "Who?", ("no",))).results
    assert nothing.tokens_per_piece is None
    assert "–" in to_table(asked(weft, Question("2", "Who?", ("no",))))


def test_weights_replace_those_of_the_recipe(weft):
    (variant,) = combine(weights=[{"recency_linear": 1.0}])
    assert dict(variant.recipe.profile.weights) == {"recency_linear": 1.0}
    assert variant.name == "default · weights recency_linear=1"


@pytest.mark.parametrize(
    ("ways", "error"),
    [
        ({"recipes": ("nonesuch",)}, UnknownName),
        ({"packers": ("nonesuch",)}, UnknownName),
        ({"weights": [{"nonesuch": 1.0}]}, UnknownName),
        ({"weights": [{"recency_linear": -1.0}]}, InvalidInput),
        ({"budgets": (100, 100)}, InvalidInput),
        ({"budgets": tuple(range(1, 66))}, InvalidInput),
    ],
)
def test_impossible_ways_are_refused(ways, error):
    with pytest.raises(error):
        combine(**ways)


def test_the_page_shows_figures_and_misses_and_lets_nothing_out_of_its_quotes(weft):
    nasty = '<script>alert("x")</script>'
    evaluation = asked(
        weft, Question(nasty, nasty, (nasty,), (nasty,)), Question("2", "When?", ("ship",)), budgets=(50, 900)
    )
    page = to_html(evaluation, nasty)
    assert nasty not in page
    assert "<script" not in page
    assert page.count("<svg") == 4
    assert page.count("&lt;script&gt;") > 4
    assert "900 tokens" in page


def test_drafts_ask_for_titles_and_headings_that_the_viewer_may_see(weft):
    def drafts(user):
        with weft.store.view("main", user) as view:
            return suggest(view, 10)

    assert {draft.query for draft in drafts("me")} == {
        "What do we know about Shipping dates?",
        "What do we know about Mirror: Grinding?",
    }
    assert "What do we know about A diary page?" in {draft.query for draft in drafts("ana")}
    assert drafts("me") == drafts("me")
    heading = next(draft for draft in drafts("me") if "Grinding" in draft.query)
    assert heading.quotes == ("The mirror is ground for nine weeks.",)
    assert asked(weft, heading).results[0].interval("recall").mean == 1.0


def test_a_file_of_questions_is_read(tmp_path):
    path = tmp_path / "questions.jsonl"
    first = '\ufeff{"query": "a", "wanted": ["x", "x"]}'
    second = '{"id": "b", "query": "b", "quotes": ["q"], "draft": true}'
    path.write_text(f"{first}\n\n{second}\n", encoding="utf-8")
    assert read_questions(path) == [Question("1", "a", ("x",)), Question("b", "b", (), ("q",))]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[]", "expected a JSON object"),
        ("{", "line 1 is not JSON"),
        ('{"wanted": ["x"]}', "query"),
        ('{"query": " ", "wanted": ["x"]}', "query"),
        ('{"query": "a"}', "wanted"),
        ('{"query": "a", "wanted": "x"}', "list"),
        ('{"query": "a", "wanted": [" "]}', "list"),
        ('{"query": "a", "wanted": ["x"], "focus": 1}', "focus"),
        ('{"query": "a", "wanted": ["x"], "budget": 1}', "unknown key 'budget'"),
        ('{"id": "1", "query": "a", "wanted": ["x"]}\n{"id": "1", "query": "b", "wanted": ["x"]}', "twice"),
        ("[" * 100_000, "line 1"),
        ("", "no question"),
    ],
)
def test_wrong_questions_are_refused_by_their_line(tmp_path, line, says):
    path = tmp_path / "questions.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(InvalidInput, match=says):
        read_questions(path)


def test_files_that_are_no_text_or_absent_are_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="UTF-8"):
        read_questions(tmp_path / "a")
    with pytest.raises(NotFound, match="weftwork eval suggest"):
        read_questions(tmp_path / "b")
