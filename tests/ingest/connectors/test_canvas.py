"""Boards of Obsidian: JSON Canvas."""

import json

from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors.registry import get_connector


def test_cards_of_a_board_are_paragraphs_in_reading_order_and_files_are_embedded(tmp_path):
    board = {
        "nodes": [
            {"id": "b", "type": "text", "text": "Second [[Mirror]] #optics", "x": 0, "y": 100},
            {"id": "a", "type": "text", "text": "First", "x": 0, "y": 0},
            {"id": "f", "type": "file", "file": "Finch.md", "subpath": "#Parts"},
            {"id": "g", "type": "group", "label": "Plan"},
            {"id": "l", "type": "link", "url": "https://a.example", "x": 0, "y": 200},
        ],
        "edges": [{"id": "e", "fromNode": "a", "toNode": "b"}, {"id": "h", "fromNode": "b", "toNode": "f"}],
    }
    (tmp_path / "Board.canvas").write_text(json.dumps(board))
    (tmp_path / "Broken.canvas").write_text("{")
    found = read(get_connector("obsidian"), tmp_path)
    page = found.node("Board")
    assert page.text == "- Plan"
    assert [node.text for node in found.below(page)] == ["First", "Second [[Mirror]] #optics", "https://a.example"]
    assert [(link.names, link.anchor, link.type) for link in found.links] == [
        (("Finch.md",), "Parts", "embed"),
        (("Mirror",), "", "reference"),
        (("Finch.md",), "", "reference"),
    ]
    assert "is no board" in found.skipped[0].why
