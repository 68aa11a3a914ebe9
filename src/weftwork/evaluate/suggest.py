"""Draft questions from titles and headings, for someone to rewrite in their own words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from weftwork.evaluate.questions import Question
from weftwork.store.protocol import View
from weftwork.types import Filters, Node

LEAST = 80
"""Characters below which a text answers nothing."""
MANY = 1_000_000
_BATCH = 500
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>\S.*?)[ \t#]*$\n+(?P<text>[^#\n].*)$", re.MULTILINE)
_WORD = re.compile(r"\w{2,}")
_QUESTION = re.compile(r"(how|what|when|where|which|who|why)\b", re.IGNORECASE)


def suggest(view: View, count: int, *, types: frozenset[str] = frozenset(), seed: int = 1) -> list[Question]:
    """Draw `count` drafts from all that the viewer may see; deterministic for a seed."""
    names = sorted(node.id for node in view.select(Filters(types=types), limit=MANY))
    random.Random(seed).shuffle(names)
    found: dict[str, Question] = {}
    for start in range(0, len(names), _BATCH):
        for node in view.nodes(names[start : start + _BATCH]):
            for draft in drafts(node):
                found.setdefault(draft.query.casefold(), draft)
            if len(found) >= count:
                return list(found.values())[:count]
    return list(found.values())


def drafts(node: Node) -> Iterator[Question]:
    """The drafts for a node: at most one about its title and one about a heading in it."""
    title = " ".join(node.title.split())
    if len(_WORD.findall(title)) >= 2 and len(node.text.strip()) >= LEAST:
        yield Question(node.id, _asked(title), wanted=(node.id,))
    heading = next((match for match in _HEADING.finditer(node.text) if _WORD.search(match["title"])), None)
    if heading is not None and heading["title"].strip().casefold() != title.casefold():
        named = f"{title}: {heading['title'].strip()}" if title else heading["title"].strip()
        yield Question(f"{node.id} / {heading['title'].strip()}", _asked(named), (), (heading["text"].strip(),))


def _asked(title: str) -> str:
    if title.endswith("?"):
        return title
    return f"{title}?" if _QUESTION.match(title) else f"What do we know about {title}?"
