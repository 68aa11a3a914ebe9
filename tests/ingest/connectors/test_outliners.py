import json

import pytest
from tests.ingest.connectors.reading import read

from weftwork.engine import Weft
from weftwork.ingest.connectors.logseq import Logseq
from weftwork.ingest.connectors.roam import Roam
from weftwork.ingest.follow import Options, follow

NOTES = """title:: Finch
alias:: The Telescope, [[finch/one]]
tags:: [[optics]], library
type:: [[Project]]

- Twelve mirrors wait at [[Calder]] #[[long tag]] #short
  id:: 63b70dc8-58a5-4a43-ae19-28143edb7752
\t- TODO [#A] Call Calder about `[[not a link]]`
\t  DEADLINE: <2026-03-10 Tue>
\t  SCHEDULED: <2026-03-08 Sun 7:00 .+1d>
\t  owner:: [[Mira]]
\t\t- {{embed ((63b70dc8-58a5-4a43-ae19-28143edb7752))}}
\t- DONE Order foam
- ## Heading
\t- ```
\t  - no bullet [[no link]] TODO
\t  ```
- Words with [an alias]([[Calder]]) and https://x.org/#/page
"""


@pytest.fixture
def graph(tmp_path):
    for folder in ("pages", "journals", "logseq", "assets"):
        (tmp_path / "graph" / folder).mkdir(parents=True)
    top = tmp_path / "graph"
    (top / "logseq" / "config.edn").write_text(';; :hidden ["pages"]\n{:hidden ["secret.md"]}')
    (top / "secret.md").write_text("- hidden")
    (top / "pages" / "Finch.md").write_text(NOTES)
    (top / "pages" / "Finch___Mirrors.md").write_text("- See [[Finch]] and [[Oct 22nd, 2020]]")
    (top / "pages" / "What%3F.md").write_text("- tags:: a\n- b")
    (top / "pages" / "old.org").write_text("* Org")
    (top / "journals" / "2020_10_22.md").write_text("- met [[The Telescope]]")
    return top


class TestLogseq:
    def test_blocks_are_a_tree_with_properties(self, graph):
        found = read(Logseq(), graph)
        page = found.node("Finch")
        assert (page.tags, page.fields) == (("optics", "library"), {"type": "Project"})
        first, heading, last = found.below(page)
        assert first.text == "Twelve mirrors wait at [[Calder]] #[[long tag]] #short"
        assert first.tags == ("short", "long tag")
        assert first.id.endswith("#63b70dc8-58a5-4a43-ae19-28143edb7752")
        assert (heading.type, heading.title) == ("heading", "Heading")
        (code,) = found.below(heading)
        assert "no bullet" in code.text
        assert last.text == "Words with an alias and https://x.org/#/page"

    def test_tasks_have_status_dates_and_priority(self, graph):
        found = read(Logseq(), graph)
        call, order = found.of("todo")
        assert call.title == "Call Calder about `[[not a link]]`"
        assert call.fields == {
            "owner": "Mira", "status": "open", "due": "2026-03-10", "scheduled": "2026-03-08", "priority": "A",
        }  # fmt: skip
        assert (order.title, order.fields) == ("Order foam", {"status": "done"})

    def test_links_say_what_they_are(self, graph):
        found = read(Logseq(), graph)
        kinds = {(link.names[0], link.type, link.label) for link in found.links}
        assert kinds == {
            ("Calder", "reference", ""), ("long tag", "reference", "tag"), ("short", "reference", "tag"),
            ("63b70dc8-58a5-4a43-ae19-28143edb7752", "embed", ""), ("Mira", "field", "owner"),
            ("Project", "field", "type"), ("optics", "field", "tags"), ("Finch", "reference", "namespace"),
            ("Finch", "reference", ""), ("Oct 22nd, 2020", "reference", ""), ("The Telescope", "reference", ""),
        }  # fmt: skip

    def test_pages_are_called_what_logseq_calls_them(self, graph):
        found = read(Logseq(), graph)
        assert {node.title for node in found.of("page")} == {"Finch", "Finch/Mirrors", "What?", "Oct 22nd, 2020"}
        journal = found.node("Oct 22nd, 2020")
        assert (journal.fields["date"], journal.created_at.isoformat()) == ("2020-10-22", "2020-10-22T00:00:00+00:00")
        reasons = {each.what.rpartition("/")[2]: each.why for each in found.skipped}
        assert "hidden" in reasons["secret.md"]
        assert "Org" in reasons["old.org"]

    def test_links_resolve_by_title_alias_and_block_and_overdue_tasks_are_found(self, graph, weft):
        report = follow(weft, graph, Logseq(), Options(mentions=False))
        assert report.links == 5
        unknown = {"Calder", "long tag", "short", "Mira", "Project", "optics"}
        assert {each.target for each in report.unresolved} == unknown
        assert "Call Calder" in weft.context("What is overdue?", budget=500).text

    def test_editing_a_block_keeps_its_id_and_those_around_it(self, graph, weft):
        follow(weft, graph, Logseq())
        path = graph / "pages" / "Finch___Mirrors.md"
        before = _ids(weft, "Finch___Mirrors")
        path.write_text("- See [[Finch]] twice")
        follow(weft, graph, Logseq())
        assert _ids(weft, "Finch___Mirrors") == before
        path.write_text("- Something before\n- See [[Finch]] twice")
        follow(weft, graph, Logseq())
        assert _ids(weft, "Finch___Mirrors") > before


def _ids(weft: Weft, part):
    with weft.store.view("main", "me") as view:
        top = f"logseq:graph/pages/{part}.md"
        return {top, *(node.id for node in view.children(top, 100))}


class TestRoam:
    def test_attributes_are_fields_and_boxes_are_tasks(self, tmp_path):
        blocks = [
            {"string": "Author:: [[Ana]]", "uid": "a"},
            {"string": "Parts::", "uid": "b", "children": [{"string": "tube", "uid": "cc"}, {"string": "base"}]},
            {"string": "{{[[TODO]]}} call ((a1b)) due [[March 10th, 2026]]", "uid": "e", "edit-time": 1700000000000},
            {"string": "A heading", "heading": 2, "uid": "f", "children": [{"string": "see ((cc))", "uid": "g"}]},
        ]
        path = tmp_path / "graph.json"
        pages = [{"title": "Finch", "uid": "p", "children": blocks}, {"title": "March 10th, 2026", "uid": "q"}]
        path.write_text(json.dumps(pages))
        found = read(Roam(), path)
        page = found.node("Finch")
        assert page.fields == {"Author": "Ana", "Parts": "tube, base"}
        (task,) = found.of("todo")
        assert (task.fields, task.updated_at.year) == ({"status": "open", "due": "2026-03-10"}, 2023)
        assert found.node("March 10th, 2026").fields["date"] == "2026-03-10"
        assert {(link.names[0], link.type, link.label) for link in found.links} == {
            ("Ana", "field", "Author"), ("a1b", "reference", "block"), ("cc", "reference", "block"),
            ("March 10th, 2026", "reference", ""),
        }  # fmt: skip
        assert ("cc", "id") in {(named.name, named.kind) for named in found.named}
        assert [node.text for node in found.below(found.node("A heading"))] == ["see ((cc))"]
