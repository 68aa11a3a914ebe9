"""The same request gives the same context, whichever store it is asked of.

What is demanded is the strictest: the same text, byte for byte, and the same decision for every candidate, with the
same score. Both stores cut texts into the same words, count them for the same viewer and work scores out with the same
functions; only how the best are shortlisted differs, and on a workspace of this size both shortlist all that can win.
"""

import psycopg
import pytest

from weftwork import Node, Weft, sample
from weftwork.options import ContextOptions
from weftwork.recipe import RECIPES

QUESTIONS = (
    "Where do the mirror coatings stand, and who is waiting for them?",
    "telescpoe mirorr",
    '"mirror cell" coating',
    "coat*",
    "overdue tasks last week",
    "",
)


@pytest.fixture(scope="module")
def pair(server, tmp_path_factory):
    """The sample workspace in a file and in a database."""
    folder = tmp_path_factory.mktemp("agreement")
    url = server.url("agreement", weftwork_files=folder)
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute("CREATE DATABASE agreement")
    with (
        Weft.open(folder / "sample.weft", clock=lambda: sample.NOW) as file,
        Weft.open(url, clock=lambda: sample.NOW) as database,
    ):
        for weft in (file, database):
            sample.load(weft)
        yield file, database


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_contexts_are_the_same(pair, recipe):
    file, database = pair
    for user in ("ana", "ben"):
        for question in QUESTIONS:
            asked = {"user": user, "workspace": sample.WORKSPACE, "recipe": recipe, "budget": 1500}
            wanted, found = file.context(question, **asked), database.context(question, **asked)
            assert found.text == wanted.text, (user, question)
            assert [(each.node, each.fate, each.score) for each in found.trace] == [
                (each.node, each.fate, each.score) for each in wanted.trace
            ]


def test_counts_and_searches_are_the_same(pair):
    file, database = pair
    for user in ("ana", "ben"):
        asked = {"user": user, "workspace": sample.WORKSPACE}
        assert database.stats(**asked) == file.stats(**asked)
        for mode in ("hybrid", "words", "vector"):
            assert database.search("mirror coating", mode=mode, **asked) == file.search(
                "mirror coating", mode=mode, **asked
            )


def test_loading_again_changes_nothing(pair):
    _, database = pair
    before = database.store.version(sample.WORKSPACE)
    sample.load(database)
    assert database.store.version(sample.WORKSPACE) == before
    assert database.store.check() == []


def test_what_one_engine_writes_the_caches_of_another_see_at_once(pair, server):
    _, one = pair
    asked = ContextOptions(user="ana", workspace=sample.WORKSPACE)
    with Weft.open(one.store.address.server, clock=lambda: sample.NOW) as other:
        before = other.context("zeppelin", **asked)
        assert other.context("zeppelin", **asked) is before
        one.add([Node(id="zeppelin", title="Zeppelin", text="A zeppelin over the library.")], workspace="studio")
        after = other.context("zeppelin", **asked)
        assert "A zeppelin over the library." in after.text
        other.remove(["zeppelin"], workspace="studio")
        assert one.context("zeppelin", **asked).text == before.text
