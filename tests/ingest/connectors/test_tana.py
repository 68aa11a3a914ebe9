import json

from tests.ingest.connectors.reading import read, shown

from weftwork.ingest.connectors.tana import Tana

NODES = [
    {"uid": "p1", "name": "Finch", "type": "node", "createdAt": 1_700_000_000_000, "supertags": ["t1"], "children": [
        {"uid": "f1", "name": "Owner", "type": "field", "children": [{"uid": "v1", "name": "[[p2]]", "type": "node"}]},
        {"uid": "f2", "name": "Parts", "type": "field",
         "children": [{"uid": "v2", "name": "tube", "type": "node"}, {"uid": "v3", "name": "base", "type": "node"}]},
        {"uid": "c1", "name": "Order foam", "type": "node", "todoState": "todo"},
        {"uid": "c2", "name": "Ask [her]([[p2]]) about [[p2]] and [a site](https://x.org)", "type": "node"},
        {"uid": "c3", "name": "Notes", "type": "node", "flags": ["section"], "children": [
            {"uid": "c4", "name": "One", "children": [{"uid": "c5", "name": "two"}]}, {"uid": "c6", "name": "Three"},
            {"uid": "c7", "name": "Holds", "children": [{"uid": "c8", "name": "Tagged", "supertags": ["t1"]}]},
            {"uid": "c9", "name": "See [[c6]]"}]},
    ]},
    {"uid": "p2", "name": "Ana", "description": "Leads the project", "type": "node", "createdAt": 1, "editedAt": 2},
]  # fmt: skip


def test_the_intermediate_format_has_tags_fields_tasks_and_references(tmp_path):
    path = tmp_path / "finch.json"
    summary = {"totalNodes": 5}
    tags = [{"uid": "t1", "name": "project"}]
    whole = {"version": "TanaIntermediateFile V0.1", "summary": summary, "nodes": NODES, "supertags": tags}
    path.write_text(json.dumps(whole))
    reading = read(Tana(), path)
    page = reading.node("Finch")
    assert (page.type, page.tags, shown(page)) == ("page", ("project",), {"Owner": "Ana", "Parts": ("tube", "base")})
    task, rest, section = reading.below(page)
    assert (task.type, task.title, shown(task)) == ("todo", "Order foam", {"status": "open"})
    assert (rest.type, rest.text) == ("paragraph", "- Ask her about Ana and [a site](https://x.org)")
    assert (section.type, section.title) == ("heading", "Notes")
    assert reading.node("Ana").text == "Leads the project"
    assert {(link.source, link.names[0], link.type, link.label) for link in reading.links} == {
        ("tana:p1", "p2", "field", "Owner"),
        (rest.id, "p2", "reference", ""),
        (reading.below(section)[-1].id, "c6", "reference", ""),
    }


def test_nodes_without_tags_fields_or_references_are_lines_of_the_one_above(tmp_path):
    path = tmp_path / "finch.json"
    tags = [{"uid": "t1", "name": "project"}]
    path.write_text(json.dumps({"version": "TanaIntermediateFile V0.1", "nodes": NODES, "supertags": tags}))
    reading = read(Tana(), path)
    notes = reading.node("Notes")
    assert [(node.type, node.title, node.text) for node in reading.in_order(reading.node("Finch"))][3:] == [
        ("heading", "Notes", "- One\n  - two"),
        ("list_item", "", "Three"),  # something refers to it
        ("list_item", "", "Holds"),
        ("list_item", "Tagged", ""),
        ("paragraph", "", "- See Three"),
    ]
    ids = {named.name: named.node for named in reading.named if named.kind == "id"}
    assert (ids["c4"], ids["c5"], ids["c6"]) == (notes.id, notes.id, "tana:p1#c6")
    assert set(ids) == {"p1", "p2", *(f"c{number}" for number in range(1, 10))}


def test_a_ring_of_owners_and_a_child_that_is_missing_are_no_trouble(tmp_path):
    def doc(name, owner, *children, **props):
        return {"id": name, "props": {"name": name.title(), "_ownerId": owner, **props}, "children": list(children)}

    docs = [
        {"id": "w", "props": {"name": "Root"}, "children": ["w_STASH", "w_TRASH"]},
        doc("w_STASH", "w", "a"),
        doc("w_TRASH", "w", "gone"),
        doc("a", "w_STASH", "b", "nowhere", "gone"),
        doc("b", "a", "a"),
        doc("gone", "w_TRASH"),
        doc("x", "y"),
        doc("y", "x"),
        {"id": 7},
    ]
    path = tmp_path / "workspace.json"
    path.write_text(json.dumps({"formatVersion": 1, "docs": docs, "editors": []}))
    reading = read(Tana(), path)
    assert {node.source for node in reading.nodes} == {str(path), "tana:w_STASH", "tana:a"}
    assert reading.node("A").text == "- B"
    assert [(link.source, link.names) for link in reading.links] == [("tana:a", ("a",))]
    assert "2 nodes in the trash" in reading.notes[0].why
    assert "1 of its nodes" in reading.skipped[0].why


def test_what_is_plain_on_a_day_and_single_lines_of_the_library_are_no_pages(tmp_path):
    def doc(name, owner, *children, **props):
        return {"id": name, "props": {"name": name, "_ownerId": owner, **props}, "children": list(children)}

    docs = [
        {"id": "w", "props": {"name": "Root"}, "children": ["w_STASH", "cal"]},
        doc("w_STASH", "w", "line", "note", "linked"),
        doc("cal", "w", "day", _docType="journal"),
        doc("day", "cal", "met", "todo", "said", _docType="journalPart"),
        doc("met", "day", "her"),
        doc("her", "met"),
        doc("todo", "day", _done=1),
        doc("said", "day", "linked"),
        doc("line", "w_STASH"),
        doc("note", "w_STASH", "inner"),
        doc("inner", "note"),
        doc("linked", "w_STASH"),
    ]
    path = tmp_path / "workspace.json"
    path.write_text(json.dumps({"formatVersion": 1, "docs": docs, "editors": []}))
    reading = read(Tana(), path)
    assert {node.title: node.text for node in reading.nodes if node.source.startswith("tana:")} == {
        "w_STASH": "- line", "note": "- inner", "linked": "", "cal": "", "day": "- met\n  - her\n- said", "todo": "",
    }  # fmt: skip
    assert {named.name for named in reading.named if named.node == "tana:day"} == {"day", "met", "her", "said"}
    assert [(link.source, link.names) for link in reading.links] == [("tana:day", ("linked",))]
