"""Connectors report what they cannot use of an export, and go on."""

import json
import re
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.depth import some
from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors.bear import Bear
from weftwork.ingest.connectors.chatgpt import ChatGPT
from weftwork.ingest.connectors.claude import Claude
from weftwork.ingest.connectors.code import split_code
from weftwork.ingest.connectors.keep import Keep
from weftwork.ingest.connectors.logseq import Logseq, parse
from weftwork.ingest.connectors.mail import Mail
from weftwork.ingest.connectors.mattermost import Mattermost
from weftwork.ingest.connectors.notion import Notion
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.connectors.roam import Roam
from weftwork.ingest.connectors.slack import Slack
from weftwork.ingest.connectors.tables import Csv
from weftwork.ingest.connectors.tana import Tana

EXPORTS = {
    "chatgpt": [
        {
            "id": "c", "title": "T", "create_time": 1.7e9, "current_node": "b",
            "mapping": {
                "a": {"id": "a", "parent": None, "message": {"author": {"role": "user"}, "create_time": 1.7e9,
                      "content": {"content_type": "text", "parts": ["Hello"]}, "metadata": {}}},
                "b": {"id": "b", "parent": "a", "message": {"author": {"role": "assistant"}, "recipient": "all",
                      "content": {"content_type": "text", "parts": ["Hi"]}, "metadata": {"model_slug": "m"}}},
            },
        }
    ],
    "claude": [
        {
            "uuid": "c", "name": "T", "created_at": "2025-01-01T00:00:00Z",
            "chat_messages": [
                {"uuid": "a", "sender": "human", "text": "Hello",
                 "attachments": [{"file_name": "f", "extracted_content": "x"}]},
                {"uuid": "b", "sender": "assistant", "content": [{"type": "text", "text": "Hi"}],
                 "parent_message_uuid": "a"},
            ],
        }
    ],
    "roam": [
        {"title": "P", "uid": "p", "edit-time": 1.7e12, "children": [
            {"string": "{{[[TODO]]}} a ((b)) [[c]] #d", "uid": "b", "children": [{"string": "k:: [[v]]", "uid": "k"}]}]}
    ],
    "tana": [
        {"id": "r", "props": {"name": "root"}, "children": ["r_STASH"]},
        {"id": "r_STASH", "props": {"_ownerId": "r", "name": "Library"}, "children": ["n"]},
        {"id": "n", "props": {"_ownerId": "r_STASH", "name": "N", "_metaNodeId": "m", "created": 1.7e12, "_done": 1},
         "children": ["t", "x"], "modifiedTs": [1.7e12]},
        {"id": "m", "props": {"_docType": "metanode", "_ownerId": "n"}, "children": ["p"]},
        {"id": "p", "props": {"_docType": "tuple", "_ownerId": "m"}, "children": ["SYS_A13", "g"]},
        {"id": "g", "props": {"_docType": "tagDef", "_ownerId": "r_SCHEMA", "name": "tag"}},
        {"id": "t", "props": {"_docType": "tuple", "_ownerId": "n"}, "children": ["f", "x"]},
        {"id": "f", "props": {"_docType": "attrDef", "_ownerId": "r_SCHEMA", "name": "Field"}},
        {"id": "x", "props": {"_ownerId": "n", "name": "<span data-inlineref-node=\"n\"></span>"}},
    ],
    "tif": [
        {"uid": "a", "name": "A [[b]]", "type": "node", "createdAt": 1.7e12, "supertags": ["s"], "children": [
            {"uid": "f", "name": "Field", "type": "field", "children": [{"uid": "v", "name": "[[b]]"}]},
            {"uid": "b", "name": "B", "todoState": "done", "flags": ["section"]}]}
    ],
    "slack": [
        {"ts": "1700000000.000100", "user": "U1", "text": "<@U1> hi", "type": "message",
         "thread_ts": "1700000000.000100"},
        {"ts": "1700000001.000100", "user": "U2", "text": "", "thread_ts": "1700000000.000100",
         "attachments": [{"text": "x"}], "files": [{"name": "f"}], "user_profile": {"real_name": "R"}},
    ],
    "mattermost": [
        {"type": "version", "version": 1},
        {"type": "channel", "channel": {"team": "t", "name": "c", "display_name": "C", "purpose": "P"}},
        {"type": "user", "user": {"username": "ana", "first_name": "Ana", "email": "a@b.org"}},
        {"type": "post", "post": {"team": "t", "channel": "c", "user": "ana", "message": "Hi", "create_at": 1.7e12,
         "replies": [{"user": "bo", "message": "Yes", "create_at": 1.7e12, "attachments": [{"path": "a/b.png"}]}]}},
        {"type": "direct_post", "direct_post": {"channel_members": ["ana", "bo"], "user": "bo", "message": "So",
         "create_at": 1.7e12}},
    ],
    "keep": {
        "isTrashed": False, "isPinned": True, "title": "T", "textContent": "Text #tag",
        "userEditedTimestampUsec": 1700000000000000, "createdTimestampUsec": 1700000000000000,
        "labels": [{"name": "L"}], "listContent": [{"text": "one", "isChecked": True}, {"text": "two"}],
        "annotations": [{"title": "W", "url": "https://w.org"}], "attachments": [{"filePath": "f.png"}],
    },
    "bear": {
        "net.shinyfrog.bear": {"uniqueIdentifier": "A-1", "creationDate": "2023-10-11T05:43:33Z", "trashed": 0,
                               "modificationDate": "2023-10-11T05:43:33Z", "pinned": 1},
        "version": 2, "type": "net.daringfireball.markdown",
    },
}  # fmt: skip
USERS = [{"id": "U1", "name": "ana", "profile": {"real_name": "Ana", "title": "Lead"}}]
CHANNELS = [{"id": "C1", "name": "general", "members": ["U1"], "topic": {"value": "T"}}]
JUNK = [
    None,
    True,
    0,
    -1,
    1e300,
    10**400,
    "",
    "a",
    "n",
    "\ud800",
    "\n",
    [],
    {},
    [[]],
    [None],
    {"a": 1},
    "x" * 50,
    ["a", "a"],
]


def mutated(chance, value):
    """The value with something in it replaced, removed or doubled."""
    if chance.random() < 0.12:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        kept = {name: mutated(chance, each) for name, each in value.items() if chance.random() > 0.04}
        return kept
    if isinstance(value, list):
        return [mutated(chance, each) for each in value for _ in range(1 if chance.random() > 0.1 else 2)]
    return value


def written(path, values):
    path.write_text(json.dumps(values), "utf-8")
    return path


def opened(kind, folder, change):
    """An export on disk, changed or not, and its connector."""
    values = change(EXPORTS[kind])
    connector: Any
    match kind:
        case "slack":
            (folder / "general").mkdir(exist_ok=True)
            written(folder / "users.json", change(USERS))
            written(folder / "channels.json", change(CHANNELS))
            written(folder / "general" / "2025-01-01.json", values)
            return Slack(), folder
        case "mattermost":
            path = folder / "import.jsonl"
            lines = values if isinstance(values, list) else [values]
            path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
            connector = Mattermost()
        case "keep":
            path, connector = written(folder / "note.json", values), Keep()
        case "bear":
            (folder / "T.textbundle").mkdir(exist_ok=True)
            (folder / "T.textbundle" / "text.md").write_text("# T\n\nText.\n\n## S\n\nMore.")
            written(folder / "T.textbundle" / "info.json", values)
            path, connector = folder / "T.textbundle", Bear()
        case "tana":
            return Tana(), written(folder / "x.json", {"formatVersion": 1, "editors": [], "docs": values})
        case "tif":
            tags = change([{"uid": "s", "name": "tag"}])
            begin = {"version": "TanaIntermediateFile V0.1"}
            return Tana(), written(folder / "x.json", {**begin, "nodes": values, "supertags": tags})
        case _:
            connector = {"chatgpt": ChatGPT(), "claude": Claude(), "roam": Roam()}[kind]
            path = written(folder / "conversations.json", values)
    return connector, path


@pytest.mark.parametrize("kind", sorted(EXPORTS))
def test_an_export_with_anything_wrong_in_it_is_read_or_reported(tmp_path, kind):
    whole = read(*opened(kind, tmp_path, lambda values: values))
    assert len(whole.nodes) > 2
    assert not (whole.skipped or whole.unread)
    assert recognise(opened(kind, tmp_path, lambda values: values)[1]).name == kind.replace("tif", "tana")
    said = 0
    for seed in range(150):
        chance = Random(seed)
        reading = read(*opened(kind, tmp_path, lambda values, chance=chance: mutated(chance, values)))
        said += bool(reading.skipped or reading.unread or reading.notes)
    assert said > 5


PIECES = st.sampled_from(
    ["- ", "\t", "  ", "\n", "\n- ", "TODO ", "a:: b", "id:: x", "[[", "]]", "((", "))", "#", "#[[", "`", "```",
     "---\n", "title: x\n", "#+BEGIN_SRC\n", "#+END_SRC", "word", "é\u2028", "{", "}", "(", ")", "class A", "def f():",
     '"', "'",
     "From a@b Mon Jan 1 2024\n", "Subject: x\n", "\n\n", "Content-Type: multipart/mixed; boundary=x\n", "--x\n", ",",
     ";", "References: <a@b>\n", "Message-ID: <a@b>\n", "Name: v (A%20" + "a" * 32 + ".md)\n", "# "]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)


@settings(max_examples=some(900, part=30), deadline=None)
@given(text=TEXTS)
@example(text="- ,\n,- ")
def test_any_text_is_read_or_reported(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("any")
    (folder / "pages").mkdir()
    for name in ("pages/a.md", "b " + "b" * 32 + ".md", "c.mbox", "d.eml", "e.csv"):
        (folder / name).write_text(text, "utf-8", newline="")
    (folder / ("Base " + "c" * 32 + ".csv")).write_text(text, "utf-8", newline="")
    for connector in (Logseq(), Notion()):
        read(connector, folder)
    for name in ("c.mbox", "d.eml"):
        read(Mail(), folder / name)
    read(Csv(), folder / "e.csv")


@settings(max_examples=some(900, part=30), deadline=None)
@given(text=TEXTS, extension=st.sampled_from(["py", "ts", "rb"]))
def test_the_parts_of_code_lie_within_the_file_and_do_not_overlap(text, extension):
    def check(parts, start, end):
        for part in parts:
            assert start <= part.start < part.end <= end
            start = part.end
            check(part.inner, part.start, part.end)

    check(split_code(text, extension), 0, max(len(text.splitlines()), text.count("\n") + 1))


def test_deep_nesting_is_no_trouble(tmp_path):
    _, blocks = parse("\n".join("\t" * depth + "- x" for depth in range(3_000)))
    assert len(blocks) == 1
    block: dict[str, object] = {"string": "x", "uid": "u"}
    for depth in range(300):
        block = {"string": "x", "uid": f"u{depth}", "children": [block]}
    path = written(tmp_path / "roam.json", [{"title": "Deep", "uid": "p", "children": [block]}])
    (page,) = read(Roam(), path).of("page")
    assert page.text.count("- x") == 301
    assert len(page.text) < 301 * 2 * 70
    for depth in range(100):
        block = {"string": f"{{{{[[TODO]]}}}} t{depth}", "children": [block, {"string": f"a{depth}"}]}
    path = written(tmp_path / "roam.json", [{"title": "Deep", "uid": "p", "children": [block]}])
    reading = read(Roam(), path)
    (page,) = reading.of("page")
    order = [f"t{depth}" for depth in reversed(range(100))] + ["x"] * 301 + [f"a{depth}" for depth in range(100)]
    assert re.findall(r"\b(?:[ta]\d+|x)\b", reading.said(page)) == order
    deeper = '{"string": "x", "children": [' * 950 + "]}" * 950
    path.write_text('[{"title": "Deep", "uid": "p", "children": [' + deeper + ']}, {"title": "Flat", "uid": "q"}]')
    reading = read(Roam(), path)
    assert "nested too deeply" in (reading.skipped or reading.unread)[0].why
