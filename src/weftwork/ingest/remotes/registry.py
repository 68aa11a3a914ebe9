"""The remotes by the addresses that people write."""

from __future__ import annotations

from importlib import import_module
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from weftwork.errors import InvalidInput
from weftwork.ingest.remotes.protocol import Address, Remote

REMOTES = {
    "feed": "feed:Feed",
    "git": "git:Git",
    "imap": "imap:Imap",
    "webdav": "dav:Dav",
    "caldav": "dav:Dav",
    "ics": "ics:Ics",
    "s3": "s3:S3",
    "github": "github:GitHub",
    "notion": "notion_api:NotionApi",
}
OWN_OPTIONS = {"git": ("branch",), "s3": ("endpoint", "region"), "github": ("api",), "notion": ("api",)}
"""Parts of a query that are for us, not for the server."""
SCHEMES = {"webcal": ("ics", "https"), "webdav": ("webdav", "http"), "webdavs": ("webdav", "https"),
           "caldav": ("caldav", "http"), "caldavs": ("caldav", "https"), "imap": ("imap", "imap"),
           "imaps": ("imap", "imaps"), "s3": ("s3", "s3"), "git": ("git", "git"), "ssh": ("git", "ssh")}  # fmt: skip


def is_address(text: str) -> bool:
    """Return True for what is no path: `https://…`, `github:…`."""
    return "://" in text or (text.partition(":")[0] in ("github", "notion") and ":" in text)


def parse_address(text: str, key: str = "") -> Address:
    """The address of a live source: its kind stands before a `+`, or shows by the rest."""
    scheme, colon, rest = text.partition(":")
    kind, plus, inner = scheme.partition("+")
    if not colon:
        raise InvalidInput(f"{text!r} is no address: write  https://…, github:OWNER/NAME …")
    if scheme in ("github", "notion"):
        path, _, query = rest.partition("?")
        return Address(scheme, path, key=key, options=dict(parse_qsl(query)))
    if plus and kind in REMOTES:
        return _parsed(kind, f"{inner}:{rest}", key)
    if scheme in SCHEMES:
        kind, inner = SCHEMES[scheme]
        return _parsed(kind, f"{inner}:{rest}", key)
    if scheme not in ("http", "https"):
        raise InvalidInput(f"{text!r} is of no kind that is known: write one of  {', '.join(sorted(REMOTES))}  and +")
    path = urlsplit(text).path
    return _parsed("git" if path.endswith(".git") else "ics" if path.endswith(".ics") else "feed", text, key)


def uses_key(address: Address) -> bool:
    """Return True if a password is meant for an address: it names a user, or is of a kind that has tokens."""
    return bool(address.user) or address.kind in ("s3", "github", "notion")


def _parsed(kind: str, url: str, key: str) -> Address:
    parts = urlsplit(url)
    own = OWN_OPTIONS.get(kind, ())
    query = parse_qsl(parts.query, keep_blank_values=True)
    if parts.password:
        raise InvalidInput("the address has a password in it, which others may see: set WEFTWORK_SOURCE_KEY instead")
    host = parts.netloc.rpartition("@")[2]
    kept = parts.query if not own else urlencode([(name, value) for name, value in query if name not in own])
    options = {name: value for name, value in query if name in own}
    return Address(kind, urlunsplit((parts.scheme, host, parts.path, kept, "")), parts.username or "", key, options)


def remote_for(address: Address) -> Remote:
    """The remote that reads an address."""
    module, _, name = REMOTES[address.kind].partition(":")
    remote: Remote = getattr(import_module(f"weftwork.ingest.remotes.{module}"), name)(address)
    return remote
