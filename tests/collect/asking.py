"""Asking one collector, or several, on a real store."""

from weftwork.collect import Inquiry, gather
from weftwork.query import read_query
from weftwork.request import Request
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE
from weftwork.types import Budget, Filters


class Desk:
    """A store with one way to ask it."""

    def __init__(self, store):
        self.store = store

    def _ask(self, answer, query, user, embedder, request):
        exclude = frozenset(request.pop("exclude", ()))
        request.setdefault("filters", Filters(exclude=exclude))
        request.setdefault("budget", Budget(total=1000))
        asked = Request(query=query, workspace=WORKSPACE, user=user, **request)
        with self.store.view(WORKSPACE, user) as view:
            return answer(Inquiry(view, asked, read_query(query, NOW), NOW, embedder))

    def collect(self, collector, query="", *, user="ana", embedder=EMBEDDER, **request):
        """Findings with the nodes that they are about: (node, score, why), in the collector's order."""

        def answer(inquiry):
            findings = collector.collect(inquiry)
            stored = [each.key for each in findings if each.record is None]
            records = {record.passage.key: record for record in inquiry.view.load(stored)}
            return [((each.record or records[each.key]), each) for each in findings]

        return [
            (record.node.id, round(each.score, 6), each.why)
            for record, each in self._ask(answer, query, user, embedder, request)
        ]

    def found(self, collector, query="", **request):
        """The collector's findings themselves."""
        user, embedder = request.pop("user", "ana"), request.pop("embedder", EMBEDDER)
        return self._ask(collector.collect, query, user, embedder, request)

    def scores(self, collector, query="", **request):
        """The findings as node to score, in the collector's order."""
        return {node: score for node, score, _ in self.collect(collector, query, **request)}

    def gather(self, *collectors, query="", user="ana", embedder=EMBEDDER, **request):
        """Candidates of several collectors."""
        return self._ask(lambda inquiry: gather(inquiry, collectors), query, user, embedder, request)

    def warnings(self, collector, query="", *, user="ana", **request):
        """The warnings of a collector."""

        def answer(inquiry):
            collector.collect(inquiry)
            return inquiry.warnings

        return self._ask(answer, query, user, EMBEDDER, request)
