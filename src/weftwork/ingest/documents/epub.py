"""EPUB: a page for each chapter, in reading order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from weftwork.ingest.documents.archive import open_archive
from weftwork.ingest.documents.html import PAGE_END, as_pages, markdown_of
from weftwork.ingest.documents.values import Parsed, Tools, Unreadable

CONTAINER = "META-INF/container.xml"
_PARSER = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}


def read_epub(path: Path, tools: Tools) -> Parsed:
    """The chapters of a book that have text or pictures."""
    with open_archive(path, tools.limits) as archive:
        if "META-INF/encryption.xml" in archive.namelist() and "META-INF/rights.xml" in archive.namelist():
            raise Unreadable("is protected against copying")
        try:
            chapters = as_pages(
                [markdown_of(archive.read(name)).replace(PAGE_END, "") for name in _spine(archive)], unit="chapter"
            )
        except (etree.LxmlError, KeyError, ValueError) as error:
            raise Unreadable(f"is no book that can be read ({error})") from error
    if not chapters:
        raise Unreadable("has no text")
    return Parsed(len(chapters), iter(chapters))


def _spine(archive: ZipFile) -> Iterator[str]:
    """Names of the chapters' files, in order."""
    container = etree.fromstring(archive.read(CONTAINER), etree.XMLParser(**_PARSER))
    package = container.xpath("string(//*[local-name()='rootfile']/@full-path)")
    book = etree.fromstring(archive.read(package), etree.XMLParser(**_PARSER))
    items = {item.get("id"): item for item in book.xpath("//*[local-name()='manifest']/*[local-name()='item']")}
    present = set(archive.namelist())
    for reference in book.xpath("//*[local-name()='spine']/*[local-name()='itemref']/@idref"):
        item = items.get(reference)
        if item is not None and "html" in (item.get("media-type") or "html"):
            name = normpath(join(dirname(package), unquote(item.get("href") or "").partition("#")[0]))
            if name in present:
                yield name
