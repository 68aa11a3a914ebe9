"""Check the built site: every link within it leads to a page that is there, and to an anchor on that page."""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path("site")


class Page(HTMLParser):
    """The anchors of a page and what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag is called, and where it leads."""
        for name, value in attrs:
            if value is None:
                continue
            if name in {"id", "name"}:
                self.anchors.add(value)
            elif name in {"href", "src"}:
                self.links.append(value)


@cache
def page(path: Path) -> Page:
    """Return a parsed page."""
    parsed = Page()
    parsed.feed(path.read_text(encoding="utf-8"))
    return parsed


def broken(path: Path, link: str) -> bool:
    """Return whether a link of a page leads nowhere within the site; other sites are not asked."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
        return False
    target = path
    if parts.path:
        start = SITE if parts.path.startswith("/") else path.parent
        target = (start / unquote(parts.path).lstrip("/")).resolve()
        target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return True
    anchor = unquote(parts.fragment)
    return bool(anchor) and target.suffix == ".html" and anchor not in page(target).anchors


def main() -> None:
    """Print each broken link, and fail where there is one."""
    pages = [path for path in sorted(SITE.rglob("*.html")) if path.name != "404.html"]
    wrong = [f"{path.relative_to(SITE)}: {link}" for path in pages for link in page(path).links if broken(path, link)]
    if not pages or wrong:
        sys.exit("\n".join(wrong) or f"{SITE}/ has no pages: run  make docs")
    sys.stdout.write(f"{len(pages)} pages, and every link within the site leads somewhere\n")


if __name__ == "__main__":
    main()
