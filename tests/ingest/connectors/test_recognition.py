"""Each sample goes to its connector, and what is nobody's to the plain one."""

import json
import random

import pytest
from tests.ingest.connectors.reading import real

from weftwork.ingest.connectors.registry import connectors, recognise

SAMPLES = {
    "kb_logseq_docs/vault": "logseq",
    "kb_kepano": "obsidian",
    "kb_blue_book": "markdown",
    "export_samples/obsidian-importer/roam/shapes.json": "roam",
    "export_samples/obsidian-importer/roam/help-graph-excerpt.json": "roam",
    "export_samples/obsidian-importer/roam/small-test-graph.json": "roam",
    "export_samples/obsidian-importer/notion/Notion.Test.Export.zip": "notion",
    "export_samples/obsidian-importer/notion/notion-testspace.zip": "notion",
    "tana_samples/tana-import-tools/markdown/tests/fixtures/csv_pages_links": "notion",
    "tana_samples/supertag-cli/sample-workspace.json": "tana",
    "tana_samples/supertag-cli/seed-fixture.json": "files",
    "export_samples/slack/testarchive.zip": "slack",
    "export_samples/zulip/slack_fixtures/test_slack_importer.zip": "slack",
    "export_samples/zulip/slack_fixtures/test_unicode_slack_importer.zip": "slack",
    "export_samples/zulip/slack_fixtures/user_data.json": "files",
    "export_samples/chatgpt/conversations_convonaut.json": "chatgpt",
    "export_samples/chatgpt/example-conversation_mitkury.json": "chatgpt",
    "export_samples/obsidian-importer/textbundle/Ulysses Export.zip": "bear",
    "export_samples/zulip": "files",
    "export_samples": "files",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_goes_to_its_connector(name):
    assert recognise(real(name)).name == SAMPLES[name]


def test_random_files_and_other_json_go_to_the_plain_one(tmp_path):
    chance = random.Random(7)
    samples = {f"{number}.bin": chance.randbytes(300) for number in range(20)}
    samples |= {f"{number}{end}": chance.randbytes(50) for number, end in enumerate((".json", ".zip", ".eml", ".html"))}
    values = (
        {},
        [],
        [{}],
        [1],
        {"docs": []},
        [{"title": "x"}],
        {"version": 1},
        [{"id": 1, "text": "From x"}],
        "From a",
    )
    samples |= {f"value-{number}.json": json.dumps(value).encode() for number, value in enumerate(values)}
    samples |= {"note.txt": b"From here to there 2024\n", "empty": b"", "letter.txt": b"From: someone\n\nhello"}
    for name, data in samples.items():
        (tmp_path / name).write_bytes(data)
        assert recognise(tmp_path / name).name == "files", name
    assert recognise(tmp_path).name == "files"


def test_every_built_in_connector_says_what_it_is():
    for name, each in connectors().items():
        assert each.connector.name == name
        assert each.connector.summary
        assert each.connector.version >= 1
