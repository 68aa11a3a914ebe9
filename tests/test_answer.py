"""An answer is checked against the context that it was given."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Node, Weft
from weftwork.answer import check_answer

DOME = "The dome turns on twelve steel rollers that need fresh grease every spring, before the first frost is over."
MIRROR = "Ana inspected the primary mirror in April; she found two scratches near the rim and one loose support screw."
GERMAN = "Die Kuppel läuft auf zwölf stählernen Rollen, die jedes Frühjahr mit frischem Fett geschmiert werden müssen."
CHINESE = "圆顶在十二个钢制滚轮上转动，每年春天都需要重新上油，否则会发出很大的噪音。"
HELLO = "It is important to note that at the end of the day we may need to look into this as well as we can."
CODE = (
    "def turn(dome, degrees):\n    for roller in dome.rollers:\n        roller.drive(degrees * RATIO)\n    return dome"
)


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    texts = {"dome": DOME, "mirror": MIRROR, "kuppel": GERMAN, "圆顶": CHINESE, "hello": HELLO, "code": CODE}
    with Weft.open(tmp_path_factory.mktemp("answer") / "a.weft", embedder=None) as weft:
        weft.add([Node(id=name, type="file", title=name, text=text) for name, text in texts.items()])
        yield weft.context("Who looks after the dome?", include=tuple(texts))


@pytest.fixture(scope="module")
def ids(context):
    return {citation.node: citation.id for citation in context.citations}


def used(check):
    return [citation.node for citation in check.used]


def silent(check):
    return [(quote.sentence, quote.citation.node) for quote in check.uncited]


def test_an_empty_answer_is_sound(context):
    for text in ("", "  \n"):
        check = check_answer(text, context)
        assert (check.used, check.unknown, check.uncited, check.sound) == ((), (), (), True)


def test_citations_are_found_in_the_order_of_the_answer_each_once(context, ids):
    text = f"One [{ids['mirror']}]. Two [{ids['dome']}] and again [{ids['mirror']}]."
    check = check_answer(text, context)
    assert used(check) == ["mirror", "dome"]
    assert check.sound


def test_citations_that_are_no_ids_may_be_named_by_their_places(context, ids):
    text = f"{DOME} [1] {MIRROR} [1, 2]\n\n{MIRROR} [1]"
    dome, mirror = ((text.index(mark), text.index(mark) + len(mark)) for mark in ("[1]", "[1, 2]"))
    last = (len(text) - 3, len(text))
    mentions = [(ids["dome"], *dome), (ids["dome"], *mirror), (ids["mirror"], *mirror), (ids["dome"], *last)]
    check = check_answer(text, context, [*mentions, ("no-source", 0, 1)])
    assert used(check) == ["dome", "mirror"]
    assert silent(check) == [(MIRROR, "mirror")]
    assert [text[slice(*quote.span)] for quote in check.uncited] == [MIRROR.rstrip(".")]


@pytest.mark.parametrize(
    "form", ["[{a}, {b}]", "[{a}; {b}]", "[{a}][{b}]", "[{a} {b}]", "({a}, {b})", "【{a}】【{b}】", "`{a}` and {b}"]
)
def test_several_citations_are_told_apart_whatever_holds_them(context, ids, form):
    check = check_answer("Yes. " + form.format(a=ids["dome"], b=ids["mirror"]), context)
    assert (used(check), check.unknown) == (["dome", "mirror"], ())


@pytest.mark.parametrize("form", ["[{x}]", "{x}", "[^{x}]", "[id: {x}]", "dome[{x}]", "【{x}†rollers】"])
def test_case_of_an_id_and_what_stands_beside_it_do_not_matter(context, ids, form):
    for name in (ids["dome"], ids["dome"].upper()):
        check = check_answer(f"Yes, the {form.format(x=name)}.", context)
        assert (used(check), check.unknown) == (["dome"], ())


def test_citations_that_do_not_exist_are_told(context, ids):
    text = f"One [k000000]. Two [{ids['dome']}, A123456789]. Three [k00001]. Again [k000000]. Four [o000000, k0000002]."
    check = check_answer(text, context)
    assert check.unknown == ("k000000", "a123456789", "k00001", "o000000", "k0000002")
    assert used(check) == ["dome"]
    assert not check.sound


@pytest.mark.parametrize("form", ["({x})", "{x} said so", "(source:{x})", "as {x}, so", "See `{x}`.", "— {x}"])
@pytest.mark.parametrize("name", ["k000000", "K000000001", "b123456789012"])
def test_citations_that_do_not_exist_are_told_without_brackets_too(context, form, name):
    check = check_answer("Yes. " + form.format(x=name), context)
    assert (check.unknown, check.sound) == ((name.lower(),), False)


def test_unknown_citations_are_told_in_the_order_of_the_answer(context):
    check = check_answer("One k111111. Two [k22222]. Three (k333333).", context)
    assert check.unknown == ("k111111", "k22222", "k333333")


@pytest.mark.parametrize(
    "text",
    [
        "Call 0123456789 or order sku-123456, o000000, i000000 and l000000.",
        "See http://x/k000000 and http://x/?a=k000000 and ~/k000000.",
        "The files k000000.txt and k000000/a and img.k000000 are gone.",
        "A k000, k00000, k0000000 and k00000000000000, kk000000, k000000k and pre-2024 and x-k000000-y.",
        "```\nk000000\n```",
    ],
)
def test_what_only_resembles_an_id_is_no_citation_without_brackets(context, text):
    assert check_answer(text, context).unknown == ()


def test_a_number_of_the_sources_or_the_question_is_no_citation_without_brackets(tmp_path):
    with Weft.open(tmp_path / "a.weft", embedder=None) as weft:
        weft.add([Node(id="order", type="file", text="The order B123456 of the part [R12345] was shipped.")])
        context = weft.context("Where are the orders b123456 and b000000?")
    check = check_answer("B123456 was shipped with [R12345], b000000 was not, b111111 was.", context)
    assert check.unknown == ("b111111",)
    assert check_answer("It was shipped [b123456].", context).unknown == ("b123456",)


def test_words_in_brackets_are_no_citations(context):
    text = (
        "[see-also] [pre-conditions] [x] [1] [non-stop, top-down] [link](http://x/k000000) array[i1] [pre-2024] "
        "error[E0308] [A4] [2024] [123456] [WCAG22]"
    )
    assert check_answer(text, context).unknown == ()


def test_part_of_a_longer_word_is_no_citation(context, ids):
    assert check_answer(f"x-{ids['dome']} {ids['dome']}x {ids['dome']}-2", context).used == ()


def test_a_sentence_in_a_sources_words_without_its_citation_is_told(context):
    check = check_answer(f"Let me see. {DOME} That is all.", context)
    assert silent(check) == [(DOME, "dome")]
    (quote,) = check.uncited
    text = f"Let me see. {DOME} That is all."
    assert text[slice(*quote.span)] == DOME.rstrip(".")


def test_the_span_is_that_of_the_quoted_words_alone(context):
    text = "As far as I know, two scratches near the rim and one loose support screw were seen."
    (quote,) = check_answer(text, context).uncited
    assert text[slice(*quote.span)] == "two scratches near the rim and one loose support screw"
    assert quote.citation.node == "mirror"


@pytest.mark.parametrize(
    "text",
    [
        "{quote} [{id}]",
        "[{id}] {quote}",
        "As [{id}] says: {quote}",
        "The dome turns on twelve [{id}] steel rollers that need fresh grease every spring.",
        "The dome turns on twelve steel rollers that need fresh grease every spring [{id}].",
        "The dome turns on twelve steel rollers that need fresh grease every spring. [{id}] Then we rest.",
        "- {quote} [{id}]\n- Nothing else.",
    ],
)
def test_a_quote_with_its_citation_is_sound(context, ids, text):
    assert silent(check_answer(text.format(quote=DOME, id=ids["dome"]), context)) == []


def test_another_sources_citation_does_not_cover_a_quote(context, ids):
    assert silent(check_answer(f"{DOME} [{ids['mirror']}]", context)) == [(DOME, "dome")]


def test_the_id_of_a_heading_covers_its_excerpt_and_any_id_of_it_what_has_none(context):
    """Of three passages of one document the second was not found: it has no id in the text."""
    first, second, third = (item for item in context.items if item.candidate.node.id in ("dome", "mirror", "kuppel"))
    whole = replace(context.excerpts[0], form="whole", items=(first, replace(second, hit=False), third))
    one = replace(context, sections=(replace(context.sections[0], excerpts=(whole,)),))
    head, around, last = (item.candidate.passage for item in whole.items)
    for quote, cited, sound in [
        (head, head, True), (around, head, True), (last, head, True),
        (head, last, False), (around, last, True), (last, last, True),
    ]:  # fmt: skip
        assert check_answer(f"{quote.text} [{cited.citation}]", one).sound is sound


def test_a_citation_in_another_paragraph_does_not_cover_a_quote(context, ids):
    assert silent(check_answer(f"{DOME}\n\nSee [{ids['dome']}].", context)) == [(DOME, "dome")]


def test_a_citation_covers_the_sentences_before_it_that_quote_the_same_source(context, ids):
    first = "The dome turns on twelve steel rollers that need fresh grease."
    second = "They need fresh grease every spring, before the first frost is over."
    assert silent(check_answer(f"{first} {second} [{ids['dome']}]", context)) == []
    assert silent(check_answer(f"{first} Nobody knows. {second} [{ids['dome']}]", context)) == [(first, "dome")]


@pytest.mark.parametrize(
    "text",
    [
        DOME.upper(),
        DOME.replace(",", " —").replace(".", "!"),
        "“The dome turns on twelve steel rollers that need fresh grease every spring…”",
        "The dome turns on **twelve** _steel_ rollers, that need `fresh` grease every spring.",
        "The dome turns on twelve steel rollers\nthat need fresh grease every spring before the first frost is over.",
        "The dome turns on\ntwelve steel rollers that\nneed fresh grease every\nspring, before the first\nfrost.",
        "> The dome turns on\r\n> twelve steel rollers that\r\n> need fresh grease every\r\n> spring.",
        "1. Well.\n- The dome turns on twelve\n  steel rollers that need\n  fresh grease every spring\n- Yes",
    ],
)
def test_case_punctuation_and_marks_do_not_hide_a_quote(context, text):
    assert [node for _, node in silent(check_answer(text, context))] == ["dome"]


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\n- ", "\n  2) ", "\n## ", "\n| ", "\n>\n> "])
def test_a_line_ends_a_sentence_before_a_blank_one_a_list_a_heading_or_a_row(context, end):
    half, other = "The dome turns on twelve steel rollers", "that need fresh grease every spring"
    assert silent(check_answer(half + end + other, context)) == []
    assert silent(check_answer(half + "\n" + other, context)) != []


def test_a_changed_word_does_not_hide_a_quote(context):
    text = "Ana examined the primary mirror in April; she saw two scratches near the rim and one loose support screw."
    assert [node for _, node in silent(check_answer(text, context))] == ["mirror"]
    text = "In April the primary mirror was looked at by Ana, who reported scratches and a screw that had come loose."
    assert silent(check_answer(text, context)) == []


def test_seven_words_are_no_quote_and_eight_are(context):
    assert silent(check_answer("twelve steel rollers that need fresh grease", context)) == []
    assert silent(check_answer("twelve steel rollers that need fresh grease every", context)) != []


def test_common_phrases_are_no_quote(context):
    assert silent(check_answer(HELLO, context)) == []


def test_the_users_own_words_are_no_quote(context):
    asked = replace(context, query=f"Is it true that {DOME}")
    assert silent(check_answer(f"You ask whether {DOME}", asked)) == []
    assert silent(check_answer(f"{DOME} {MIRROR}", asked)) == [(MIRROR, "mirror")]


def test_quotes_in_german(context, ids):
    text = "die KUPPEL läuft auf zwölf stählernen Rollen, die jedes Frühjahr mit frischem Fett geschmiert werden!"
    assert [node for _, node in silent(check_answer(text, context))] == ["kuppel"]
    assert silent(check_answer(f"{text} [{ids['kuppel']}]", context)) == []
    decomposed = text.replace("ä", "a\u0308").replace("ö", "o\u0308").replace("ü", "u\u0308")
    assert [node for _, node in silent(check_answer(decomposed, context))] == ["kuppel"]


def test_quotes_in_chinese(context, ids):
    text = "我知道了。圆顶在十二个钢制滚轮上转动，每年春天都需要重新上油。谢谢。"
    assert silent(check_answer(text, context)) == [("圆顶在十二个钢制滚轮上转动，每年春天都需要重新上油。", "圆顶")]
    assert silent(check_answer(text.replace("油。", f"油 [{ids['圆顶']}]。"), context)) == []
    assert silent(check_answer("圆顶在十二个滚轮", context)) == []


def test_code_that_was_copied_is_a_quote_and_may_be_cited_before_behind_or_inside(context, ids):
    block = f"```python\n{CODE}\n```"
    assert [node for _, node in silent(check_answer(f"Do this:\n\n{block}\n", context))] == ["code"]
    for text in (
        f"As in [{ids['code']}]:\n\n{block}",
        f"{block}\n[{ids['code']}]",
        f"```python\n# {ids['code']}\n{CODE}\n```",
    ):
        assert silent(check_answer(text, context)) == [], text


def test_in_code_known_citations_count_and_others_are_taken_for_code(context, ids):
    check = check_answer(f"```\nx[k000000] = 1  # [{ids['dome']}]\n```\nAnd [k111111].", context)
    assert (used(check), check.unknown) == (["dome"], ("k111111",))


def test_a_fence_that_is_never_closed_runs_to_the_end(context):
    assert check_answer("```\n[k000000]", context).unknown == ()


def test_abbreviations_do_not_tear_a_sentence_apart(context, ids):
    text = f"The dome turns, e.g. tonight, on twelve steel rollers that need fresh grease every spring [{ids['dome']}]."
    assert silent(check_answer(text, context)) == []


HUGE = {
    "a quote over and over": f"{DOME} ",
    "dots": ".",
    "brackets": "[",
    "closed brackets": "[k000000] ",
    "fences": "```\n",
    "ids in a row": "k000000",
    "digits": "1",
    "one word": "a",
    "the same word": "dome ",
    "line breaks": "\n",
    "ideographs": "圆顶",
    "quotes": ".\"' ",
    "accents": "a\u0308",
}

HUGE_CHARACTERS = some(500_000, part=5)


@pytest.mark.parametrize("unit", HUGE.values(), ids=HUGE)
def test_a_huge_answer_is_checked(context, unit):
    # Work that grew with the square of the length would not end at this one.
    text = unit * (HUGE_CHARACTERS // len(unit))
    check = check_answer(text, context)
    assert (check.used, bool(check.uncited)) == ((), unit.startswith(DOME))
    assert check.unknown == (("k000000",) if "[k" in unit else ())


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["[", "]", "k", "000", " ", DOME, "```\n", ".", "\n"])).map("".join)
)
def test_any_text_can_be_checked_and_spans_lie_inside_it(context, text):
    check = check_answer(text, context)
    for quote in check.uncited:
        start, end = quote.span
        assert 0 <= start < end <= len(text)
        assert quote.sentence in text
    assert len({*check.unknown}) == len(check.unknown)
