"""What notes write inside of a line: links, embeds, tags, block names, fields, and the dates of tasks."""

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
"""What stands between the brackets of a task; anything else is a mark of one's own on an open one."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A link as it is written."""

    target: str
    anchor: str = ""
    label: str = ""
    embed: bool = False
    path: bool = False
    """Whether the target is a path from the note on, not a name."""


@dataclass(slots=True)
class Task:
    """What the text of a list item says of a task."""

    text: str
    fields: dict[str, str] = field(default_factory=dict)


def without_code(text: str) -> str:
    """The text with code left out, in which nothing is a link or a tag."""
    return _CODE.sub(" ", text) if "`" in text or "~~~" in text else text


def references(text: str) -> Iterator[Reference]:
    """Links to other notes and files, in a text without code."""
    if "[" not in text:
        return
    for found in _WIKI.finditer(text):
        named, _, label = found.group(2).replace("\\|", "|").partition("|")
        target, _, anchor = named.partition("#")
        if target.strip() or anchor.strip():
            yield Reference(target.strip(), _last(anchor), label.strip(), found.group(1) == "!")
    for found in _MARKDOWN.finditer(text):
        address = found.group(3).strip("<>")
        if not address or _REMOTE.match(address):
            continue
        target, _, anchor = address.partition("#")
        target, anchor = unquote(target.partition("?")[0]), unquote(anchor)
        if target or anchor:
            yield Reference(target, _last(anchor), found.group(2).strip(), found.group(1) == "!", path=True)


def tags(text: str) -> list[str]:
    """Tags in a text without code: at least one character of each is no digit."""
    if "#" not in text:
        return []
    readable = _MARKDOWN.sub(" ", _WIKI.sub(" ", text))
    found = (match.group(1).strip("/") for match in _TAG.finditer(readable))
    return list(dict.fromkeys(tag for tag in found if tag and not tag.isdigit()))


def block_name(text: str) -> str:
    """The name that a block gives itself at its end, `^name`."""
    found = _BLOCK.search(text)
    return found.group(1) if found else ""


def line_fields(text: str) -> dict[str, str]:
    """Fields on lines of their own, `name:: value`, in a text without code."""
    return {name.strip(): value.strip() for name, value in _LINE_FIELD.findall(text)} if "::" in text else {}


def task(text: str) -> Task | None:
    """The task that a list item is, with its dates; None if it is none."""
    found = _TASK.match(text)
    if not found:
        return None
    mark = found.group(1)
    told = Task(text[found.end() :], {"status": STATUS.get(mark, "open")})
    if mark not in STATUS:
        told.fields["mark"] = mark
    told.text = _DATED.sub(lambda match: _dated(told, _EMOJI[match.group(1)], match), told.text)
    told.text = _FIELD.sub(lambda match: _named(told, match), told.text)
    told.text = _PRIORITIES.sub(lambda match: _keep(told, "priority", _PRIORITY[match.group(1)]), told.text)
    told.text = _REPEAT.sub(lambda match: _keep(told, "repeat", match.group(1).strip()), told.text)
    told.text = _BLOCK.sub("", re.sub(r"[ \t]{2,}", " ", told.text)).strip()
    return told


def _dated(told: Task, name: str, match: re.Match[str]) -> str:
    try:
        date.fromisoformat(match.group(2))
    except ValueError:
        return match.group(0)
    return _keep(told, name, match.group(2))


def _named(told: Task, match: re.Match[str]) -> str:
    return _keep(told, match.group(1).strip().lower(), match.group(2).strip())


def _keep(told: Task, name: str, value: str) -> str:
    told.fields.setdefault(name, value)
    return " "


def _last(anchor: str) -> str:
    """Of a path of headings, the last."""
    return anchor.rpartition("#")[2].strip()
