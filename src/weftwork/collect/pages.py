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
    """What another collector finds on document pages: each page once, with all of its text."""

    collector: Collector

    @property
    def name(self) -> str:
        """That of the collector inside."""
        return self.collector.name

    @property
    def section(self) -> str:
        """All pages stand in one section."""
        return "pages"

    @property
    def page_vectors(self) -> bool:
        """Whether the collector inside compares the looks of pages."""
        return getattr(self.collector, "page_vectors", False)

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Pages in the order of the best that was found on each."""
        best: dict[str, Found] = {}
        found = self.collector.collect(inquiry)
        for each, node in zip(found, _owners(inquiry, found), strict=True):
            if node is not None and (node not in best or each.score > best[node].score):
                best[node] = each
        whole = {record.node.id: record for record in whole_pages(inquiry, list(best))}
        pages = [
            replace(each, key=whole[node].passage.key, record=whole[node])
            for node, each in best.items()
            if node in whole
        ]
        return sorted(pages, key=lambda each: -each.score)


def _owners(inquiry: Inquiry, found: Sequence[Found]) -> list[str | None]:
    """The page that each finding stands on; None for what is no page of a document."""
    records = inquiry.load([each.key for each in found])
    owners = {record.passage.key: record.node.id for record in records if record.node.type == PAGE}
    return [owners.get(each.key) for each in found]


def whole_pages(inquiry: Inquiry, names: Sequence[str]) -> list[Record]:
    """Pages as if each were one passage, under the key and the citation of its first; each is read once."""
    known = inquiry.pages
    missing = [name for name in names if name not in known]
    if missing:
        passages = inquiry.view.passages(missing, ALL_PASSAGES)
        keys = [key for own in passages.values() for key in own]
        records = {record.passage.key: record for record in inquiry.load(keys)}
        for name, own in passages.items():
            known[name] = _whole([records[key] for key in own])
    return [known[name] for name in names if name in known]


def _whole(records: Sequence[Record]) -> Record:
    """A page as one passage: those that it was split into tile its text."""
    text = "".join(record.passage.text for record in records)
    tokens = sum(record.passage.tokens for record in records)
    return replace(records[0], passage=replace(records[0].passage, start=0, end=len(text), text=text, tokens=tokens))
