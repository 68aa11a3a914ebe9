"""The research contract's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """1 for the first; 0 for what has no pages, such as a note."""
    extension: str
    thumbnail_path: str | None = None
    image_path: str | None = None
    timestamp: str = ""
    """The time at which it was added, in ISO format."""
    section_path: str | None = None
    """`Introduction > Methods`."""
    parent_heading: str | None = None
    markdown_content: str = ""
    relevance_score: float = 0.0
    """From 0 to 1."""
    node_id: str | None = None
    """The id of the page in Weftwork's store; None for a page of another index."""

    @classmethod
    def from_metadata(
        cls, metadata: Mapping[str, Any], *, doc_id: str, page: int, text: str, score: float = 0.0
    ) -> SourceDocument:
        """A page from metadata in the contract's names; its score is clamped to [0, 1]."""
        return cls(
            doc_id=doc_id,
            filename=str(metadata.get("filename") or doc_id),
            page=page,
            extension=str(metadata.get("extension", "")),
            thumbnail_path=metadata.get("thumb_path"),
            image_path=metadata.get("image_path"),
            timestamp=str(metadata.get("timestamp", "")),
            section_path=metadata.get("section_path"),
            parent_heading=metadata.get("parent_heading"),
            markdown_content=text,
            relevance_score=min(1.0, max(0.0, score)),
        )

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
    """True if a source was left out or shortened for want of room."""
    context: Context | None = field(default=None, repr=False, compare=False)
    """The context behind it, with a decision for each page; source 1 is its first excerpt."""

    @classmethod
    def from_context(cls, context: Context, sources: Iterable[SourceDocument], offered: int) -> ResearchContext:
        """A context whose excerpts are these sources, out of `offered` pages."""
        shown = tuple(sources)
        cut = len(shown) < offered or any(excerpt.truncated for excerpt in context.excerpts)
        return cls(context.text, shown, context.tokens, cut, context)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings, such as of documents that could not be read."""
        return () if self.context is None else self.context.warnings

    def get_citation_map(self) -> dict[int, SourceDocument]:
        """Sources by their numbers, which begin with 1 and have no gaps."""
        return dict(enumerate(self.sources, start=1))
