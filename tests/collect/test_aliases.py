"""Acronyms that the workspace defines."""

import pytest

from weftwork import Node, Weft
from weftwork.collect.aliases import ALIAS, long_forms, short_forms


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("aliases") / "t.weft", embedder=None) as opened:
        opened.add(
            [
                Node(id="defined", title="Companies", text="Johnson & Johnson (JnJ) makes plasters."),
                Node(id="long", title="Filing", text="Revenue of Johnson & Johnson rose in the second quarter."),
                Node(id="short", title="Memo", text="JnJ bought a maker of catheters."),
                Node(id="other", title="Other", text="Revenue of a bakery rose."),
            ]
        )
        yield opened


def found(weft, query):
    return [result.node.id for result in weft.search(query, mode="words")]


def test_an_acronym_finds_what_is_spelt_out(weft):
    assert "long" in found(weft, "plans of JnJ")
    assert found(weft, "revenue of JnJ").index("long") < found(weft, "revenue of JnJ").index("other")


def test_what_is_spelt_out_finds_the_acronym(weft):
    assert "short" in found(weft, "catalogue of Johnson & Johnson")


def test_only_what_the_viewer_sees_defines(weft):
    weft.add(
        [Node(id="hidden", title="Secret", text="Quiet Zinc Mine (QZM) opens.", access=frozenset({"ana"}), owner="ana")]
    )
    weft.add_user("ana")
    weft.add_user("ben")
    with weft.store.view("main", "ana") as view:
        assert long_forms(view, "When does QZM open?") == dict.fromkeys(("quiet", "zinc", "mine"), ALIAS)
    with weft.store.view("main", "ben") as view:
        assert long_forms(view, "When does QZM open?") == {}


def test_forms_that_the_question_has_are_not_added_again(weft):
    assert short_forms(["Johnson & Johnson (JnJ)"], "Is Johnson & Johnson the same as JnJ?") == {}
    assert short_forms(["Johnson & Johnson (JnJ)"], "Where is Johnson & Johnson?") == {"jnj": ALIAS}
