import pytest

from weftwork.text.analysis import analyse, indexed, marked, parse
from weftwork.text.languages import ENGLISH, language_of


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (ENGLISH, "The contract ends in May, and the landlord keeps the deposit."),
        (ENGLISH, "def total(rows): return sum(row.y for row in rows if row.o)"),
        (ENGLISH, "Rechnung Hotel Köln 2024"),
        ("german", "Der Vertrag endet im Mai, und der Vermieter behält die Kaution."),
        ("french", "Le contrat se termine en mai et le bailleur garde la caution."),
        ("spanish", "El contrato termina en mayo y el propietario se queda con la fianza."),
        ("russian", "Договор заканчивается в мае, и залог остаётся у владельца."),
        ("greek", "Το συμβόλαιο λήγει τον Μάιο."),
        ("arabic", "ينتهي العقد في شهر مايو"),
        (ENGLISH, "قرارداد در ماه مه پایان می‌یابد"),
    ],
)
def test_a_language_is_told_by_script_and_function_words(language, text):
    assert language_of(text) == language


def test_inflected_words_have_one_stem_in_their_language():
    assert analyse("Bäume", "german") == analyse("Bäumen", "german") == ["baum"]
    assert analyse("Bäumen") == ["baumen"]


def test_a_passage_is_indexed_with_its_language_unless_that_is_english():
    stems, language = indexed("Wir haben die Krankheiten der Pflanzen untersucht.")

    assert marked(stems, language)[-1] == "§german"
    assert marked(*indexed("The diseases of the plants.")) == ["the", "diseas", "of", "the", "plant"]


def test_a_query_matches_by_the_stems_of_all_languages_and_each_word_counts_once():
    query = parse("Krankheiten Berlin", languages=(ENGLISH, "german"))

    assert dict(query.terms) == {"krankheiten": 1.0, "berlin": 1.0, "krankheit": 1.0}
    assert dict(query.forms) == {"krankheit": "krankheiten"}


def test_function_words_of_the_querys_own_language_are_left_out_where_the_workspace_has_it():
    question = "Wer hilft bei einer Krankheit?"

    assert list(parse(question, languages=(ENGLISH, "german")).terms) == ["hilft", "krankheit"]
    assert "wer" in parse(question).terms


def test_a_phrase_matches_in_each_language():
    query = parse('"schwere Krankheiten"', languages=(ENGLISH, "german"))

    assert query.phrases == ((("schwere", "krankheiten"), ("schwer", "krankheit")),)
