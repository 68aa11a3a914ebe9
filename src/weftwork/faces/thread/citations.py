"""The sources that an answer used, and their citations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from weftwork.errors import InvalidInput
from weftwork.faces.thread.values import Citation, ContextItem, citations_of

EXCERPT_LENGTH = 50


class CitationManager:
    """The citations of one answer; those marked as used are listed below it."""

    def __init__(self, on_use: Callable[[Citation], None] = lambda _: None) -> None:
        self._citations: dict[str, Citation] = {}
        self._on_use = on_use

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations so far."""
        return tuple(self._citations.values())

    def generate_citations(self, items: Iterable[ContextItem]) -> tuple[Citation, ...]:
        """One citation for each item."""
        citations = citations_of(items)
        for citation in citations:
            self._citations.setdefault(citation.id, citation)
        return citations

    def mark_as_used(self, citation_id: str) -> None:
        """Note that the answer cites a source, once; an id that is not known is ignored."""
        if not isinstance(citation_id, str):
            raise InvalidInput(f"a citation is named by its id, got {citation_id!r}")
        citation = self._citations.get(f"[{citation_id.strip('[]')}]")
        if citation is not None and not citation.used_in_response:
            self._citations[citation.id] = replace(citation, used_in_response=True)
            self._on_use(citation)

    def format_citations_for_response(self, citations: Iterable[Citation]) -> str:
        """The list of those of these sources that were used, to stand below an answer; empty if none was."""
        used = [citation for citation in citations if self._citations.get(citation.id, citation).used_in_response]
        if not used:
            return ""
        return "\n\n---\nSources:\n" + "\n".join(map(_line, used))


def _line(citation: Citation) -> str:
    # A path with line breaks must not look like more sources.
    source = " ".join(citation.source.split())
    # Cut without the marks, which could be cut in two.
    excerpt = citation.excerpt.replace("<<<", "").replace(">>>", "")
    part = f" - {excerpt[:EXCERPT_LENGTH]}..." if excerpt else ""
    return f"{citation.id}: {source}{part}"
