"""A time that a question names decides between things that answer it equally well."""

from datetime import UTC, datetime

import pytest

from weftwork import Node, Weft

DAYS = {"may": datetime(2023, 5, 8, 9, tzinfo=UTC), "june": datetime(2023, 6, 27, tzinfo=UTC)}


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("times") / "chat.weft", embedder="hashing") as opened:
        said = {
            "may": "Ann: today I painted a lake with my kids",
            "june": "Ann: we painted a lake, kids and all, today",
        }
        opened.add([Node(id=name, type="thread") for name in ("may chat", "june chat")])
        opened.add(
            [
                Node(
                    id=name,
                    type="message",
                    text=text,
                    parent=f"{name} chat",
                    created_at=DAYS[name],
                    updated_at=DAYS[name],
                )
                for name, text in said.items()
            ]
        )
        yield opened


@pytest.mark.parametrize("recipe", ["default", "conversation"])
@pytest.mark.parametrize(
    ("when", "first"),
    [
        ("on 8 May 2023", "may"), ("on May 8th, 2023", "may"), ("in May 2023", "may"), ("on 2023-05-08", "may"),
        ("in June 2023", "june"), ("on the 27th of June, 2023", "june"),
    ],
)  # fmt: skip
def test_what_was_written_then_comes_first(weft, recipe, when, first):
    context = weft.context(f"What did Ann and her kids paint {when}?", recipe=recipe)
    assert context.items[0].candidate.node.id == first


@pytest.mark.parametrize("recipe", ["default", "conversation"])
def test_without_a_time_it_does_not_count(weft, recipe):
    context = weft.context("What did Ann and her kids paint?", recipe=recipe)
    assert {decision.signals["period"] for decision in context.trace if decision.node in DAYS} == {None}
