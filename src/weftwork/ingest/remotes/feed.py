"""RSS and Atom feeds: a note for each entry.

A feed lists its latest entries only, so older ones stay. An entry goes where the feed says that it was deleted
(https://www.rfc-editor.org/rfc/rfc6721).
"""

from __future__ import annotations

from hashlib import blake2b

from weftwork.errors import InvalidInput
from weftwork.ingest.connectors.feed_entries import Entry, deleted_ids, is_feed, read_entries
from weftwork.ingest.remotes.protocol import Address, Mirror, file_name, note
from weftwork.ingest.remotes.web import ask, authorised, parse_xml


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
            notes = {file_of(entry): (entry, note_of(entry)) for entry in entries}
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
    if not is_feed(root):
        raise InvalidInput("the address is no feed: give that of its RSS or Atom, or of a calendar or repository")
    return read_entries(root), deleted_ids(root)


def file_of(entry: Entry) -> str:
    """The name of an entry's note."""
    unique = blake2b(entry.id.encode(), digest_size=5).hexdigest()
    return f"{file_name(entry.title.replace('/', ' ')[:50].strip() or 'entry')}~{unique}.md"


def note_of(entry: Entry) -> bytes:
    """An entry as a Markdown note."""
    fields = {"created": entry.published.isoformat() if entry.published else None, "author": entry.author,
              "link": entry.link, "tags": entry.tags}  # fmt: skip
    return note(entry.title or entry.link or entry.id, fields, entry.body)
