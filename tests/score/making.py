"""Candidates and facts for the tests of scoring."""

from datetime import UTC, datetime

from weftwork.query import read_query
from weftwork.request import Request
from weftwork.score import Facts
from weftwork.types import Budget, Candidate, Finding, NodeInfo, Passage

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)


def candidate(name="n", text="", *, key=1, findings=(), ordinal=0, distance=None, score=0.0, **node):
    passage = Passage(ordinal, 0, len(text), text, len(text), f"digest-{name}", f"cit-{name}", key)
    info = NodeInfo(**{"id": name, "type": "note", **node})
    return Candidate(info, passage, "semantic", tuple(findings), distance=distance, score=score)


def found(collector, score, rank=1):
    return Finding(collector, rank, score, kind=collector)


def facts(query="", *, request=None, **known):
    asked = Request(query=query, workspace="w", user="ana", budget=Budget(total=1000), **(request or {}))
    return Facts(asked, read_query(query, NOW), NOW, **known)
