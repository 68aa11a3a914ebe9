"""WebDAV folders and CalDAV calendars: the files below an address, compared by their entity tags."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, unquote, urljoin, urlsplit

from weftwork.ingest.events import Skipped
from weftwork.ingest.remotes.protocol import Address, Mirror, file_name
from weftwork.ingest.remotes.web import ask, authorised

DEEPEST = 20
LARGEST = 250_000_000
_LIST = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop>'
    b"<resourcetype/><getetag/><getlastmodified/><getcontentlength/></prop></propfind>"
)
_DAV = "{DAV:}"


class Dav:
    """The files of a WebDAV folder or a CalDAV calendar."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._root = address.url if address.url.endswith("/") else f"{address.url}/"
        self.connector = "calendar" if address.kind == "caldav" else ""
        self._urls: dict[str, str] = {}

    def pull(self, mirror: Mirror) -> bool | None:
        """Copy files with another entity tag; who may read them is not known."""
        listed: dict[str, str] = {}
        for url, version, size in self._files(self._root, 0, set()):
            name = file_name(unquote(urlsplit(url).path).removeprefix(unquote(urlsplit(self._root).path)))
            if self._address.kind == "caldav" and not name.endswith(".ics"):
                name += ".ics"
            if size > LARGEST:
                mirror.skipped.append(Skipped(url, f"is larger than {LARGEST // 1_000_000} MB"))
                continue
            listed[name] = version
            self._urls[name] = mirror.origins[name] = url
        mirror.agree(listed, self._fetch)
        return None

    def _fetch(self, name: str) -> bytes:
        return ask(self._urls[name], headers=authorised(self._address)).body

    def _files(self, folder: str, depth: int, seen: set[str]) -> Iterator[tuple[str, str, int]]:
        """Address, version and size of each file, folder by folder: many servers refuse an infinite depth."""
        seen.add(folder)
        headers = {"Depth": "1", "Content-Type": "application/xml"} | authorised(self._address)
        for response in ask(folder, method="PROPFIND", headers=headers, body=_LIST).xml().iter(f"{_DAV}response"):
            url = urljoin(folder, quote(unquote((response.findtext(f"{_DAV}href") or "").strip()), safe="/:%"))
            if not urlsplit(url).path.startswith(urlsplit(folder).path) or urlsplit(url)[:2] != urlsplit(folder)[:2]:
                continue
            if response.find(f".//{_DAV}collection") is not None:
                below = url if url.endswith("/") else f"{url}/"
                if below not in seen and depth < DEEPEST:
                    yield from self._files(below, depth + 1, seen)
                continue
            found = {name: response.findtext(f".//{_DAV}{name}") or "" for name in
                     ("getetag", "getlastmodified", "getcontentlength")}  # fmt: skip
            size = int(found["getcontentlength"]) if found["getcontentlength"].isdigit() else 0
            version = found["getetag"] or " ".join(filter(None, [found["getlastmodified"], found["getcontentlength"]]))
            yield url, version, size
