"""Workspace content is data: nothing in it may read as the structure of the text around it.

`docs/decisions/0007-quoting.md` says why each rule is as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

# Every character at which some reader starts a new line; "\x1c" to "\x1e" fall under the controls.
_BREAKS = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
# Controls, and the tag and variation characters that carry text nobody sees.
_DROPPED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\U000e0000-\U000e0fff]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_FORMAT = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_FORMATTING = re.compile(f"[{_FORMAT}]")
# Variation selectors and fillers too: emoji and old scripts need them, but a mark is no less one for having them.
_INVISIBLE = _FORMAT + "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0"
_UNSEEN = re.compile(f"[{_INVISIBLE}]")
# Characters that nobody sees and no script needs in such numbers: they carry text for machines alone.
_SMUGGLED = re.compile("[\u2061-\u2064]+|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+")
# Most titles are words with single spaces: they need no further look.
_WORDS = re.compile(r"[^\W_]\w*(?:[ ,.()'/&+-]{1,2}\w+)*")
_NEUTRAL = str.maketrans("[]【】［］⁅⁆〚〛`｀|｜<>＜＞", "()()()()()''¦¦‹›‹›")
_TAG = re.compile(r"(?<!\S)[#＃](?=[^\W\d])")

# Every repetition is possessive: what it took is never given back, so that the time is linear.
_STRUCTURE = re.compile(
    rf"""(?P<indent>[\s{_INVISIBLE}]*+)
    (?=   \#|\[(?!…\][ \t]*+\Z)                              # a heading; a header or a citation, but no gap
        | <[a-z/!?|]                                         # a tag
        | ```|~~~                                            # a fence
        | (?P<rule>[-=*_])(?:[ \t]*+(?P=rule))*+[ \t]*+\Z     # a rule, or the line under a heading
        | [*_]*+\s*+(?:user\s++query|user|assistant|system|human|developer)\s*+[*_]*+\s*+: # a turn of the conversation
    )""",
    re.VERBOSE | re.IGNORECASE,
)
# Only at the left edge: an indented fence may belong to a list, which the next line can end.
_OPENING = re.compile(r"(`{3,})[^`]*\Z|(~{3,})")
_LIST_MARKS = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+")
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*\Z")
_MARKS = frozenset("#[<`~-=*_uashd")
"""The first characters of structure, folded."""
_BACKTICKS = re.compile("`+")
_NOT_INFO = re.compile(r"[^\w+.#-]+")
# What Weftwork writes as `[k482913]`, in any way that a reader or the check of an answer might take for it. No bracket
# looks past the next one, so that the time is linear.
_ID = rf"[^\W\d_](?:[{_INVISIBLE}]*+\d){{6,12}}[{_INVISIBLE}]*+(?![\w-])"
_CITATION = re.compile(rf"[\[【［](?=(?:(?![\[\]【】［］])[\W_{_INVISIBLE}])*+{_ID})")
_ID_FIRST = re.compile(rf"(?:(?![()])[\W_{_INVISIBLE}])*+{_ID}")
_REMARK = re.compile(
    rf"[\s{_INVISIBLE}]+".join(f"[{_INVISIBLE}]*".join(word) for word in "contradicts what was said on".split()),
    re.IGNORECASE,
)


def clean(text: str) -> str:
    """Remove control characters and hidden tags, and make all line breaks "\\n"."""
    if not _is_plain(text):
        text = writable(_DROPPED.sub("", _BREAKS.sub("\n", text)))
    return text if text.isascii() else _SMUGGLED.sub("", text)


def _is_plain(text: str) -> bool:
    """Return True if every character is printable.

    This is ten times faster than searching for others, and true of nearly every text.
    """
    return text.replace("\n", "").replace("\t", "").isprintable()


def writable(text: str) -> str:
    """The text with each lone surrogate, which UTF-8 cannot hold, replaced."""
    return _SURROGATES.sub("\ufffd", text)


def guard(line: str) -> str:
    """The line, with a backslash before its first mark if it could be taken for structure."""
    if line.isascii():
        structure = _STRUCTURE.match(line)
        return f"{line[: structure.end()]}\\{line[structure.end() :]}" if structure else line
    start = next((place for place, character in enumerate(line) if not _is_blank(character)), len(line))
    folded = normalize("NFKC", line[start : start + 1]).lower()[:1]
    if (
        folded not in _MARKS
        or line[start:].rstrip(" \t") == "[…]"
        or not _STRUCTURE.match(_UNSEEN.sub("", normalize("NFKC", line)))
    ):
        return line
    return f"{line[:start]}\\{line[start:]}"


def _is_blank(character: str) -> bool:
    return character.isspace() or _UNSEEN.match(character) is not None


def disown(text: str) -> str:
    """Put a backslash before what only Weftwork itself writes: citations and remarks on sources."""
    return _REMARK.sub(r"\\\g<0>", _CITATION.sub(r"\\\g<0>", text))


def in_brackets(name: str) -> str:
    """A name for use between brackets, with a backslash before it if it would read as a citation."""
    return f"\\{name}" if _ID_FIRST.match(name) else name


@lru_cache(maxsize=8192)
def inline(text: str, limit: int = 200) -> str:
    """A title, tag, path or value as a part of one line; the same few come up again and again."""
    if len(text) <= limit and "  " not in text and _WORDS.fullmatch(text):
        return text
    visible = _FORMATTING.sub("", clean(text)).translate(_NEUTRAL)
    line = guard(_TAG.sub(r"\\\g<0>", " ".join(visible.split())))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def fence(text: str, info: str = "") -> str:
    """The content between two fences that are longer than any run of backticks in it."""
    content = clean(text)
    runs = [len(run) for run in _BACKTICKS.findall(content)] if "`" in content else []
    marks = "`" * max(3, 1 + max(runs, default=0))
    end = "" if not content or content.endswith("\n") else "\n"
    return f"{marks}{_NOT_INFO.sub('', info)}\n{content}{end}{marks}\n"


def cite(text: str) -> str:
    """One line of content behind a mark that no content can take away; several between fences."""
    content = clean(text)
    return fence(content) if "\n" in content else f"> {guard(content)}\n"


def plain(text: str, guards: str = "") -> str:
    """The content as it is, with a backslash before each match of a regular expression."""
    content = clean(text)
    return re.sub(guards, r"\\\g<0>", content) if guards else content


def escape(text: str, *, block: bool = True, own: re.Pattern[str] | None = None) -> str:
    """The content with every line that could be taken for structure guarded.

    `block` says that the content begins and ends on lines of its own. Only then can its code fences
    stay; one that is left open is closed. Lines that begin with a match of `own` stay as they are.
    """
    lines: list[str] = []
    opened = ""
    for line in clean(text).split("\n"):
        begins = _OPENING.match(line) if block and not opened else None
        if opened or begins or (own is not None and own.match(line)):
            lines.append(line)
        else:
            lines.append(guard(line))
        if begins:
            opened = begins[1] or begins[2]
        elif opened and closes(line, opened):
            opened = ""
    return "\n".join([*lines, opened] if opened else lines)


def longer_fence(mark: str, text: str) -> str:
    """The fence as long as it takes to hold a text: longer than any run of the same character in it."""
    runs = [len(run) for run in re.findall(f"{re.escape(mark[0])}+", text)]
    return mark[0] * max(len(mark), 1 + max(runs, default=0))


def closes(line: str, opened: str) -> bool:
    """Return True if a line ends the code fence with this mark."""
    closing = _CLOSING.match(line)
    return closing is not None and closing[1].startswith(opened)


def open_fence(text: str, opened: str = "") -> str:
    """The mark of the code fence that is open after a text, given the one that was open before it."""
    for line in map(str.strip, text.split("\n")) if "```" in text or "~~~" in text else ():
        begins = _OPENING.match(_LIST_MARKS.sub("", line))
        if not opened and begins:
            opened = begins[1] or begins[2]
        elif opened and closes(line, opened):
            opened = ""
    return opened
