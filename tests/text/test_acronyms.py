import pytest

from weftwork.text.acronyms import acronyms_in, definitions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sales at Johnson & Johnson (JnJ) rose.", {"JnJ": "Johnson & Johnson"}),
        ("the time to first token (TTFT) of a model", {"TTFT": "time to first token"}),
        ("Retrieval Augmented Generation (RAG) and (see below)", {"RAG": "Retrieval Augmented Generation"}),
        ("a heat shock protein (HSP)\nand more", {"HSP": "heat shock protein"}),
        ("no such thing (XYZ)", {}),
        ("(RAG) at the start", {}),
        ("the president (Obama)", {}),
    ],
)
def test_a_text_defines_an_acronym_by_the_words_before_it(text, found):
    assert definitions(text) == found


def test_acronyms_have_two_capitals_or_a_digit():
    assert acronyms_in("How did JnJ and the R&D of IBM use GPT4 in Paris?") == ["JnJ", "R&D", "IBM", "GPT4"]
