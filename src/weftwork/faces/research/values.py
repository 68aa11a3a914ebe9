"""The research contract's values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from weftwork.errors import NotFound
from weftwork.types import Context


class PageNotFound(NotFound, ValueError):
    """A page that is absent, or that this user may not see; a ValueError, as the contract has it."""

    def __init__(self, doc_id: str, page: int) -> None:
        super().__init__(f"Document {doc_id} page {page} not found")


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A page of a document, as it is cited."""

    doc_id: str
    filename: str
    page: int
    """1 for the first."""
    extension: str
    thumbnail_path: str | None = None
    image_path: str | None = None
    timestamp: str = ""
    """When it was added, in ISO format."""
    section_path: str | None = None
    """`Introduction > Methods`."""
    parent_heading: str | None = None
    markdown_content: str = ""
    relevance_score: float = 0.0
    """From 0 to 1."""

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ResearchContext:
    """The text for a model, and its sources in the order of their numbers."""

    formatted_text: str
    sources: tuple[SourceDocument, ...]
    total_tokens: int
    """Of the formatted text; exact unless the builder counts otherwise."""
    truncated: bool
    """Whether a source was left out or shortened for want of room."""
    context: Context | None = field(default=None, repr=False, compare=False)
    """The account behind it, with a decision for each source; source 1 is cited there as `doc-1`."""

    def get_citation_map(self) -> dict[int, SourceDocument]:
        """Sources by their numbers, which begin with 1 and have no gaps."""
        return dict(enumerate(self.sources, start=1))
