"""Ids of files, of printable characters and no two alike."""

import os

from hypothesis import given
from hypothesis import strategies as st

from weftwork.ingest.files import identity


def test_no_two_names_have_one_id():
    names = [
        "a\nb", "a\\nb", "a\\\nb", "a\\\\nb", "a\\x85b", "a\x85b", os.fsdecode(b"a\x85b"), "a\\u0085b",
        "a\ue0001b", "a\U000e0001b", "a\tb", "a\xa0b", "a b",
    ]  # fmt: skip
    ids = [identity("file", name) for name in names]
    assert len(set(ids)) == len(names)
    assert all(name.isprintable() for name in ids)
    assert identity("file", "notes/Müller, 2024 (1).md") == "file:notes/Müller, 2024 (1).md"


@given(st.text(max_size=6), st.text(max_size=6))
def test_ids_tell_any_two_names_apart(one, other):
    assert (identity("file", one) == identity("file", other)) == (one == other)
