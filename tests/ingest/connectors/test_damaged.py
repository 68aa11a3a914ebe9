"""Files of every kind with bytes replaced, removed and repeated: each is read or named as unread."""

import base64
import json
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.depth import some
from tests.ingest.connectors.reading import read
from tests.ingest.connectors.test_converted import FEED, NOTEBOOK, OPML, TOMBOY
from tests.ingest.connectors.test_envelopes import TEXT, envelope, message
from tests.ingest.connectors.test_note_exports import ENEX
from tests.ingest.remotes.test_live import ATOM, EVENT

from weftwork.errors import InvalidInput
from weftwork.ingest.connectors.calendar import Calendar
from weftwork.ingest.connectors.evernote import Evernote
from weftwork.ingest.connectors.files import Files
from weftwork.ingest.connectors.logseq import Logseq
from weftwork.ingest.connectors.mail import Mail
from weftwork.ingest.connectors.obsidian import Obsidian
from weftwork.ingest.jsonlines import parse

EXAMPLES = settings(max_examples=some(3000, part=100), deadline=None)
BOARD = {
    "nodes": [
        {"id": "a", "type": "text", "text": "First [[B]] #c", "x": 0, "y": 0},
        {"id": "f", "type": "file", "file": "B.md", "subpath": "#D"},
    ],
    "edges": [{"id": "e", "fromNode": "a", "toNode": "f", "label": "then"}],
}
BLOCK = {"id": "1", "content": "TODO [[B]]\nid:: 1", "properties": {"due": "[[Jan 1st, 2026]]"}, "children": []}
GRAPH = {"version": 1, "blocks": [{"id": "p", "page-name": "A", "properties": {"tags": ["b"]}, "children": [BLOCK]}]}
NOTE = (
    "---\ntitle: A\ntags: [b, c]\ndate: 2026-01-02\nn: 1.5\n---\n# A\n\n%%x%% [[B#c|d]] ^id\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx\n```\n- [ ] do it 📅 2026-01-02\n\n[r]: <b.md> 'c'\n"
)
LETTER = (
    "From: =?utf-8?q?Ana?= <a@a.example>\r\nTo: b@b.example\r\nSubject: =?utf-8?b?TQ==?=\r\nMessage-ID: <1@a>\r\n"
    "Date: Wed, 4 Mar 2026 09:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n"
    "--x\r\nContent-Type: text/html; charset=latin1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>a=20b\r\n"
    "--x\r\nContent-Type: text/plain; name*=utf-8''f.txt\r\nContent-Disposition: attachment\r\n\r\nfile\r\n--x--\r\n"
)
SIGNED = (
    b"Subject: M\r\nContent-Type: application/pkcs7-mime; smime-type=signed-data\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\n"
)
PARTS = {0x0037: "Mirror", 0x0C1A: "Ana", 0x1000: "Coated", 0x007D: "Message-ID: <2@b>\r\nReferences: <1@a>\r\n"}
FILES = {
    "evernote": (Evernote, "a.enex", ENEX.encode()),
    "calendar": (Calendar, "a.ics", EVENT.format(id="e", title="Sail", more="RRULE:FREQ=DAILY\r\n").encode()),
    "letter": (Mail, "a.eml", LETTER.encode()),
    "signed letter": (Mail, "a.eml", SIGNED + base64.encodebytes(envelope(TEXT))),
    "outlook": (Mail, "a.msg", message(PARTS, [("Bo", "bo@b.example", 1)], [("plan.txt", b"Sand it.")], sent=1)),
    "board": (Obsidian, "a.canvas", json.dumps(BOARD).encode()),
    "note": (Obsidian, "a.md", NOTE.encode()),
    "logseq": (Logseq, "a.json", json.dumps(GRAPH).encode()),
    "notebook": (Files, "a.ipynb", NOTEBOOK.encode()),
    "outline": (Files, "a.opml", OPML.encode()),
    "tomboy": (Files, "a.note", TOMBOY.encode()),
    "rss": (Files, "a.rss", FEED.encode()),
    "atom": (Files, "a.atom", ATOM.encode()),
    "table": (Files, "a.csv", b'Name,Due,"Note, long"\nA,2026-01-02,"b ""c""\nd"\n'),
}

PIECES = st.sampled_from(
    [
        b"", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\n", b"\r", b"\t", b'"', b"'", b"\\", b",", b":",
        b"<", b">", b"&", b"&#0;", b"&#xD800;", b"&a;", b"]]>", b"<!--", b"{", b"}", b"[", b"]", b"[" * 2000,
        b"null", b"true", b"-1", b"1e999", b"9" * 400, b'"\\ud800"', b"0001-01-01", b"99991231T235959Z",
        b"=?utf-8?b?/w?=", b"charset=none",
    ]
)  # fmt: skip
EDITS = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 40), PIECES | st.binary(max_size=6) | st.none()),
    min_size=1,
    max_size=6,
)
"""Each takes out so many bytes from a place on and puts a piece there, or twice what stood there for None."""


def edited(data, edits):
    for share, length, piece in edits:
        at = int(share * len(data))
        cut = data[at : at + length]
        data = data[:at] + (cut + cut if piece is None else piece) + data[at + length :]
    return data


@pytest.mark.parametrize("kind", sorted(FILES))
def test_a_damaged_file_is_read_or_reported(kind, tmp_path):
    made, name, whole = FILES[kind]
    path = tmp_path / name
    path.write_bytes(whole)
    found = read(made(), path)
    assert found.nodes and not found.skipped, "the seed itself is sound"

    @EXAMPLES
    @given(edits=EDITS)
    def reads(edits):
        path.write_bytes(edited(whole, edits))
        read(made(), path)

    reads()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([10**400, "a", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = ["id", "text", "title", "type", "parent", "position", "tags", "fields", "confidence", "created_at", "access"]
MEMBERS += ["source", "target", "weight", "label", "user", "groups"]


@EXAMPLES
@given(line=st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=6) | JSON)
@example(line={"source": "a", "target": "b", "weight": 10**400})
def test_any_line_of_json_is_a_node_an_edge_or_a_user_or_refused(line):
    with suppress(InvalidInput):
        parse(json.dumps(line))
