"""The parts that need no server."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.errors import InvalidInput
from weftwork.store.open import shown
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.codec import folded, lexemes, phrase, read_vector, sign_bits
from weftwork.store.postgres.text import MARK, escaped, unescaped


@given(st.text(alphabet=st.sampled_from(f"a01\0{MARK}")))
def test_any_text_comes_back_and_none_has_a_nul(text):
    assert unescaped(escaped(text)) == text
    assert "\0" not in escaped(text)


def test_an_address_has_the_settings_of_both():
    address = parse("postgresql://ana:secret@db.example/notes?sslmode=require&weftwork_pool=3&weftwork_files=/srv/weft")
    assert (address.pool, address.timeout, str(address.files)) == (3, 30, "/srv/weft/notes")
    assert address.server == "postgresql://ana:secret@db.example/notes?sslmode=require"
    assert "secret" not in address.place
    assert shown("postgresql://ana:secret@db.example:5433/notes?x=y") == "postgresql://ana@db.example:5433/notes?x=y"
    assert shown("notes.weft") == "notes.weft"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host/db", "postgresql://"),
        ("postgresql://host/db?weftwork_pol=3", "weftwork_pool"),
        ("postgresql://host/db?weftwork_pool=0", "from 1 to"),
        ("postgresql://host/db?weftwork_timeout=soon", "whole number"),
    ],
)
def test_a_wrong_address_is_refused_with_the_fix(url, message):
    with pytest.raises(InvalidInput, match=message):
        parse(url)


def test_lexemes_have_stems_with_their_places_and_words_without():
    assert lexemes("Launching the launch") == ("'launch':1,3 'the':2 '=launching' '=the' '=launch'", 3)
    assert phrase(["o'neil", "x"]) == "('o''neil' <-> 'x')"
    assert lexemes("") == ("", 0)


def test_titles_are_compared_by_their_beginning_in_lower_case():
    assert folded("Mirror CELL Ä") == "mirror cell Ä"
    assert len(folded("x" * 5000)) == 200


def test_vectors_are_read_as_pgvector_sends_them():
    sent = b"\x00\x03\x00\x00" + np.array([1, -2, 0.5], dtype=">f4").tobytes()
    assert read_vector(sent).tolist() == [1.0, -2.0, 0.5]
    assert sign_bits(np.array([1, -2, 0.5], dtype=np.float32)) == "101"
    assert sign_bits(np.zeros(3, dtype=np.float32)) is None
    assert sign_bits(np.array([np.nan, 1, 1])) is None
