"""Source code split along its structure: files, classes and functions by their qualified names."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weftwork.ingest.connectors.folders import FoundFile
from weftwork.ingest.connectors.plain import modified, path_names, source_of
from weftwork.ingest.connectors.protocol import Source, Yielded
from weftwork.ingest.events import Skipped
from weftwork.ingest.files import shown
from weftwork.types import Node

BRACES = frozenset(
    "js jsx mjs cjs ts tsx java c h cc cpp cxx hpp cs go rs php swift kt kts scala dart m mm groovy zig proto".split()
)
"""Languages whose blocks stand in braces."""
MARGIN = frozenset("rb lua sh bash zsh fish pl pm r jl ex exs erl hs ml fs clj el sql nim vb ps1 tcl".split())
"""Languages in which a definition begins at the margin."""
LONG_CLASS = 40
"""Lines above which what stands in a class is split from it."""
_NAMED = re.compile(
    r"\b(?:class|interface|struct|enum|union|trait|impl(?:\s*<[^>]*>)?|namespace|module|object|record|protocol|extension|"
    r"message|service|function\*?|fn|func|fun|def|defp|defmodule|sub|type|macro_rules!)\s+(?:\([^)]*\)\s*)?([\w$.:]+)"
)
_ASSIGNED = re.compile(r"\b(?:const|let|var)\s+([\w$]+)\s*[:=]")
_CALLED = re.compile(r"([\w$~:]+)\s*\([^;{}]*\)[^;{}()]*$", re.DOTALL)
_CONTROL = frozenset("if for while switch catch return else do try with using lock foreach when unless".split())
_GROUP = re.compile(r"\b(?:class|interface|struct|trait|impl|namespace|module|object|enum|extension|protocol)\b")
_AT_MARGIN = re.compile(
    r"^(?:local\s+|export\s+|pub\s+|async\s+|private\s+)*(?:def|defp|defmodule|class|module|function|sub|fn|proc|func|"
    r"create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|index|trigger))\s+[\w$.:\"]+|^[\w-]+\s*\(\)\s*\{",
    re.IGNORECASE,
)
_LITERAL = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[{}]|\n", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Part:
    """A range of lines, the end excluded, with the parts inside it."""

    name: str
    start: int
    end: int
    inner: tuple[Part, ...] = ()


def is_code(path: Path) -> bool:
    """Return True for source code that can be split."""
    extension = path.suffix.lower().removeprefix(".")
    return extension in ("py", "pyi") or extension in BRACES or extension in MARGIN


def code_source(file: FoundFile) -> Source | Skipped:
    """The source of a file of code."""
    return source_of(file, "file", _read)


def _read(file: FoundFile, source_id: str) -> Iterator[Yielded]:
    text = file.text()
    lines = text.split("\n")
    parts = split_code(text, file.path.suffix.lower().removeprefix("."))
    module = shown(file.path.resolve().parent.name if file.path.stem == "__init__" else file.path.stem)
    seen: Counter[str] = Counter()
    top = Node(
        id=source_id, type="file", title=shown(file.path.name), text=_outside(lines, 0, len(lines), parts),
        source=shown(str(file.path)), parent=file.parent, position=file.position, updated_at=modified(file),
    )  # fmt: skip
    yield top
    yield from path_names(source_id, file.key)
    waiting = [(source_id, module, part) for part in parts][::-1]
    while waiting:
        above, prefix, part = waiting.pop()
        qualified = f"{prefix}.{part.name}"
        local = qualified.removeprefix(f"{module}.")
        seen[local] += 1
        node = f"{source_id}#{local}" if seen[local] == 1 else f"{source_id}#{local}.{seen[local]}"
        yield replace(
            top, id=node, type="code", title=qualified, text=_outside(lines, part.start, part.end, part.inner),
            parent=above, position=part.start + 1, fields={"line": part.start + 1},
        )  # fmt: skip
        waiting += [(node, qualified, inner) for inner in part.inner][::-1]


def _outside(lines: Sequence[str], start: int, end: int, inner: Sequence[Part]) -> str:
    """The lines of a part without those of its inner parts."""
    outside: list[str] = []
    for part in (*inner, Part("", end, end)):
        outside += lines[start : part.start]
        start = part.end
    return "\n".join(outside).strip("\n")


def split_code(text: str, extension: str) -> tuple[Part, ...]:
    """Split a file into parts; empty if that fails."""
    if extension in ("py", "pyi"):
        return _python(text)
    return _braces(text) if extension in BRACES else _margin(text)


def _python(text: str) -> tuple[Part, ...]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a linter would say of the code is not asked here
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _margin(text)
    if "\r" in text.replace("\r\n", "\n"):  # such lines are counted differently
        return ()
    return _definitions(module.body, text.split("\n"), 0)


def _definitions(body: Sequence[ast.stmt], lines: Sequence[str], floor: int) -> tuple[Part, ...]:
    """Functions and classes with the comments and decorators above them; methods are inside classes."""
    parts = []
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)]) - 1
            while first > floor and lines[first - 1].lstrip().startswith("#"):
                first -= 1
            end = statement.end_lineno or statement.lineno
            is_class = isinstance(statement, ast.ClassDef)
            inner = _definitions(statement.body, lines, statement.lineno) if is_class else ()
            parts.append(Part(statement.name, first, end, inner))
        floor = statement.end_lineno or floor
    return tuple(parts)


def _braces(text: str) -> tuple[Part, ...]:
    """Blocks at the top, and those inside long classes, by their braces."""
    lines = text.split("\n")
    return _at_depth(lines, _brace_lines(text), 1, 0, len(lines))


def _brace_lines(text: str) -> list[tuple[int, int, int]]:
    """Blocks as (depth, opening line, closing line); braces in strings and comments do not count."""
    open_at: list[int] = []
    blocks: list[tuple[int, int, int]] = []
    line = 0
    for mark in _LITERAL.finditer(text):
        if mark[0] == "{":
            open_at.append(line)
        elif mark[0] == "}" and open_at:
            blocks.append((len(open_at), open_at.pop(), line))
        line += mark[0].count("\n")
    return sorted(blocks, key=lambda block: (block[1], block[0]))


def _at_depth(
    lines: Sequence[str], blocks: Sequence[tuple[int, int, int]], depth: int, start: int, end: int
) -> tuple[Part, ...]:
    parts, floor = [], start
    for _, opens, closes in (block for block in blocks if block[0] == depth and start <= block[1] and block[2] < end):
        if opens < floor:
            continue
        first = _head(lines, opens, floor)
        head = _bare("\n".join(lines[first : opens + 1])).split("{")[0]
        name = _name(head)
        if not name:
            continue
        groups = _GROUP.search(head) and closes - opens > LONG_CLASS and depth < 4
        inner = _at_depth(lines, blocks, depth + 1, opens + 1, closes) if groups else ()
        parts.append(Part(name, first, closes + 1, inner))
        floor = closes + 1
    return tuple(parts)


def _head(lines: Sequence[str], opens: int, floor: int) -> int:
    """The first line of a brace's statement, with the comments above it."""
    first = opens
    while first > floor and lines[first - 1].strip() and not lines[first - 1].rstrip().endswith((";", "}", "{")):
        first -= 1
    return first


def _name(head: str) -> str:
    """The name that a block defines; empty if it is no definition."""
    for pattern in (_NAMED, _ASSIGNED, _CALLED):
        match = pattern.search(head)
        if match and match[1] not in _CONTROL:
            return match[1].strip(":.") or ""
    return ""


def _bare(code: str) -> str:
    """Code without strings and comments."""
    return _LITERAL.sub(lambda mark: mark[0] if mark[0] in "{}\n" else " ", code)


def _margin(text: str) -> tuple[Part, ...]:
    """Definitions that begin at the margin, each up to the next."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _AT_MARGIN.match(line)]
    if not starts:
        return ()
    parts = []
    for number, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        words = re.split(r"[\s(]+", _AT_MARGIN.match(lines[number])[0].strip())  # type: ignore[index]
        name = next((word for word in reversed(words) if word.strip("{")), "")
        parts.append(Part(name.strip('":;{('), number, following))
    return tuple(part for part in parts if part.name)
