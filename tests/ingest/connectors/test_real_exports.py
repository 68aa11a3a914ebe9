"""Counts on real exports against counts that share nothing with the connectors but the files."""

import csv
import html
import io
import json
import re
from collections import Counter
from contextlib import suppress
from datetime import datetime
from urllib.parse import unquote
from zipfile import ZipFile

import pytest
from tests.ingest.connectors.reading import read, real

from weftwork.ingest.connectors.chatgpt import ChatGPT
from weftwork.ingest.connectors.logseq import Logseq
from weftwork.ingest.connectors.notion import Notion
from weftwork.ingest.connectors.roam import Roam
from weftwork.ingest.connectors.slack import Slack
from weftwork.ingest.connectors.tana import Tana
from weftwork.ingest.follow import follow
from weftwork.ingest.report import Options

JOINED = "(channel|group)_(join|leave)|bot_(add|remove)|(un)?pinned_item"
MACROS = {"todo", "done", "embed", "table", "query", "kanban", "mermaid", "video"}


def without_code(text):
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"(`+)[^`\n]+?\1", "", text)
    return re.sub(r"#\+BEGIN_(SRC|EXAMPLE|QUERY).*?#\+END_\1", "", text, flags=re.S | re.I)


@pytest.fixture(scope="module")
def graph():
    return real("kb_logseq_docs/vault")


@pytest.fixture(scope="module")
def files(graph):
    return {path: path.read_text("utf-8") for name in ("pages", "journals") for path in (graph / name).glob("*.md")}


@pytest.fixture(scope="module")
def found(graph):
    return read(Logseq(), graph)


class TestLogseq:
    def test_each_file_is_a_page(self, files, found):
        assert Counter(node.source for node in found.of("page")) == Counter(str(path) for path in files)

    def test_the_innermost_links_are_those_in_the_text(self, files, found):
        expected = {
            (str(path), target.strip().lower())
            for path, text in files.items()
            for target in re.findall(r"\[\[([^\[\]\n]+)\]\]", re.sub(r"(?m)^alias::.*$", "", without_code(text)))
        }
        expected = {(path, target) for path, target in expected if target and target not in MACROS}
        sources = {node.id: node.source for node in found.nodes}
        links = {
            (sources[link.source], link.names[0].lower())
            for link in found.links
            if "[[" not in link.names[0] and link.label not in ("namespace", "block")
        }
        tags = {(str(path), tag.lower()) for path, text in files.items() for tag in short_tags(text)}
        blocks = {(path, target) for path, target in links if re.fullmatch(r"[0-9a-f-]{36}", target)}
        assert links - tags - blocks == expected - tags

    def test_tags_are_those_in_the_text(self, files, found):
        expected = {(str(path), tag) for path, text in files.items() for tag in short_tags(text)}
        tags = {(node.source, tag) for node in found.nodes for tag in node.tags}
        assert {(path, tag) for path, tag in tags if " " not in tag and "[" not in tag} >= expected
        assert len(expected) > 30

    def test_tasks_are_the_lines_that_begin_with_a_marker(self, files, found):
        marker = re.compile(
            r"^\s*[-*] (TODO|DOING|DONE|LATER|NOW|WAITING|WAIT|CANCELED|CANCELLED|STARTED|IN-PROGRESS)\b", re.M
        )
        expected = Counter(found[1] for text in files.values() for found in marker.finditer(without_code(text)))
        assert len(found.of("todo")) == expected.total() > 30
        assert sum(node.fields["status"] == "done" for node in found.of("todo")) == expected["DONE"]

    def test_block_references_that_resolve_are_those_whose_block_names_itself(self, files, found):
        said = {
            target for text in files.values() for target in re.findall(r"\(\(([0-9a-f-]{36})\)\)", without_code(text))
        }
        there = {name for text in files.values() for name in re.findall(r"^\s*(?:- )?id:: ([0-9a-f-]{36})", text, re.M)}
        ids = {named.name for named in found.named if named.kind == "id"}
        linked = {link.names[0] for link in found.links if re.fullmatch(r"[0-9a-f-]{36}", link.names[0])}
        assert linked == said
        assert linked & ids == said & there != set()

    def test_links_that_resolve_are_those_that_a_title_or_an_alias_answers(self, graph, files, found, weft):
        titles = set()
        for path, text in files.items():
            hits = re.search(r"\A(?:---\n)?title::? (.+)$", text, re.M) or re.search(
                r"^title:: (.+)$", text[:500], re.M
            )
            titles.add(hits[1].strip().lower() if hits else unquote(path.stem.replace("___", "/")).lower())
            for line in re.findall(r"^alias:: (.+)$", text.split("\n- ")[0], re.M):
                titles |= {name.strip(" []#").lower() for name in re.split(r",|\]\],?", line) if name.strip(" []#")}
        ids = {named.name for named in found.named if named.kind == "id"}
        expected = sum(
            link.names[0].lower() in titles or link.names[0] in ids or _journal(link.names[0], files)
            for link in found.links
        )
        report = follow(weft, graph, Logseq(), Options(mentions=False))
        assert report.links == expected > 1000
        assert (len(report.skipped), report.nodes) == (1, len(found.nodes))


def short_tags(text):
    return re.findall(r"(?:^|(?<=[\s(]))#(\w(?:[\w/.&-]*\w)?)", without_code(text), re.M)


def _journal(name, files):
    """True for the day of a journal, as 2020-10-22 or as Oct 22nd, 2020."""
    days = {path.stem for path in files if path.parent.name == "journals"}
    written = re.sub(r"(\d)(st|nd|rd|th),", r"\1,", name)
    for form in ("%Y-%m-%d", "%b %d, %Y"):
        with suppress(ValueError):
            return datetime.strptime(written, form).strftime("%Y_%m_%d") in days
    return False


@pytest.mark.parametrize("name", ["smoketest", "todo", "block_refs", "fields", "refs"])
def test_logseq_as_json_has_all_pages_and_blocks_that_say_something(name):
    path = real(f"tana_samples/tana-import-tools/logseq/tests/fixtures/{name}.json")
    pages = json.loads(path.read_text("utf-8"))["blocks"]
    texts = list(_contents(block for page in pages for block in page["children"]))
    reading = read(Logseq(), path)
    assert sorted(node.title for node in reading.of("page")) == sorted(page["page-name"] for page in pages)
    for page in reading.of("page"):
        blocks = next(each["children"] for each in pages if each["page-name"] == page.title)
        assert words(reading.said(page).removeprefix(page.title)) == words("\n".join(_contents(blocks)))
    markers = [text for text in texts if re.match(r"(TODO|DOING|DONE|NOW|LATER|WAITING|CANCELED|CANCELLED)\b", text)]
    assert len(reading.of("todo")) == len(markers)


def _contents(blocks):
    """The texts of blocks and their descendants, in reading order, without properties."""
    for block in blocks:
        lines = (block.get("content") or "").split("\n")
        yield "\n".join(line for line in lines if not re.match(r"\s*[\w-]+:: ", line)).strip()
        yield from _contents(block.get("children", ()))


def words(text):
    """The words of a text, without markers of tasks and targets of links that have words of their own."""
    text = re.sub(r"\[([^\[\]]+)\]\((\[\[.+?\]\]|\(\([\w-]+\)\))\)", r"\1", text)
    text = re.sub(r"\{\{\s*(\[\[)?(TODO|DONE)(\]\])?\s*\}\}", "", text)
    text = re.sub(r"(?m)^(TODO|DOING|DONE|NOW|LATER|WAITING|CANCELED|CANCELLED)\b", "", text)
    return re.findall(r"\w+", text)


class TestRoam:
    @pytest.mark.parametrize(
        "name",
        [
            "export_samples/obsidian-importer/roam/shapes.json",
            "export_samples/obsidian-importer/roam/help-graph-excerpt.json",
            "export_samples/obsidian-importer/roam/small-test-graph.json",
            "tana_samples/tana-import-tools/roam/tests/fixtures/smoketest.json",
        ],
    )
    def test_pages_blocks_and_tasks_are_all_there(self, name):
        path = real(name)
        pages = json.loads(path.read_text("utf-8"))
        blocks = [block for page in pages for block in _strings(page)]
        reading = read(Roam(), path)
        assert sorted(node.title for node in reading.of("page")) == sorted(page["title"].strip() for page in pages)
        boxes = [text for text, _ in blocks if re.match(r"\{\{\s*(\[\[)?(TODO|DONE)", text)]
        assert len(reading.of("todo")) == len(boxes)
        attribute = re.compile(r"(?:\[\[[^\[\]]+\]\]|[^\s:`\[\]{}(][^:`\n]{0,80}?)::(\s.*)?", re.S)
        for page in pages:
            (node,) = [node for node in reading.of("page") if node.title == page["title"].strip()]
            kept = [text for text, leaf in _strings(page) if not (leaf and attribute.fullmatch(text.strip()))]
            assert words(reading.said(node).removeprefix(node.title)) == words("\n".join(kept))
        uids = {uid for uid in re.findall(r'"uid": *"([^"]+)"', path.read_text("utf-8"))}
        assert {named.name for named in reading.named if named.kind == "id"} <= uids

    def test_block_references_resolve_to_blocks_that_are_there(self):
        path = real("export_samples/obsidian-importer/roam/shapes.json")
        text = path.read_text("utf-8")
        uids = set(re.findall(r'"uid": "([^"]+)"', text))
        expected = {target for target in re.findall(r"\(\(([\w-]+)\)\)", text) if target in uids}
        reading = read(Roam(), path)
        ids = {named.name for named in reading.named if named.kind == "id"}
        assert {link.names[0] for link in reading.links} & ids == expected


def _strings(above):
    """The texts of blocks in reading order, and whether they have children."""
    for block in above.get("children", ()):
        yield block["string"], not block.get("children")
        yield from _strings(block)


class TestSlack:
    @pytest.mark.parametrize(
        "name",
        [
            "export_samples/slack/testarchive.zip",
            "export_samples/zulip/slack_fixtures/test_slack_importer.zip",
            "export_samples/zulip/slack_fixtures/test_unicode_slack_importer.zip",
        ],
    )
    def test_every_message_that_somebody_said_is_there_once(self, name):
        path = real(name)
        with ZipFile(path) as archive:
            said, people = set(), len(json.loads(archive.read("users.json")))
            for member in archive.namelist():
                if re.search(r"/\d{4}-\d\d-\d\d\.json$", member):
                    for message in json.loads(archive.read(member)):
                        attached = any(
                            part.get(key)
                            for part in message.get("attachments", ())
                            for key in ("pretext", "title", "text", "fallback")
                        )
                        spoken = message.get("text") or attached or message.get("file") or message.get("files")
                        joined = re.match(
                            "(channel|group)_(join|leave)|bot_(add|remove)|(un)?pinned_item",
                            message.get("subtype") or "",
                        )
                        if spoken and not joined:
                            said.add((member.partition("/")[0], message["ts"]))
        reading = read(Slack(), path)
        messages = {(node.source.removeprefix("slack:"), node.id.rpartition("#")[2]) for node in reading.of("message")}
        assert messages == said
        assert len(reading.of("person")) == people
        assert not [node for node in reading.of("message") if re.search(r"<@U\w+>", node.text)]


class TestChatGPT:
    @pytest.mark.parametrize("name", ["conversations_convonaut.json", "example-conversation_mitkury.json"])
    def test_messages_are_those_from_the_open_one_upwards(self, name):
        path = real(f"export_samples/chatgpt/{name}")
        expected = []
        for conversation in json.loads(path.read_text("utf-8")):
            at, branch = conversation["current_node"], []
            while at:
                message = conversation["mapping"][at]["message"] or {}
                if any(message.get("content", {}).get("parts", ())) and message["author"]["role"] != "system":
                    branch.append(message["content"]["parts"][0])
                at = conversation["mapping"][at]["parent"]
            expected += branch[::-1]
        reading = read(ChatGPT(), path)
        assert [node.text for node in reading.of("message")] == expected
        assert all(node.created_at.tzinfo for node in reading.of("message"))


class TestNotion:
    def test_pages_rows_and_boxes_of_a_zip_in_a_zip(self):
        path = real("export_samples/obsidian-importer/notion/Notion.Test.Export.zip")
        with ZipFile(path) as outer, ZipFile(io.BytesIO(outer.read(outer.namelist()[0]))) as inner:
            texts = {name: inner.read(name).decode("utf-8-sig") for name in inner.namelist() if "." in name[-5:]}
        pages = [name for name in texts if name.endswith(".md")]
        table = next(text for name, text in texts.items() if name.endswith("_all.csv"))
        rows = len(list(csv.reader(io.StringIO(table)))) - 1
        in_table = [name for name in pages if "/Habit Tracker " in name.rpartition("/")[0]]
        reading = read(Notion(), path)
        assert len(reading.of("db_row")) == max(rows, len(in_table))
        assert len(reading.of("page")) == len(pages) - len(in_table)
        assert len(reading.of("database")) == 1
        boxes = [box for name in pages for box in re.findall(r"^\s*- \[( |x)\] *(\S)", texts[name], re.M)]
        assert len(reading.of("todo")) == len(boxes)
        assert sum(node.fields["status"] == "done" for node in reading.of("todo")) == sum(
            mark == "x" for mark, _ in boxes
        )
        assert not [node.title for node in reading.nodes if re.search("[0-9a-f]{32}", node.title)]

    def test_relations_of_a_database_are_edges_between_its_rows(self):
        path = real("tana_samples/tana-import-tools/markdown/tests/fixtures/csv_pages_links")
        pages = [page for page in path.rglob("*.md") if "database" in page.parent.name]
        expected = {
            (page.stem[-32:], target)
            for page in pages
            for target in re.findall(r"([0-9a-f]{32})\.md\)", page.read_text())
        }
        reading = read(Notion(), path)
        relations = {(link.source[-32:], link.names[0]) for link in reading.links if link.type == "relation"}
        assert relations == expected != set()
        assert {named.name for named in reading.named if named.kind == "id"} >= {target for _, target in expected}


class TestTana:
    def test_what_people_wrote_is_there_and_trash_and_system_nodes_are_not(self):
        path = real("tana_samples/supertag-cli/sample-workspace.json")
        docs = {doc["id"]: doc for doc in json.loads(path.read_text("utf-8"))["docs"]}
        system = {"tuple", "metanode", "viewDef", "attrDef", "tagDef", "associatedData", "search", "command"}
        system |= {"settings", "workspace"}
        root = next(name for name, doc in docs.items() if f"{name}_STASH" in doc.get("children", ()))

        def content(name):
            while name != root:
                doc = docs.get(name)
                if doc is None:
                    return False
                made = name.startswith(f"{root}_") and not name.endswith(("_STASH", "_CAPTURE_INBOX"))
                if made or doc["props"].get("_docType") in system:
                    return False
                name = doc["props"].get("_ownerId")
            return True

        expected = {name for name in docs if name != root and content(name)}
        reading = read(Tana(), path)
        ids = [named.name for named in reading.named if named.kind == "id"]
        assert (set(ids), len(ids)) == (expected, len(expected))
        said = {named.name: named.node for named in reading.named if named.kind == "id"}
        texts = {node.id: " ".join(f"{node.title} {node.text}".split()) for node in reading.nodes}
        for name in expected:
            own = re.sub(r"<[^<>]*>", "", docs[name]["props"].get("name", ""))
            assert " ".join(html.unescape(own).split()) in texts[said[name]]
        assert len(reading.nodes) < len(expected) / 5
        tagged = Counter(
            docs[tag]["props"]["name"]
            for name in expected
            for pair in docs.get(docs[name]["props"].get("_metaNodeId"), {}).get("children", ())
            if docs[pair]["children"][0] == "SYS_A13"
            for tag in docs[pair]["children"][1:]
            if tag in docs
        )
        assert Counter(tag for node in reading.nodes for tag in node.tags) == tagged
        referring = {
            (name, target)
            for name in expected
            for target in re.findall('data-inlineref-node="([^"]+)"', docs[name]["props"].get("name", ""))
        }
        assert len([link for link in reading.links if link.type == "reference"]) == len(referring)
