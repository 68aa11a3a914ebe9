import json
from datetime import UTC, datetime

import pytest
from tests.ingest.connectors.reading import read, shown

from weftwork.engine import Weft
from weftwork.faces.graph import ContextAssembler
from weftwork.ingest.connectors.levels import LEVEL
from weftwork.ingest.connectors.logseq import Logseq
from weftwork.ingest.connectors.roam import Roam
from weftwork.ingest.follow import follow
from weftwork.ingest.report import Options
from weftwork.types import ABOUT, IDS

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
    def test_plain_blocks_are_lines_of_the_node_above_them(self, graph):
        reading = read(Logseq(), graph)
        page = reading.node("Finch")
        assert (page.tags, shown(page)) == (
            ("optics", "library", "short", "long tag"),
            {"type": "Project", "aliases": ("finch/one", "The Telescope")},
        )
        assert page.text == "- Twelve mirrors wait at [[Calder]] #[[long tag]] #short"
        assert [(node.type, node.title, node.text) for node in reading.in_order(page)[1:]] == [
            ("todo", "Call Calder about `[[not a link]]`", "- {{embed ((63b70dc8-58a5-4a43-ae19-28143edb7752))}}"),
            ("todo", "Order foam", ""),
            ("heading", "Heading", "- ```\n  - no bullet [[no link]] TODO\n  ```"),
            ("paragraph", "", "- Words with an alias and https://x.org/#/page"),
        ]
        heading = reading.node("Heading")
        assert (heading.fields[LEVEL], heading.fields[ABOUT], shown(heading)) == (2, "Finch", {})

    def test_a_block_that_was_merged_is_still_found_by_its_id(self, graph, weft):
        follow(weft, graph, Logseq(), Options(mentions=False))
        with weft.store.view("main", "me") as view:
            task = next(node for node in view.children("logseq:graph/pages/Finch.md", 9) if node.type == "todo")
            edges = view.neighbours(task.id, types=["embed"], direction="out")
        assert [other.title for _, other in edges] == ["Finch"]

    @pytest.mark.parametrize("written", ["{}", "(({}))", "id:: {}"])
    @pytest.mark.parametrize(
        ("block", "node"),
        [
            ("63b70dc8-58a5-4a43-ae19-28143edb7752", "logseq:graph/pages/Finch.md"),
            ("63b70dc8-58a5-4a43-ae19-28143edb7753", "logseq:graph/pages/Task.md#63b70dc8-58a5-4a43-ae19-28143edb7753"),
        ],
    )
    def test_the_id_of_a_block_by_itself_is_read_and_walked_from(self, graph, weft, block, node, written):
        (graph / "pages" / "Task.md").write_text("- TODO Polish\n  id:: 63b70dc8-58a5-4a43-ae19-28143edb7753\n- more")
        follow(weft, graph, Logseq(), Options(mentions=False))
        name = written.format(block)
        assert weft.read(name).node.id == node
        assert ContextAssembler(weft).assemble(name).nodes[0].id == node
        context = weft.context(f"What does (({block})) say?" if written == "(({}))" else name)
        assert node in {item.candidate.node.id for excerpt in context.excerpts for item in excerpt.items}
        assert "_ids" not in context.text

    def test_what_follows_a_node_of_its_own_is_a_list_too(self, graph):
        (graph / "pages" / "Deep.md").write_text(
            "- one\n\t- two\n\t\t- TODO three\n\t\t\t- four\n\t\t- five\n\t\t  and more\n\t- six\n- seven\n"
            "- ## eight\n  below it\n\t- nine\n\t\t- price:: 3\n\t\t  ten\n\t\t\t- eleven\n- \n\t- twelve\n"
            f"- {'thirteen ' * 120}\n\t- fourteen\n- fifteen\n\t- {'sixteen ' * 120}"
        )
        reading = read(Logseq(), graph)
        page = reading.node("Deep")
        assert [(node.type, node.title, node.text) for node in reading.in_order(page)] == [
            ("page", "Deep", "- one\n  - two"),
            ("todo", "three", "- four"),
            ("paragraph", "", "    - five\n      and more\n  - six\n- seven"),
            ("heading", "eight", "below it\n- nine"),
            ("list_item", "", "ten\n- eleven"),
            ("paragraph", "", "- twelve"),
            ("list_item", "", f"{'thirteen ' * 120}".strip() + "\n- fourteen"),
            ("paragraph", "", "- fifteen\n  - " + f"{'sixteen ' * 120}".strip()),
        ]
        assert [node.position for node in reading.below(page)] == list(range(6))

    def test_tasks_have_status_dates_and_priority(self, graph):
        reading = read(Logseq(), graph)
        call, order = reading.of("todo")
        assert call.title == "Call Calder about `[[not a link]]`"
        assert shown(call) == {
            "owner": "Mira", "status": "open", "due": "2026-03-10", "scheduled": "2026-03-08", "priority": "A",
        }  # fmt: skip
        assert (order.title, shown(order)) == ("Order foam", {"status": "done"})

    def test_links_say_what_they_are(self, graph):
        reading = read(Logseq(), graph)
        kinds = {(link.names[0], link.type, link.label) for link in reading.links}
        assert kinds == {
            ("Calder", "reference", ""), ("long tag", "reference", "tag"), ("short", "reference", "tag"),
            ("63b70dc8-58a5-4a43-ae19-28143edb7752", "embed", ""), ("Mira", "field", "owner"),
            ("Project", "field", "type"), ("optics", "field", "tags"), ("Finch", "reference", "namespace"),
            ("Finch", "reference", ""), ("Oct 22nd, 2020", "reference", ""), ("The Telescope", "reference", ""),
        }  # fmt: skip

    def test_pages_are_called_what_logseq_calls_them(self, graph):
        reading = read(Logseq(), graph)
        assert {node.title for node in reading.of("page")} == {"Finch", "Finch/Mirrors", "What?", "Oct 22nd, 2020"}
        journal = reading.node("Oct 22nd, 2020")
        assert (journal.fields["date"], journal.created_at.isoformat()) == ("2020-10-22", "2020-10-22T00:00:00+00:00")
        reasons = {skipped.what.rpartition("/")[2]: skipped.why for skipped in reading.skipped}
        assert "hidden" in reasons["secret.md"]
        assert "Org" in reasons["old.org"]

    def test_links_resolve_by_title_alias_and_block_and_overdue_tasks_are_found(self, graph, weft):
        report = follow(weft, graph, Logseq(), Options(mentions=False))
        assert report.links == 5
        unknown = {"Calder", "long tag", "short", "Mira", "Project", "optics"}
        assert {link.target for link in report.unresolved} == unknown
        assert "Call Calder" in weft.context("What is overdue?", budget=500).text

    def test_editing_a_block_keeps_its_id_and_those_around_it(self, graph, weft):
        follow(weft, graph, Logseq())
        path = graph / "pages" / "Finch___Mirrors.md"
        path.write_text("- # See\n\t- [[Finch]]\n- TODO go\n- after")
        follow(weft, graph, Logseq())
        before = _ids(weft, "Finch___Mirrors")
        assert len(before) == 4
        path.write_text("- # See\n\t- [[Finch]] twice\n- TODO go there\n- afterwards")
        follow(weft, graph, Logseq())
        assert _ids(weft, "Finch___Mirrors") == before
        path.write_text("- # Before\n- # See\n\t- [[Finch]] twice\n- TODO go there\n- afterwards")
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
        reading = read(Roam(), path)
        page = reading.node("Finch")
        assert (shown(page), page.fields[IDS]) == ({"Author": "Ana", "Parts": "tube, base"}, ("p", "b", "cc"))
        assert page.text == "- Parts::\n  - tube\n  - base"
        (task,) = reading.of("todo")
        assert (shown(task), task.updated_at.year) == ({"status": "open", "due": "2026-03-10"}, 2023)
        assert reading.node("March 10th, 2026").fields["date"] == "2026-03-10"
        assert {(link.names[0], link.type, link.label) for link in reading.links} == {
            ("Ana", "field", "Author"), ("a1b", "reference", "block"), ("cc", "reference", "block"),
            ("March 10th, 2026", "reference", ""),
        }  # fmt: skip
        assert ("roam:p", "cc", "id") in {(named.node, named.name, named.kind) for named in reading.named}
        heading = reading.node("A heading")
        assert (heading.text, heading.fields[LEVEL], reading.below(heading)) == ("- see ((cc))", 2, [])

    def test_a_node_is_as_new_as_the_newest_of_its_blocks(self, tmp_path):
        def block(text, day, *children):
            return {"string": text, "uid": text, "create-time": when(day).timestamp() * 1000, "children": children}

        def when(day):
            return datetime(2026, 3, day, tzinfo=UTC)

        old = block("{{[[TODO]]}} call", 10, block("when", 30), block("where", 20))
        page = {"title": "Finch", "uid": "p", "edit-time": 1_700_000_000_000, "children": [old, block("after", 29)]}
        path = tmp_path / "graph.json"
        path.write_text(json.dumps([page]))
        reading = read(Roam(), path)
        (task,), (rest,) = reading.of("todo"), reading.of("paragraph")
        assert (task.created_at, task.updated_at) == (when(10), when(30))
        assert (rest.text, rest.created_at, rest.updated_at) == ("- after", when(29), when(29))
