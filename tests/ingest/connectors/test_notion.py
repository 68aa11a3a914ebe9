import pytest
from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors.levels import LEVEL
from weftwork.ingest.connectors.notion import Notion
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.follow import follow
from weftwork.types import ABOUT, UNSEEN

HOME, TASKS, PEOPLE, ROW, ANA = (letter * 32 for letter in "abcde")


@pytest.fixture
def export(tmp_path):
    top = tmp_path / "export"
    files = {
        f"Home {HOME}.md": f"# Home\n\nWelcome\n\n## Plans\n\n- [ ] Order foam\n- [x] Call\n- [ ] \n\n"
        f"[Tasks](Home%20{HOME}/Tasks%20{TASKS}.csv) and https://www.notion.so/x/Ana-{ANA}\n",
        f"Home {HOME}/Tasks {TASKS}.csv": "\ufeffName,Status\nRecoat,Done\n",
        f"Home {HOME}/Tasks {TASKS}_all.csv": "\ufeffName,Status,Owner\nRecoat,Done,x\nAlone,Open,"
        f'"Ana (People%20(all)%20{PEOPLE}/Ana%20{ANA}.csv)"\n',
        f"Home {HOME}/Tasks {TASKS}/Recoat {ROW}.md": "# Recoat\n\nStatus: Done\nDue: March 8, 2026 → March 10, 2026\n"
        f"Owner: Ana (../../People%20(all)%20{PEOPLE}/Ana%20{ANA}.md), Ben\nTags: optics, urgent\nCost: 41\n"
        "Created time: March 1, 2026 9:30 AM\nEmpty:\n\nTwelve mirrors.\n",
        f"People (all) {PEOPLE}.csv": "Name\nAna\n",
        f"People (all) {PEOPLE}/Ana {ANA}.md": "# Ana\n\nNote: not a table\n\nBody\n",
        "photo.xyz": "binary",
    }
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, "utf-8")
    return top


def test_pages_databases_rows_and_blocks_are_a_tree(export):
    assert recognise(export).name == "notion"
    reading = read(Notion(), export)
    home, tasks, recoat = reading.node("Home"), reading.node("Tasks"), reading.node("Recoat")
    assert (home.text, tasks.type, tasks.parent, recoat.parent) == ("Welcome", "database", home.id, tasks.id)
    assert tasks.text == "Columns: Name, Status, Owner"
    assert recoat.id == f"notion:{ROW}"
    assert {node.title for node in reading.below(tasks)} == {"Alone", "Recoat"}
    assert [(node.title, node.fields["status"]) for node in reading.of("todo")] == [
        ("Order foam", "open"),
        ("Call", "done"),
    ]
    assert "photo.xyz" in reading.skipped[0].what


def test_a_section_is_one_node_with_its_lists_tables_and_code(export):
    body = "- one\n    - two\n\n```\n# no heading\n```\n\n| a |\n|---|\n| 1 |\n\n<aside>\n💡 Note\n\n</aside>"
    text = f"# Parts\n\nLead.\n\nMore.\n\n## Legs\n\n{body}\n\n### Feet\n\n- [ ] glue\n    how\n\nAfter.\n"
    (export / f"Parts {'f' * 32}.md").write_text(text)
    reading = read(Notion(), export)
    assert [(node.type, node.title, node.text) for node in reading.in_order(reading.node("Parts"))] == [
        ("page", "Parts", "Lead.\n\nMore."),
        ("heading", "Legs", body.replace("<aside>", "").replace("</aside>", "").strip()),
        ("heading", "Feet", ""),
        ("todo", "glue", "how"),
        ("paragraph", "", "After."),
    ]
    assert reading.node("Feet").fields == {LEVEL: 3, UNSEEN: (LEVEL,), ABOUT: "Parts > Legs"}


def test_a_page_in_html_is_read_like_one_in_markdown(export):
    html = (
        "<html><body><h1>Web</h1><p>Lead</p><h2>List</h2><ul><li>one<ul><li>two<p>more</p></li></ul></li></ul>"
        '<ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span>done</span></li></ul>'
        "<pre><code># no heading\n```\n- [ ] no box</code></pre></li></body></html>"
    )
    (export / f"Web {'f' * 32}.html").write_text(html)
    reading = read(Notion(), export)
    assert [(node.type, node.title, node.text) for node in reading.in_order(reading.node("Web"))] == [
        ("page", "Web", "Lead"),
        ("heading", "List", "- one\n\n  - two\n\n    more"),
        ("todo", "done", ""),
        ("paragraph", "", "````\n# no heading\n```\n- [ ] no box\n````"),
    ]


def test_properties_are_fields_and_relations_are_links(export):
    reading = read(Notion(), export)
    recoat = reading.node("Recoat")
    assert recoat.fields == {
        "Status": "Done", "Due": "2026-03-10", "Owner": "Ana, Ben", "Cost": 41, "Created time": "2026-03-01",
    }  # fmt: skip
    assert (recoat.tags, recoat.text, recoat.created_at.isoformat()[:10]) == (
        ("optics", "urgent"), "Twelve mirrors.", "2026-03-01",
    )  # fmt: skip
    links = {(link.source.partition("#")[0][-1], link.names[0][0], link.type, link.label) for link in reading.links}
    assert links == {
        ("a", "b", "reference", "Tasks"), ("a", "e", "reference", ""), ("d", "e", "relation", "Owner"),
        ("b", "e", "relation", "Owner"),
    }  # fmt: skip


def test_a_link_that_points_nowhere_is_told_with_the_name_of_its_page(export, weft):
    (export / f"People (all) {PEOPLE}" / f"Ana {ANA}.md").unlink()
    for _ in range(2):  # also when nothing changed
        report = follow(weft, export, Notion()).unresolved
        assert {notice.target for notice in report} == {ANA}
        assert all(notice.what.endswith((".md", ".csv")) and (export / notice.what).exists() for notice in report)


def test_a_page_that_moves_and_changes_keeps_its_id(export, weft):
    report = follow(weft, export, Notion())
    assert (report.links, len(report.unresolved)) == (4, 0)
    old = export / f"People (all) {PEOPLE}" / f"Ana {ANA}.md"
    old.rename(export / f"Ana Duarte {ANA}.md")
    (export / f"Ana Duarte {ANA}.md").write_text("# Ana Duarte\n\nMoved\n")
    report = follow(weft, export, Notion())
    assert report.links == 4
    with weft.store.view("main", "me") as view:
        (ana,) = view.nodes([f"notion:{ANA}"])
    assert (ana.title, ana.parent) == ("Ana Duarte", "notion:export")
