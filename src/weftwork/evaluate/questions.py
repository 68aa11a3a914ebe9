"""Questions with what their answers need, one JSON object a line.

    {"query": "When do we ship?", "wanted": ["page-launch"], "quotes": ["on the first of June"]}

`wanted` names nodes by their ids or passages by their citation ids; `quotes` are spans of text that must be readable in
the context. Either may be left out, not both. `id`, `focus` and `thread` are as in a request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weftwork.errors import InvalidInput, NotFound

KEYS = frozenset({"id", "query", "wanted", "quotes", "focus", "thread", "draft"})


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the pieces of evidence that its answer needs."""

    id: str
    query: str
    wanted: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    focus: str | None = None
    thread: str | None = None


def read_questions(path: Path) -> list[Question]:
    """Read the questions of a file; an error names the line and what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFound(f"{path} does not exist: draft some questions with  weftwork eval suggest > {path}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text (byte {error.start})") from error
    questions = list(_questions(text, path.name))
    if not questions:
        raise InvalidInput(f"{path} holds no question: give one JSON object a line, with query and wanted or quotes")
    return questions


def _questions(text: str, name: str) -> Iterator[Question]:
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            question = _question(json.loads(line), str(number))
        except json.JSONDecodeError as error:
            raise InvalidInput(f"{name}, line {number} is not JSON: {error.msg} at column {error.colno}") from error
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{name}, line {number}: {error}") from error
        if question.id in seen:
            raise InvalidInput(f"{name}, line {number}: the id {question.id!r} is there twice: rename one of them")
        seen.add(question.id)
        yield question


def _question(value: Any, number: str) -> Question:
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    unknown = sorted(value.keys() - KEYS)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}: use {', '.join(sorted(KEYS))}")
    question = Question(
        id=_text(value, "id") or number,
        query=_text(value, "query") or "",
        wanted=_texts(value, "wanted"),
        quotes=_texts(value, "quotes"),
        focus=_text(value, "focus"),
        thread=_text(value, "thread"),
    )
    if not question.query.strip():
        raise ValueError('"query" is missing: say what is asked')
    if not question.wanted and not question.quotes:
        raise ValueError('"wanted" (ids) or "quotes" (spans of text) is missing: say what the answer needs')
    return question


def _text(value: dict[str, Any], key: str) -> str | None:
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise ValueError(f'"{key}" must be text, got {text!r}')
    return text


def _texts(value: dict[str, Any], key: str) -> tuple[str, ...]:
    texts = value.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise ValueError(f'"{key}" must be a list of texts that are not empty, got {texts!r}')
    return tuple(dict.fromkeys(texts))
