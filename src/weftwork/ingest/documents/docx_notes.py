"""Check boxes, footnotes and comments of a DOCX, moved to where a reader meets them."""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup

BLOCKS = ("p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6")
KINDS = ("footnote", "endnote", "comment")


def with_notes(html: str) -> str:
    """The HTML that mammoth makes, with check boxes as text and each note below the paragraph that refers to it."""
    if "<input" not in html and "<sup>" not in html:
        return html
    soup = BeautifulSoup(html, "lxml")
    for box in soup.find_all("input", type="checkbox"):
        box.replace_with("[x] " if box.has_attr("checked") else "[ ] ")
    places: dict[int, Any] = {}
    for link in soup.select(", ".join(f'sup > a[href^="#{kind}-"]' for kind in KINDS)):
        note = soup.find(id=link["href"][1:])
        if note is not None:
            block = link.find_parent(BLOCKS) or link.parent
            places[id(block)] = _put(soup, _note(note, link), places.get(id(block), block))
    for note in soup.select(", ".join(f'li[id^="{kind}-"], dt[id^="{kind}-"]' for kind in KINDS)):
        around, body = note.parent, note.find_next_sibling("dd")
        if note.name == "dt" and body is not None:
            body.decompose()
        note.decompose()
        if around is not None and not around.find(True):
            around.decompose()
    return str(soup)


def _note(note: Any, link: Any) -> str:
    """The text of a note; the link to it becomes its mark."""
    mark = link.get_text().strip("[]")
    if note.name == "dt":
        link.parent.decompose()
        body = note.find_next_sibling("dd")
        return f"[Comment {mark}: {_text(body)}]" if body is not None else ""
    link.parent.replace_with(f"[^{mark}]")
    return f"[^{mark}]: {_text(note)}"


def _text(note: Any) -> str:
    for back in note.select('a[href*="-ref-"]'):
        back.decompose()
    return " ".join(note.get_text(" ").split())


def _put(soup: Any, text: str, block: Any) -> Any:
    """Add a paragraph below a block, or at the end of a cell or an item; return where the next one goes."""
    paragraph = soup.new_tag("p")
    paragraph.string = text
    if block.name in ("td", "th", "li"):
        block.append(paragraph)
        return block
    block.insert_after(paragraph)
    return paragraph
