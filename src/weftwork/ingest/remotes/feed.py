"""RSS and Atom feeds: a note for each entry.

A feed lists its latest entries only, so older ones stay. An entry goes where the feed says that it was deleted
(https://www.rfc-editor.org/rfc/rfc6721).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from xml.etree.ElementTree import Element

from weftwork.errors import InvalidInput
from weftwork.ingest.connectors.htmltext import text_of
from weftwork.ingest.remotes.protocol import Address, Mirror, file_name, note
from weftwork.ingest.remotes.web import ask, authorised, parse_xml


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

    @property
    def file(self) -> str:
        """The name of its note."""
        unique = blake2b(self.id.encode(), digest_size=5).hexdigest()
        return f"{file_name(self.title.replace('/', ' ')[:50].strip() or 'entry')}~{unique}.md"

    def note(self) -> bytes:
        """The entry as a Markdown note."""
        fields = {"created": self.published.isoformat() if self.published else None, "author": self.author,
                  "link": self.link, "tags": self.tags}  # fmt: skip
        return note(self.title or self.link or self.id, fields, self.body)


class Feed:
    """A feed at an address."""

    connector = "markdown"

    def __init__(self, address: Address) -> None:
        self._address = address

    def pull(self, mirror: Mirror) -> bool | None:
        """Take the entries that are new or changed; a feed that needs no password is public."""
        known = {"If-None-Match": mirror.state.get("etag"), "If-Modified-Since": mirror.state.get("modified")}
        headers = {name: value for name, value in known.items() if value}
        answer = ask(self._address.url, headers=headers | authorised(self._address))
        if answer.status != 304:
            entries, deleted = read_feed(answer.body)
            notes = {entry.file: (entry, entry.note()) for entry in entries}
            names = mirror.state.setdefault("entries", {})
            for name, (entry, _) in notes.items():
                if (old := names.get(entry.id)) and old != name:
                    mirror.remove(old)
                names[entry.id] = name
                mirror.origins[name] = entry.link
            gone = {names.pop(id) for id in deleted if id in names}
            versions = {name: blake2b(text, digest_size=8).hexdigest() for name, (_, text) in notes.items()}
            listed = {name: version for name, version in (mirror.versions | versions).items() if name not in gone}
            mirror.agree(listed, lambda name: notes[name][1] if name in notes else None)
            mirror.state |= {"etag": answer.headers.get("ETag"), "modified": answer.headers.get("Last-Modified")}
        mirror.save()
        return not self._address.key


def read_feed(content: bytes) -> tuple[list[Entry], list[str]]:
    """The entries of a feed, and the ids of those that it says are deleted."""
    root = parse_xml(content)
    if _name(root) not in ("rss", "RDF", "feed"):
        raise InvalidInput("the address is no feed: give that of its RSS or Atom, or of a calendar or repository")
    entries = [_entry(element) for element in root.iter() if _name(element) in ("item", "entry")]
    deleted = [element.get("ref", "") for element in root.iter() if _name(element) == "deleted-entry"]
    return entries, deleted


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
