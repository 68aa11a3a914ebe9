"""Searches among files: a hit in any part of a file is a hit of that file (thread contract)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from weftwork.collect.inquiry import Collector, Found, Inquiry

FILES = frozenset({"file", "document", "page", "note", "journal", "canvas", "database", "email", "document_page"})
"""Types of documents that the thread contract calls files: what people open, and no conversation."""
TALK = frozenset({"message", "thread", "conversation"})
"""Types that are part of a conversation, never of a file."""
DEPTH, DEEPER, MOST_DEPTH = 40, 4, 2_560
"""Hits to read at first, and the factor by which more are read until there are enough files."""


@dataclass(frozen=True, slots=True)
class AmongFiles:
    """A collector's findings in files, of as many files as the limit says.

    A request that names types gets nodes of these types, whatever they stand in.
    """

    collector: Collector
    limit: int | None = 10
    """Most files; None for those among the hits that the budget asks for."""
    passages: int = 8
    """Most passages of each file."""

    @property
    def name(self) -> str:
        """The name of the collector inside."""
        return self.collector.name

    @property
    def section(self) -> str:
        """The section of the collector inside."""
        return self.collector.section

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The findings in the files that are found first, in their order."""
        if self.limit is None:
            return self._in_files(inquiry, self.collector.collect(inquiry.without_types(TALK, inquiry.search_depth)))
        if not self.limit:
            return []
        depth = DEPTH
        while True:
            findings = self.collector.collect(inquiry.without_types(TALK, depth))
            chosen = self._in_files(inquiry, findings)
            files = set(files_of(inquiry, [finding.key for finding in chosen]).values())
            if len(files) == self.limit or len(findings) < depth or depth >= MOST_DEPTH:
                return chosen
            depth *= DEEPER

    def _in_files(self, inquiry: Inquiry, findings: Sequence[Found]) -> list[Found]:
        """The findings of the first files, up to both limits."""
        chosen: list[Found] = []
        passages: Counter[str] = Counter()
        files = files_of(inquiry, [finding.key for finding in findings])
        for finding in findings:
            file = files.get(finding.key)
            is_new = file is not None and not passages[file]
            if file is None or passages[file] == self.passages or (is_new and len(passages) == self.limit):
                continue
            passages[file] += 1
            chosen.append(finding)
        return chosen


def files_of(inquiry: Inquiry, keys: Sequence[int]) -> dict[int, str]:
    """The file that each passage stands in, by its id; what stands in no file is left out."""
    records = inquiry.load(keys)
    documents = {record.passage.key: record.document or record.node.id for record in records}
    types = {record.node.id: record.node.type for record in records}
    missing = [name for name in dict.fromkeys(documents.values()) if name not in types]
    heads = [first for first, *_ in inquiry.view.passages(missing).values()]
    types |= {record.node.id: record.node.type for record in inquiry.load(heads)}
    if inquiry.request.filters.types:
        return documents
    return {key: name for key, name in documents.items() if types.get(name) in FILES}
