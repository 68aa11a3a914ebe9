"""The entries of RSS and Atom feeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from xml.etree.ElementTree import Element

from weftwork.ingest.connectors.htmltext import text_of


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a feed."""

    id: str
    title: str
    link: str
    body: str
    author: str = ""
    published: datetime | None = None
    tags: list[str] = field(default_factory=list)


def is_feed(root: Element) -> bool:
    """Return True for the root element of RSS or Atom."""
    return _name(root) in ("rss", "RDF", "feed")


def read_entries(root: Element) -> list[Entry]:
    """The entries of a feed in the order in which it lists them."""
    return [_entry(element) for element in root.iter() if _name(element) in ("item", "entry")]


def deleted_ids(root: Element) -> list[str]:
    """The ids of the entries that a feed says are deleted."""
    return [element.get("ref", "") for element in root.iter() if _name(element) == "deleted-entry"]


def _entry(element: Element) -> Entry:
    title = text_of(_text(element, "title"))
    link = _text(element, "link") or next((child.get("href", "") for child in _links(element)), "")
    html = next(
        filter(None, (_content(element, name) for name in ("encoded", "content", "description", "summary"))), ""
    )
    author = next((_text(child, "name") or (child.text or "") for child in _named(element, "author", "creator")), "")
    moments = ("published", "pubDate", "date", "updated")
    tags = [(child.get("term") or child.text or "").strip() for child in _named(element, "category")]
    return Entry(
        _text(element, "id") or _text(element, "guid") or link or title,
        title,
        link.strip(),
        text_of(html, markdown=True),
        author.strip(),
        next(filter(None, (_moment(_text(element, name)) for name in moments)), None),
        [tag.replace(" ", "-") for tag in tags if tag],
    )


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _named(element: Element, *names: str) -> Iterator[Element]:
    return (child for child in element if _name(child) in names)


def _links(element: Element) -> Iterator[Element]:
    return (child for child in _named(element, "link") if child.get("rel", "alternate") == "alternate")


def _text(element: Element, name: str) -> str:
    return next(("".join(child.itertext()).strip() for child in _named(element, name)), "")


def _content(element: Element, name: str) -> str:
    """The content of an element, whether HTML stands in it as text or as elements."""
    for child in _named(element, name):
        if len(child):
            return "".join(_markup(inner) for inner in child)
        return child.text or ""
    return ""


def _markup(element: Element) -> str:
    inner = (element.text or "") + "".join(map(_markup, element))
    return f"<{_name(element)}>{inner}</{_name(element)}>{element.tail or ''}"


def _moment(text: str) -> datetime | None:
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return parse(text)
        except (ValueError, TypeError):
            continue
    return None
