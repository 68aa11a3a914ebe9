import pytest

from weftwork.score.tf_idf import cosine, keyword_match, text_similarity, tf_idf

from .making import candidate, facts


def test_text_similarity_is_the_cosine_of_the_shares_of_words():
    # text   red 2/3, car 1/3       query  red 1/2, bike 1/2
    # dot    2/3 × 1/2 = 1/3        norms  √5/3 and √2/2, product √10/6
    # cosine (1/3) / (√10/6) = 2/√10 = 0.632455532
    assert text_similarity(candidate(text="Red red car"), facts("red bike")) == pytest.approx(0.632455532, abs=1e-9)


def test_rarity_weighs_the_words_where_it_is_known():
    # text   red 1/2 × 2 = 1, car 1/2        query  red 1/2 × 2 = 1, bike 1/2 × 3 = 1.5
    # dot    1        norms  √(1 + 1/4) = √5/2 and √(1 + 9/4) = √13/2, product √65/4
    # cosine 4/√65 = 0.496138938
    known = facts("red bike", idf={"red": 2.0, "bike": 3.0})
    assert text_similarity(candidate(text="red car"), known) == pytest.approx(0.496138938, abs=1e-9)


def test_a_word_weighs_by_its_share_and_its_rarity():
    assert tf_idf("Red car red bus", {"red": 3.0}) == {"red": 1.5, "car": 0.25, "bus": 0.25}  # 2/4 × 3, 1/4, 1/4


def test_equal_texts_are_fully_similar_and_disjoint_ones_not_at_all():
    assert text_similarity(candidate(text="one two"), facts("two one")) == pytest.approx(1.0)
    assert text_similarity(candidate(text="one two"), facts("three")) == 0.0


def test_a_node_without_text_is_compared_by_its_title():
    assert text_similarity(candidate(text="", title="Red bike"), facts("red bike")) == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["", "   "])
def test_nothing_is_similar_to_nothing(text):
    assert text_similarity(candidate(text=text), facts("")) == 0.0
    assert cosine({}, tf_idf("red", {})) == 0.0


def test_keyword_match_is_the_share_of_the_keywords_that_occur():
    # of "mirror", "inspection", "april" two occur; "the", "in" and "is" are no keywords
    asked = facts("is the mirror inspection in april")
    assert keyword_match(candidate(text="The MIRROR passed in April."), asked) == pytest.approx(2 / 3)
    assert keyword_match(candidate(text="nothing"), asked) == 0.0


def test_keywords_are_found_inside_words_and_in_titles():
    asked = facts("mirror inspection")
    assert keyword_match(candidate(text="mirrors", title="Inspections"), asked) == 1.0


def test_keyword_match_does_not_apply_to_a_query_without_keywords():
    assert keyword_match(candidate(text="why us"), facts("why is it so")) is None


def test_punctuation_around_words_does_not_keep_them_apart():
    assert text_similarity(candidate(text="Red, bike."), facts("bike? (red)")) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("主镜什么时候检查的？", "主镜于四月检查。"),
        ("दर्पण का निरीक्षण", "दर्पण का निरीक्षण हुआ"),
        ("ตรวจกระจก", "กระจกถูกตรวจ"),
    ],
)
def test_texts_of_scripts_without_spaces_or_with_marks_are_compared(question, text):
    assert cosine(tf_idf(question, {}), tf_idf(text, {})) > 0.2
