"""Links by reference in Markdown, `[text][name]` and `[name]: target`, written as links with their targets.

A definition is no content: nobody sees it. The target of a link is, so it moves to where it is used. Definitions that
Foam writes for its `[[names]]` are used by nothing and go.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from markdown_it.common.utils import normalizeReference

_REMOTE = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.\-]*:|//)")
_LINE = re.compile(r"[ \t>]*\[[^\]]+\]:")
_USED = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?<![\[\\\]])\[(?P<text>(?:[^\[\]\\]|\\.|!\[[^\[\]]*\](?:\([^()]*\))?)*)\](?:\[(?P<name>[^\[\]]*)\])?(?![\[(\]:])",
    re.S,
)


def targets_of(parsed: Mapping[str, Any]) -> dict[str, str]:
    """The targets that markdown-it found, by their normalised names; a footnote is no target."""
    references: Mapping[str, Mapping[str, str]] = parsed.get("references", {})
    return {name: _readable(found["href"]) for name, found in references.items() if not name.startswith("^")}


def _readable(target: str) -> str:
    return target if _REMOTE.match(target) else unquote(target)


def without_definitions(text: str, parsed: Mapping[str, Any], code: Sequence[tuple[int, int]]) -> str:
    """The text without definitions that it uses, or that only a program uses: those of files.

    An address that nothing refers to stays, since nothing else in the text says it.
    """
    targets = targets_of(parsed)
    used = {name for match in _USED.finditer(text) if (name := _name_of(match, targets, code))}
    used |= {name for name, target in targets.items() if not _REMOTE.match(target)}
    lines = text.split("\n")
    doomed: set[int] = set()
    for name, reference in _definitions(parsed):
        first, last = reference.get("map") or (0, 0)
        if first < last and name in used and _LINE.match(lines[first]):
            doomed.update(range(first, last))
    return "\n".join(line for number, line in enumerate(lines) if number not in doomed)


def _definitions(parsed: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from parsed.get("references", {}).items()
    for reference in parsed.get("duplicate_refs", ()):
        yield normalizeReference(reference.get("label", "")), reference


def inlined(text: str, targets: Mapping[str, str], code: Sequence[tuple[int, int]]) -> str:
    """The text with links by reference written inline; `code` are the spans of its code blocks, in order."""

    def written(match: re.Match[str]) -> str:
        name = _name_of(match, targets, code)
        return f"[{match['text']}]({_destination(targets[name])})" if name else match[0]

    return _USED.sub(written, text)


def _name_of(match: re.Match[str], targets: Mapping[str, str], code: Sequence[tuple[int, int]]) -> str:
    """The normalised name that a link uses; empty for brackets that are no link, and in code."""
    label = match["name"] or match["text"]
    block = bisect(code, (match.start(), len(match.string))) - 1
    if not label or match["code"] or (block >= 0 and match.start() < code[block][1]):
        return ""
    name: str = normalizeReference(label)
    return name if name in targets else ""


def _destination(target: str) -> str:
    return f"<{target}>" if re.search(r"[\s()]", target) else target
