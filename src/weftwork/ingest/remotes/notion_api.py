"""Notion's API: a note for each page that the integration may read.

https://developers.notion.com/reference/intro
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from weftwork.ingest.remotes.protocol import Address, Mirror, note
from weftwork.ingest.remotes.web import ask, authorised

API = "https://api.notion.com"
VERSION = "2022-06-28"
AT_ONCE = 100
DEEPEST = 10
HEADINGS = {"heading_1": "#", "heading_2": "##", "heading_3": "###"}
MARKS = {"bulleted_list_item": "- ", "numbered_list_item": "1. ", "toggle": "- ", "quote": "> ", "callout": "> "}


class NotionApi:
    """The pages of a workspace: `notion:`, with the token of an integration as key."""

    connector = "markdown"

    def __init__(self, address: Address) -> None:
        self._address = address
        self._api = address.options.get("api", API).rstrip("/")
        self._pages: dict[str, dict[str, Any]] = {}

    def pull(self, mirror: Mirror) -> bool | None:
        """Read the pages that were edited; the API does not say who else may read them."""
        for page in self._listed("POST", "/v1/search", {"filter": {"property": "object", "value": "page"}}):
            if not page.get("archived") and not page.get("in_trash"):
                self._pages[f"{page['id']}.md"] = page
        mirror.origins |= {name: str(page.get("url") or "") for name, page in self._pages.items()}
        mirror.agree({name: str(page["last_edited_time"]) for name, page in self._pages.items()}, self._note)
        return None

    def _note(self, name: str) -> bytes:
        page = self._pages[name]
        properties: dict[str, Any] = page.get("properties") or {}
        title = next((_plain(value["title"]) for value in properties.values() if value.get("type") == "title"), "")
        fields = {key.lower(): _value(value) for key, value in properties.items() if value.get("type") != "title"}
        fields |= {
            "created": page.get("created_time"),
            "link": page.get("url"),
            "aliases": [page["id"].replace("-", "")],
        }
        return note(title or "Untitled", fields, "\n".join(self._blocks(page["id"], 0)))

    def _blocks(self, parent: str, depth: int) -> Iterator[str]:
        for block in self._listed("GET", f"/v1/blocks/{parent}/children", {}):
            kind = str(block.get("type"))
            yield from _lines(kind, block.get(kind) or {}, depth)
            if block.get("has_children") and kind not in ("child_page", "child_database") and depth < DEEPEST:
                yield from self._blocks(block["id"], depth + 1)

    def _listed(self, method: str, path: str, query: dict[str, Any]) -> Iterator[dict[str, Any]]:
        cursor = ""
        headers = {"Notion-Version": VERSION, "Content-Type": "application/json"} | authorised(self._address, "Bearer")
        while True:
            if method == "POST":
                paged = query | {"page_size": AT_ONCE} | ({"start_cursor": cursor} if cursor else {})
                answer = ask(f"{self._api}{path}", method="POST", headers=headers, body=json.dumps(paged).encode())
            else:
                following = f"&start_cursor={cursor}" if cursor else ""
                answer = ask(f"{self._api}{path}?page_size={AT_ONCE}{following}", headers=headers)
            page = answer.json()
            yield from page.get("results", ())
            cursor = str(page.get("next_cursor") or "")
            if not page.get("has_more") or not cursor:
                return


def _lines(kind: str, content: dict[str, Any], depth: int) -> Iterator[str]:
    """The Markdown of one block."""
    indent, text = "  " * depth, _plain(content.get("rich_text") or [])
    if kind in HEADINGS:
        yield f"\n{HEADINGS[kind]} {text}\n"
    elif kind == "to_do":
        yield f"{indent}- [{'x' if content.get('checked') else ' '}] {text}"
    elif kind in MARKS:
        yield f"{indent}{MARKS[kind]}{text}"
    elif kind == "code":
        yield f"\n```{content.get('language') or ''}\n{text}\n```\n"
    elif kind == "child_page":
        yield f"{indent}- [[{content.get('title', '')}]]"
    elif kind == "table_row":
        yield f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in content.get('cells', ()))} |"
    elif kind == "divider":
        yield "\n---\n"
    elif text:
        yield f"\n{indent}{text}\n"


def _plain(texts: list[dict[str, Any]]) -> str:
    return "".join(
        f"[{text.get('plain_text', '')}]({text['href']})" if text.get("href") else str(text.get("plain_text", ""))
        for text in texts
    )


def _value(value: dict[str, Any]) -> Any:
    """The value of a property, as front matter has it."""
    content = value.get(str(value.get("type")))
    if isinstance(content, list):
        return [str(item.get("name") or item.get("plain_text") or item.get("id") or "") for item in content]
    if isinstance(content, dict):
        return content.get("name") or content.get("start") or content.get("string") or content.get("number")
    return content
