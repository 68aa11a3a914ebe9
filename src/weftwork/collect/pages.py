"""Passages found by a search, as the whole pages of documents that they stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Collector, Found, Inquiry
from weftwork.types import PAGE, Record

ALL_PASSAGES = 1_000_000
"""More than any page is split into."""


@dataclass(frozen=True, slots=True)
class WholePages:
    """A collector's findings on document pages, merged into one per page with all of its text."""

    collector: Collector

    @property
    def name(self) -> str:
        """The name of the collector inside."""
        return self.collector.name

    @property
    def section(self) -> str:
        """The one section for all pages."""
        return "pages"

    @property
    def page_vectors(self) -> bool:
        """True if the collector inside compares page vectors."""
        return getattr(self.collector, "page_vectors", False)

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Pages in the order of the best that was found on each."""
        best: dict[str, Found] = {}
        findings = self.collector.collect(inquiry)
        records = inquiry.load([finding.key for finding in findings])
        owners = {record.passage.key: record.node.id for record in records if record.node.type == PAGE}
        for finding in findings:
            node = owners.get(finding.key)
            if node is not None and (node not in best or finding.score > best[node].score):
                best[node] = finding
        whole = {record.node.id: record for record in whole_pages(inquiry, list(best))}
        pages = [
            replace(finding, key=whole[node].passage.key, record=whole[node])
            for node, finding in best.items()
            if node in whole
        ]
        return sorted(pages, key=lambda finding: -finding.score)


def whole_pages(inquiry: Inquiry, names: Sequence[str]) -> list[Record]:
    """Pages as if each were one passage, under the key and the citation of its first; each is read once."""
    pages = inquiry.pages
    missing = [name for name in names if name not in pages]
    if missing:
        passages = inquiry.view.passages(missing, ALL_PASSAGES)
        keys = [key for passage_keys in passages.values() for key in passage_keys]
        records = {record.passage.key: record for record in inquiry.load(keys)}
        for name, passage_keys in passages.items():
            pages[name] = _whole([records[key] for key in passage_keys])
    return [pages[name] for name in names if name in pages]


def _whole(records: Sequence[Record]) -> Record:
    """A page as one passage: those that it was split into tile its text."""
    text = "".join(record.passage.text for record in records)
    tokens = sum(record.passage.tokens for record in records)
    return replace(records[0], passage=replace(records[0].passage, start=0, end=len(text), text=text, tokens=tokens))
