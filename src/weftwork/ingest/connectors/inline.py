"""Inline syntax of notes: links, embeds, tags, block names, fields, and the dates of tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from urllib.parse import unquote

_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)[ \t]*$|\Z)|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`)", re.S | re.M
)
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]+?)\]\]")
_MARKDOWN = re.compile(
    r"(!?)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(\s*(<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+[\"'(][^\n]*?)?\s*\)"
)
_REMOTE = re.compile(r"^(?:[a-zA-Z][a-zA-Z0-9+.\-]*:|//)")
_TAG = re.compile(r"(?<!\S)#([^\s\u0000-,.:-@\[-^`{-~\u2000-\u206f\u3000-\u303f]+)")
_BLOCK = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*\Z")
_TASK = re.compile(r"\A\[(.)\](?:\s+|\Z)")
_FIELD = re.compile(r"[\[(]([\w][\w \-]{0,40})::[ \t]*([^\[\]()\n]*)[\])]")
_INLINE_FIELD = re.compile(r"[\[(]([^\W\d_][\w \-]{0,40})::[ \t]+([^\[\]()\n]+)[\])]")
_LINE_FIELD = re.compile(r"^([^\W\d_][\w \-]{0,40})::[ \t]+(\S.*)$", re.M)
_EMOJI = {
    "📅": "due", "📆": "due", "🗓": "due", "⏳": "scheduled", "⌛": "scheduled", "🛫": "start", "✅": "completion",
    "❌": "cancelled", "➕": "created",
}  # fmt: skip
_DATED = re.compile(f"([{''.join(_EMOJI)}])\ufe0f?\\s*(\\d{{4}}-\\d{{2}}-\\d{{2}})")
_PRIORITY = {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}
_PRIORITIES = re.compile(f"([{''.join(_PRIORITY)}])\ufe0f?")
_REPEAT = re.compile("🔁\ufe0f?\\s*([a-zA-Z0-9 ,]+)")
STATUS = {" ": "open", "x": "done", "X": "done", "-": "cancelled", "/": "in progress"}
"""Status by the mark between the brackets of a task; any other mark is an open task."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A link as written."""

    target: str
    anchor: str = ""
    label: str = ""
    embed: bool = False
    path: bool = False
    """The target is a path relative to the note, not a name."""


@dataclass(slots=True)
class Task:
    """The text and fields of a task."""

    text: str
    fields: dict[str, str] = field(default_factory=dict)


def without_code(text: str) -> str:
    """The text without code, in which nothing is a link or a tag."""
    return _CODE.sub(" ", text) if "`" in text or "~~~" in text else text


def references(text: str) -> Iterator[Reference]:
    """Links to other notes and files, in a text without code."""
    if "[" not in text:
        return
    for match in _WIKI.finditer(text) if "[[" in text else ():
        named, _, label = match.group(2).replace("\\|", "|").partition("|")
        target, _, anchor = named.partition("#")
        if target.strip() or anchor.strip():
            yield Reference(target.strip(), _last(anchor), label.strip(), match.group(1) == "!")
    for match in _MARKDOWN.finditer(text) if "](" in text else ():
        address = match.group(3).strip("<>")
        if not address or _REMOTE.match(address):
            continue
        target, _, anchor = address.partition("#")
        target, anchor = unquote(target.partition("?")[0]), unquote(anchor)
        if target or anchor:
            yield Reference(target, _last(anchor), match.group(2).strip(), match.group(1) == "!", path=True)


def tags(text: str) -> list[str]:
    """Tags in a text without code; a number alone is no tag."""
    if "#" not in text:
        return []
    readable = _MARKDOWN.sub(" ", _WIKI.sub(" ", text))
    names = (match.group(1).strip("/") for match in _TAG.finditer(readable))
    return list(dict.fromkeys(tag for tag in names if tag and not tag.isdigit()))


def block_name(text: str) -> str:
    """The `^name` at the end of a block."""
    match = _BLOCK.search(text) if "^" in text else None
    return match.group(1) if match else ""


def line_fields(text: str) -> dict[str, str]:
    """Fields on lines of their own, `name:: value`, in a text without code."""
    return {name.strip(): value.strip() for name, value in _LINE_FIELD.findall(text)} if "::" in text else {}


def bracketed_fields(text: str) -> dict[str, str]:
    """Fields within a text without code, `[name:: value]` or `(name:: value)`."""
    return {name.strip(): value.strip() for name, value in _INLINE_FIELD.findall(text)} if ":: " in text else {}


def task(text: str) -> Task | None:
    """Parse a list item as a task with its dates; None if it is none."""
    box = _TASK.match(text)
    if not box:
        return None
    mark = box.group(1)
    result = Task(text[box.end() :], {"status": STATUS.get(mark, "open")})
    if mark not in STATUS:
        result.fields["mark"] = mark
    result.text = _DATED.sub(lambda match: _dated(result, _EMOJI[match.group(1)], match), result.text)
    result.text = _FIELD.sub(lambda match: _named(result, match), result.text)
    result.text = _PRIORITIES.sub(lambda match: _keep(result, "priority", _PRIORITY[match.group(1)]), result.text)
    result.text = _REPEAT.sub(lambda match: _keep(result, "repeat", match.group(1).strip()), result.text)
    result.text = _BLOCK.sub("", re.sub(r"[ \t]{2,}", " ", result.text)).strip()
    return result


def _dated(result: Task, name: str, match: re.Match[str]) -> str:
    try:
        date.fromisoformat(match.group(2))
    except ValueError:
        return match.group(0)
    return _keep(result, name, match.group(2))


def _named(result: Task, match: re.Match[str]) -> str:
    return _keep(result, match.group(1).strip().lower(), match.group(2).strip())


def _keep(result: Task, name: str, value: str) -> str:
    result.fields.setdefault(name, value)
    return " "


def _last(anchor: str) -> str:
    """The last heading of a path of headings."""
    return anchor.rpartition("#")[2].strip()
