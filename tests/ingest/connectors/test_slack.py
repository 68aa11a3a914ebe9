import json
from zipfile import ZipFile

import pytest
from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors.slack import Slack
from weftwork.ingest.follow import follow

USERS = [
    {"id": "U1", "name": "ana", "real_name": "Ana Duarte", "profile": {"title": "Lead", "email": "ana@x.org"}},
    {"id": "U2", "name": "ben", "profile": {"display_name": "Ben"}},
]
CHANNELS = [{"id": "C1", "name": "general", "created": 1_700_000_000, "topic": {"value": "All &amp; everything"}}]
DAY_ONE = [
    {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> has joined", "ts": "1700000000.000100"},
    {"type": "message", "user": "U1", "text": "Ask <@U2> in <#C1|general> &lt;now&gt;", "ts": "1700000100.000100"},
    {"type": "message", "user": "U2", "text": "Who has <https://x.org|the plan>?", "ts": "1700000200.000100",
     "thread_ts": "1700000200.000100", "reply_count": 2},
    {"type": "message", "subtype": "bot_message", "username": "CI", "text": "", "ts": "1700000300.000100",
     "attachments": [{"pretext": "Build", "text": "passed"}]},
]  # fmt: skip
DAY_TWO = [
    {"type": "message", "user": "U1", "text": "I have", "ts": "1700090000.000100", "thread_ts": "1700000200.000100"},
    {"type": "message", "user": "U9", "text": "", "ts": "1700090001.000100", "thread_ts": "1700000200.000100",
     "files": [{"name": "plan.pdf"}]},
    {"type": "message", "text": "never"},
]  # fmt: skip


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "slack.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("users.json", json.dumps(USERS))
        archive.writestr("channels.json", json.dumps(CHANNELS))
        archive.writestr("dms.json", json.dumps([{"id": "D1", "members": ["U1", "U2"]}]))
        archive.writestr("general/2023-11-14.json", json.dumps(DAY_ONE))
        archive.writestr("general/2023-11-15.json", json.dumps(DAY_TWO))
        archive.writestr("D1/2023-11-15.json", json.dumps([{"user": "U1", "text": "psst", "ts": "1700090002.000100"}]))
        archive.writestr("broken/2023-11-15.json", "[{")
    return path


def test_channels_threads_and_direct_messages(export):
    reading = read(Slack(), export)
    assert [node.title for node in reading.of("thread")] == [
        "Ana Duarte, Ben", "#broken", "#general", "Who has the plan (https://x.org)?",
    ]  # fmt: skip
    channel, thread = reading.node("#general"), reading.of("thread")[-1]
    assert channel.text == "All & everything"
    assert [node.text for node in reading.below(channel) if node.type == "message"] == [
        "Ask @Ben in #general <now>",
        "Build\npassed",
    ]
    assert [(node.title, node.text) for node in reading.below(thread)] == [
        ("Ben", "Who has the plan (https://x.org)?"), ("Ana Duarte", "I have"), ("U9", ""),
    ]  # fmt: skip
    assert reading.below(thread)[2].fields["files"] == ("plan.pdf",)
    assert [node.position for node in reading.below(channel)] == sorted(
        node.position for node in reading.below(channel)
    )


def test_roles_authors_and_times(export):
    messages = {node.text: node for node in read(Slack(), export).of("message")}
    assert messages["I have"].fields == {"role": "user", "author": "Ana Duarte"}
    assert messages["Build\npassed"].fields == {"role": "assistant", "author": "CI"}
    assert messages["I have"].created_at.isoformat() == "2023-11-15T23:13:20.000100+00:00"


def test_what_cannot_be_read_is_named(export):
    reasons = [skipped.why for skipped in read(Slack(), export).skipped]
    assert any("is not JSON" in why for why in reasons)
    assert "1 messages have no time" in reasons


def test_mentions_lead_to_people(export, weft):
    report = follow(weft, export, Slack())
    assert (report.links, report.unresolved) == (1, [])
    people = "slack:slack.zip/users"
    with weft.store.view("main", "me") as view:
        (edge, person) = next(
            neighbour for neighbour in view.neighbours("slack:C1#1700000100.000100") if neighbour[0].label
        )
    assert (edge.label, person.id, person.fields) == ("mentions", f"{people}#U2", {"handle": "ben"})
