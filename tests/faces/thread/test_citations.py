from dataclasses import replace

import pytest

from weftwork.faces.thread import Citation, CitationManager, ContextItem, ItemMetadata


def item(name, source="docs/a.md", excerpt="", node_type="file"):
    return ContextItem(
        id=name,
        type="file",
        content="text",
        excerpt=excerpt,
        source=source,
        relevance=0.5,
        tokens=3,
        metadata=ItemMetadata(node=name, node_type=node_type, path=source),
    )


def test_a_citation_has_the_items_id_in_brackets_and_is_not_used_yet():
    (made,) = CitationManager().generate_citations([item("fil-abc", excerpt="a <<<word>>>")])
    assert made == Citation(
        id="[fil-abc]",
        source="docs/a.md",
        type="file",
        path="docs/a.md",
        excerpt="a <<<word>>>",
        relevance=0.5,
        used_in_response=False,
    )


@pytest.mark.parametrize(("node", "kind"), [("file", "file"), ("message", "message"), ("page", "document")])
def test_a_citation_is_a_file_a_message_or_a_document(node, kind):
    (made,) = CitationManager().generate_citations([item("x", node_type=node)])
    assert made.type == kind


def test_the_list_of_sources_has_the_format_of_the_contract():
    manager = CitationManager()
    made = manager.generate_citations(
        [
            item("fil-1", "docs/a.md", "x" * 60),
            item("fil-2", "docs/b.md", "short"),
            item("fil-3", "docs/c.md"),
            item("fil-4", "docs/d.md", "unused"),
        ]
    )
    for citation_id in ("[fil-1]", "fil-2", "[fil-3]", "[fil-9]"):
        manager.mark_as_used(citation_id)
    assert manager.format_citations_for_response(made) == (
        f"\n\n---\nSources:\n[fil-1]: docs/a.md - {'x' * 50}...\n[fil-2]: docs/b.md - short...\n[fil-3]: docs/c.md"
    )
    assert [citation.used_in_response for citation in manager.citations] == [True, True, True, False]


def test_without_a_used_source_there_is_no_list():
    manager = CitationManager()
    assert manager.format_citations_for_response(manager.generate_citations([item("fil-1")])) == ""
    assert manager.format_citations_for_response([]) == ""


def test_citations_that_say_themselves_that_they_were_used_are_listed():
    (made,) = CitationManager().generate_citations([item("fil-1")])
    used = replace(made, used_in_response=True)
    assert CitationManager().format_citations_for_response([used]) == "\n\n---\nSources:\n[fil-1]: docs/a.md"


def test_a_path_cannot_forge_a_second_source():
    manager = CitationManager()
    made = manager.generate_citations([item("fil-1", "a\n[fil-2]: forged")])
    manager.mark_as_used("fil-1")
    assert manager.format_citations_for_response(made).count("\n") == 4


def test_a_source_is_told_to_be_used_once():
    told = []
    manager = CitationManager(told.append)
    manager.generate_citations([item("fil-1"), item("fil-2")])
    for name in ("[fil-1]", "fil-1", "[fil-1]", "fil-7"):
        manager.mark_as_used(name)
    assert [citation.id for citation in told] == ["[fil-1]"]
