"""Notes in another notation, converted to Markdown: Jupyter notebooks, outlines, Tomboy notes and saved feeds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

from weftwork.ingest.connectors.feed_entries import is_feed, read_entries
from weftwork.ingest.connectors.htmltext import text_of
from weftwork.ingest.events import Refused

_SEEN = 2_000
"""Bytes by which XML is recognised."""
_FEED = re.compile(rb"<(?:\w+:)?(?:rss|RDF|feed)[\s>]")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OVERWRITTEN = re.compile(r"^.*\r(?=[^\n])", re.M)
_TICKS = re.compile("`{3,}")
_MARKS = {"bold": "**", "italic": "*", "strikethrough": "~~", "highlight": "==", "monospace": "`"}


def markdown_of(path: Path, text: str) -> str:
    """The text of a note as Markdown, whatever its notation."""
    converter = converter_for(path)
    try:
        return converter(text) if converter else text
    except RecursionError as error:
        raise Refused("is nested too deeply") from error


def converter_for(path: Path) -> Callable[[str], str] | None:
    """The function that makes Markdown of a file's text; None if the file is no such note."""
    suffix = path.suffix.lower()
    if suffix in (".ipynb", ".opml"):
        return notebook if suffix == ".ipynb" else outline
    if suffix not in (".note", ".xml", ".rss", ".atom"):
        return None
    try:
        with path.open("rb") as file:
            begin = file.read(_SEEN)
    except OSError:
        return None
    if suffix == ".note":
        return tomboy if b"<note" in begin and b"<note-content" in begin else None
    return feed if _FEED.search(begin) else None


def notebook(text: str) -> str:
    """The cells of a Jupyter notebook with what they printed; pictures are left out."""
    try:
        book = json.loads(text)
        language = _language(book.get("metadata", {}))
        cells = book["cells"] if "cells" in book else [cell for sheet in book["worksheets"] for cell in sheet["cells"]]
        return "\n\n".join(part for cell in cells for part in _cell(cell, language) if part)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"is no Jupyter notebook that can be read ({type(error).__name__}: {error})") from error


def _language(metadata: Any) -> str:
    info, kernel = metadata.get("language_info", {}), metadata.get("kernelspec", {})
    return str(info.get("name") or kernel.get("language") or "")


def _cell(cell: Any, language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell["cell_type"] != "code":
        level = int(cell.get("level", 1)) if cell["cell_type"] == "heading" else 0  # of the third format
        yield f"{'#' * level} {source}" if level else source
        return
    yield _fenced(source, language)
    for output in cell.get("outputs", []):
        yield _output(output)


def _output(output: Any) -> str:
    data = output.get("data", output)
    if markdown := _joined(data.get("text/markdown", "")):
        return markdown
    if "traceback" in output or "ename" in output:
        printed = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    else:
        printed = _joined(data.get("text/plain", data.get("text", "")))
    return _fenced(_OVERWRITTEN.sub("", _ESCAPES.sub("", printed)), "")


def _joined(lines: Any) -> str:
    return "".join(lines) if isinstance(lines, list) else str(lines)


def _fenced(code: str, language: str) -> str:
    """Code in a fence that is longer than those within it."""
    if not code.strip():
        return ""
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(code)), 3)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def outline(text: str) -> str:
    """An OPML outline as a list; what Workflowy marks as complete is a task that is done."""
    root = _parsed(text, "an outline")
    title = (root.findtext("head/title") or "").strip()
    lines = [line for item in root.iterfind("body/outline") for line in _items(item, "")]
    return "\n".join([*([f"# {title}", ""] if title else []), *lines])


def _items(item: Element, margin: str) -> Iterator[str]:
    said = text_of(item.get("text") or item.get("title") or "", markdown=True).replace("\n", " ")
    address = item.get("htmlUrl") or item.get("url") or item.get("xmlUrl") or ""
    yield f"{margin}- {'[x] ' if item.get('_complete') == 'true' else ''}{f'[{said}]({address})' if address else said}"
    for line in text_of(item.get("_note", ""), markdown=True).split("\n"):
        if line.strip():
            yield f"{margin}  {line}"
    for child in item.iterfind("outline"):
        yield from _items(child, margin + "  ")


def tomboy(text: str) -> str:
    """A note of Tomboy or Gnote."""
    root = _parsed(text, "a Tomboy note")
    content = next((element for element in root.iter() if _name(element) == "note-content"), None)
    title = next(((element.text or "").strip() for element in root if _name(element) == "title"), "")
    body = _tomboy_text(content, -1).strip() if content is not None else ""
    body = body.removeprefix(title).strip()  # its first line repeats the title
    return f"# {title}\n\n{body}" if title else body


def _tomboy_text(element: Element, depth: int) -> str:
    name = _name(element)
    inner = element.text or ""
    for child in element:
        inner += _tomboy_text(child, depth + (_name(child) == "list")) + (child.tail or "")
    if name == "list":
        return "\n" * (depth == 0) + inner.strip("\n") + "\n"
    if name == "list-item":
        return f"{'  ' * depth}- {inner.strip()}\n"
    if name == "internal":
        return f"[[{inner}]]"
    mark = _MARKS.get(name, "") if "\n" not in inner.strip() else ""
    kept = inner.strip()
    return inner.replace(kept, f"{mark}{kept}{mark}", 1) if mark and kept else inner


def feed(text: str) -> str:
    """The entries of a feed that was saved as a file, each below its title."""
    root = _parsed(text, "a feed")
    if not is_feed(root):
        raise Refused("is no feed that can be read")
    title = next((text_of(element.text or "") for element in root.iter() if _name(element) == "title"), "")
    parts = [f"# {title}"] if title else []
    for entry in read_entries(root):
        at = entry.published.isoformat() if entry.published else ""
        parts += [
            f"## {entry.title or entry.link}",
            " · ".join(filter(None, (at, entry.author, entry.link))),
            entry.body,
        ]
    return "\n\n".join(part for part in parts if part)


def _parsed(text: str, kind: str) -> Element:
    if "<!ENTITY" in text:
        raise Refused("defines XML entities, which are not read")
    try:
        return fromstring(re.sub(r"\A\s*<\?xml[^>]*\?>", "", text.lstrip("\ufeff")))
    except (ParseError, ValueError) as error:
        raise Refused(f"is no {kind.removeprefix('an ').removeprefix('a ')} that can be read ({error})") from error


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]
