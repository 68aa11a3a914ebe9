"""What Ben may not see is in no answer that his assistant gets, and changes none."""

import pytest
from tests.depth import DEEP

from weftwork import sample
from weftwork.server.address import to_uri
from weftwork.server.mcp import make_server

from .talking import talking

QUERIES = (
    "What was decided about the mirrors?",
    "money pay salary private",
    "Terms with Calder Optics",
    "overdue tasks",
    "delivery costs",
)
LENSES = ("general", "writing", "coding", "planning", "meeting-prep")


def asked(everything):
    """Every way to get at something, as a function of the conversation."""
    for number, query in enumerate([*QUERIES, *everything]):
        lens = LENSES[number % len(LENSES)]
        for tool in ("weftwork_context", "weftwork_explain"):
            for form in ("markdown", "json"):
                arguments = {"query": query, "format": form, "lens": lens, "depth": 1 + number % 5}
                yield lambda talk, tool=tool, arguments=arguments: talk.call(tool, **arguments)
        for mode in ("hybrid", "words", "vector"):
            arguments = {"query": query, "mode": mode, "limit": 20}
            yield lambda talk, arguments=arguments: talk.call("weftwork_search", **arguments)
        yield lambda talk, query=query: talk.complete("id", query)
    for node in everything:
        yield lambda talk, node=node: talk.call("weftwork_read", id=node)
        yield lambda talk, node=node: talk.read(to_uri(sample.WORKSPACE, node))
    yield lambda talk: talk.resources()
    yield lambda talk: talk.complete("workspace", "")
    yield lambda talk: talk.complete("id", "")


@pytest.fixture
def servers(twins):
    whole, reduced, *_ = twins
    return [make_server(weft, workspace=sample.WORKSPACE, user="ben") for weft in (whole, reduced)]


def test_every_answer_is_the_one_of_a_store_without_what_is_hidden(servers, twins):
    *_, seen, hidden = twins
    assert {"terms", "private"} <= hidden
    with talking(servers[0]) as whole, talking(servers[1]) as reduced:
        for ask in asked(sorted(hidden) + sorted(seen)[:: 1 if DEEP else 3]):
            assert whole.outcome(ask) == reduced.outcome(ask)


def test_hidden_and_absent_fail_alike(servers, twins):
    *_, hidden = twins
    with talking(servers[0]) as ben:
        for node in sorted(hidden):
            for ask in (
                lambda talk, id: talk.call("weftwork_read", id=id),
                lambda talk, id: talk.call("weftwork_read", id=to_uri(sample.WORKSPACE, id)),
                lambda talk, id: talk.read(to_uri(sample.WORKSPACE, id)),
            ):
                failed = [ben.outcome(lambda talk, ask=ask, id=id: ask(talk, id)) for id in (node, "no-such-node")]
                assert failed[0].replace(node, "NODE") == failed[1].replace("no-such-node", "NODE")


def test_no_title_or_text_of_a_hidden_node_reaches_ben(servers, twins):
    whole, _, _, hidden = twins
    with whole.store.view(sample.WORKSPACE, sample.OWNER) as view:
        secrets = {node.title for node in view.nodes(sorted(hidden)) if len(node.title) > 12}
        secrets |= {node.text[:60] for node in view.nodes(sorted(hidden)) if len(node.text) > 60}
    assert len(secrets) > 4
    with talking(servers[0]) as ben:
        listed = ben.outcome(lambda talk: talk.resources())
        answers = [ben.outcome(lambda talk, q=q: talk.call("weftwork_context", query=q)) for q in QUERIES[:2]]
        answers += [ben.outcome(lambda talk, q=q: talk.call("weftwork_search", query=q, limit=50)) for q in QUERIES[:2]]
        for secret in secrets:
            assert secret not in listed
            assert not any(secret in answer for answer in answers)


def test_ana_does_see_it(twins):
    whole, _, _, hidden = twins
    with talking(make_server(whole, workspace=sample.WORKSPACE, user="ana")) as ana:
        for node in sorted(hidden):
            assert not ana.call("weftwork_read", id=node).is_error
        assert {to_uri(sample.WORKSPACE, "terms")} <= {each.uri for each in ana.resources()}
