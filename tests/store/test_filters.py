"""Filters become conditions of a statement, in both stores."""

from dataclasses import fields, replace

import pytest

from weftwork.store.contract.kit import NOW
from weftwork.store.postgres import read_queries as postgres
from weftwork.store.sql.filters import filter_clause, filter_values
from weftwork.store.sqlite import read_queries as sqlite
from weftwork.types import Filters

ALL = Filters(
    types=frozenset({"b", "a"}),
    tags=frozenset({"t"}),
    after=NOW,
    before=NOW,
    min_confidence=0.0,
    conversation="",
    as_of=NOW,
    exclude=frozenset({"n"}),
    exclude_types=frozenset({"t"}),
)


def test_each_filter_is_one_value_and_those_that_are_not_set_are_none():
    assert filter_values(Filters()) == {}
    for name in (field.name for field in fields(Filters)):
        alone = replace(Filters(), **{name: getattr(ALL, name)})
        assert len(filter_values(alone)) == 1, name
    assert filter_values(ALL)["types"] == ["a", "b"]
    assert filter_values(ALL)["confidence"] == 0.0


@pytest.mark.parametrize(("conditions", "parameter"), [(sqlite.FILTERS, ":{}"), (postgres.FILTERS, "%({})s")])
def test_each_store_has_a_condition_for_each_filter_that_takes_its_value(conditions, parameter):
    clause, values = filter_clause(ALL, conditions)
    assert conditions.keys() == values.keys()
    assert clause.startswith(" AND ")
    for name, condition in conditions.items():
        assert parameter.format(name) in condition and condition in clause
    assert filter_clause(Filters(), conditions) == ("", {})
