import json

from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors.tana import Tana

NODES = [
    {"uid": "p1", "name": "Finch", "type": "node", "createdAt": 1_700_000_000_000, "supertags": ["t1"], "children": [
        {"uid": "f1", "name": "Owner", "type": "field", "children": [{"uid": "v1", "name": "[[p2]]", "type": "node"}]},
        {"uid": "f2", "name": "Parts", "type": "field",
         "children": [{"uid": "v2", "name": "tube", "type": "node"}, {"uid": "v3", "name": "base", "type": "node"}]},
        {"uid": "c1", "name": "Order foam", "type": "node", "todoState": "todo"},
        {"uid": "c2", "name": "Ask [her]([[p2]]) about [[p2]] and [a site](https://x.org)", "type": "node"},
        {"uid": "c3", "name": "Notes", "type": "node", "flags": ["section"]},
    ]},
    {"uid": "p2", "name": "Ana", "description": "Leads the project", "type": "node", "createdAt": 1, "editedAt": 2},
]  # fmt: skip


def test_the_intermediate_format_has_tags_fields_tasks_and_references(tmp_path):
    path = tmp_path / "finch.json"
    summary = {"totalNodes": 5}
    tags = [{"uid": "t1", "name": "project"}]
    whole = {"version": "TanaIntermediateFile V0.1", "summary": summary, "nodes": NODES, "supertags": tags}
    path.write_text(json.dumps(whole))
    found = read(Tana(), path)
    page = found.node("Finch")
    assert (page.type, page.tags, page.fields) == ("page", ("project",), {"Owner": "Ana", "Parts": ("tube", "base")})
    task, text, section = found.below(page)
    assert (task.type, task.title, task.fields) == ("todo", "Order foam", {"status": "open"})
    assert text.text == "Ask her about Ana and [a site](https://x.org)"
    assert (section.type, section.title) == ("heading", "Notes")
    assert found.node("Ana").text == "Leads the project"
    assert {(link.source.rpartition("#")[2], link.names[0], link.type, link.label) for link in found.links} == {
        ("tana:p1", "p2", "field", "Owner"),
        ("c2", "p2", "reference", ""),
    }


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
    found = read(Tana(), path)
    assert {node.source for node in found.nodes} == {str(path), "tana:w_STASH", "tana:a", "tana:b"}
    assert [(link.source, link.names) for link in found.links] == [("tana:a#b", ("a",))]
    assert "2 nodes in the trash" in found.notes[0].why
    assert "1 of its nodes" in found.skipped[0].why
