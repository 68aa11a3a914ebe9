"""Real vaults: what the connector makes of them agrees with a count that shares nothing with it but the files."""

import os
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from weftwork.ingest.connectors.protocol import Source
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.links import Names
from weftwork.ingest.read import read_source

DATA = Path(os.environ.get("WEFTWORK_DATA", Path(__file__).parents[4] / "shared" / "data"))
VAULTS = ("kb_kepano", "kb_foam_docs", "kb_blue_book")


def without_code(text):
    """Lines without fences, indented code, code spans and comments; front matter is left out."""
    text = re.sub(r"\A---\n.*?\n---[ \t]*(\n|\Z)", "", text, flags=re.S)
    lines, fence, indented, blank, in_list, note = [], "", False, True, False, False
    for line in text.split("\n"):
        bare = line.lstrip(" \t>")
        opening = re.match(r"(`{3,}|~{3,})", re.sub(r"^([-*+]|\d+[.)])\s+", "", bare))
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0] + " \t"):
                fence = ""
            continue
        if opening and "`" not in re.sub(r"^([-*+]|\d+[.)])\s+", "", bare)[len(opening.group(1)) :]:
            fence, blank = opening.group(1), False
            continue
        if re.match(r"(!!!|\?\?\?)", line):
            note = True  # what is indented below it is its text, as MkDocs writes it
        elif line.strip() and not line[0].isspace():
            note = False
        indented = (
            not note and (blank or indented) and not in_list and bool(re.match(r" {4}|\t", line)) and bool(line.strip())
        )
        if line.strip() and not line[0].isspace():
            in_list = bool(re.match(r"([-*+]|\d+[.)])(\s|$)", line))
        elif re.match(r" {1,3}([-*+]|\d+[.)])\s", line):
            in_list = True
        blank = not line.strip()
        if not indented:
            lines.append(line)
    paragraphs = re.split(r"\n[ \t]*\n", "\n".join(lines))
    spans = (re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", paragraph, flags=re.S) for paragraph in paragraphs)
    return re.sub(r"<!--.*?-->", "", "\n\n".join(spans), flags=re.S)


def front_matter(text):
    match = re.match(r"---\n(.*?)\n---[ \t]*(\n|\Z)", text, re.S)
    return match.group(1) if match else ""


def links_of(text):
    """Targets of links by name and of links by path, in a text without code."""
    names = [match.replace("\\|", "|").split("|")[0] for match in re.findall(r"\[\[([^\[\]\n]+)\]\]", text)]
    paths = re.findall(r"!?\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]\(\s*<?([^)\s<>]+)>?(?:\s+[\"'(][^)]*)?\s*\)", text)
    defined = dict(re.findall(r"^\[([^\[\]^][^\[\]]*)\]:[ \t]+(\S+)", text, re.M))
    used = re.findall(r"(?<![\[\]])\[([^\[\]]+)\](?:\[([^\[\]]*)\])?(?![\[\](:])", text)
    paths += [defined[name or label] for label, name in used if (name or label) in defined]
    return names, [unquote(path) for path in paths if not re.match(r"[a-zA-Z][\w+.-]*:|//", path)]


def leads_somewhere(path, root, paths, by_name):
    """True if a name is the end of some file's path, or a path lies where the note says."""

    def known(target):
        target = target.split("#")[0].split("?")[0].strip().casefold()
        if not target:
            return True
        if by_name:
            return any(f"/{path}".endswith(f"/{target}") for path in paths)
        here = os.path.normpath(os.path.join(os.path.dirname(str(path.relative_to(root)).casefold()), target))
        above = os.path.normpath(target.lstrip("/"))
        return here in paths or any(f"/{path}".endswith(f"/{above}") for path in paths)

    return known


def counted(root):
    """Pages, links, those that lead to a file, and tasks of all Markdown below a folder; the tags in each text."""
    files = [Path(place, name) for place, _, names in os.walk(root) for name in names]
    files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(root).parts)]
    notes = [path for path in files if path.suffix == ".md"]
    paths = {str(path.relative_to(root)).casefold() for path in files}
    paths |= {path.removesuffix(".md") for path in paths}
    result = {"pages": len(notes), "links": 0, "resolved": 0, "tasks": 0, "done": 0}
    tags = {}
    for path in notes:
        raw = path.read_text(encoding="utf-8")
        text = without_code(raw)
        for by_name, links in zip((True, False), links_of(f"{front_matter(raw)}\n\n{text}"), strict=True):
            result["links"] += len(links)
            result["resolved"] += sum(map(leads_somewhere(path, root, paths, by_name), links))
        tasks = re.findall(r"^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\[(.)\](?=[ \t])", text, re.M)
        result["tasks"] += len(tasks)
        result["done"] += sum(mark in "xX" for mark in tasks)
        readable = re.sub(r"\[\[[^\]\n]*\]\]|!?\[[^\]]*\]\((?:[^()]|\([^()]*\))*\)", " ", text)
        if not re.search(r"^tags?:", front_matter(raw), re.M):
            found = re.findall(r"(?:^|(?<=\s))#([\w/-]*[^\W\d][\w/-]*)", readable)
            tags[str(path)] = {tag.strip("/") for tag in found}
    return result, tags


@pytest.mark.parametrize("name", VAULTS)
def test_a_vault_is_read_as_an_independent_count_says(name):
    root = DATA / name / "vault"
    if not root.is_dir():
        pytest.skip(f"{name} is not there: set WEFTWORK_DATA to the folder of the public data")
    expected, tags = counted(root)
    details, tops, nodes = {}, {}, []
    for source in get_connector("obsidian").sources(root):
        assert isinstance(source, Source)
        draft = read_source(source, source.id, None)
        details[source.key], tops[source.key] = draft.details, draft.id
        nodes += draft.nodes
    names = Names(details, tops)
    todos = [node for node in nodes if node.type == "todo"]
    pages = [node for node in nodes if node.type == "page"]
    assert {
        "pages": len(pages),
        "links": sum(len(record.links) for record in details.values()),
        "resolved": sum(names.resolved(key).links for key in details),
        "tasks": len(todos),
        "done": sum(node.fields["status"] == "done" for node in todos),
    } == expected
    assert {page.source: set(page.tags) for page in pages if page.source in tags} == tags
