"""Real vaults, what their owners would ask, and where the answers stand.

`questions/VAULT.jsonl` has a question a line with its gold phrases: words of a file of the vault, as they stand there,
chosen where the answer stands. `half` divides the questions into those that settings may be fitted to and those that
check them; `kind` says what sort of question it is:

  steps      how-to: the steps or items of a list in one note, each with a phrase of its own
  fact       a sentence of one note
  two        what only two notes together answer
  named      what a note says that the question names
  code       a command, a setting or code
  fields     tables, front matter, properties, tasks
  reworded   asked in other words than the note's

`questions/nothing.jsonl` has questions that the vault does not answer, for a measure of silence.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.floors import Piece, sections
from benchmarks.measures import Gold, Phrase, words

QUESTIONS = Path(__file__).parent / "questions"
VAULTS = {
    "kb_blue_book": "kb_blue_book/vault",
    "kb_logseq_docs": "kb_logseq_docs/vault",
    "kb_foam_docs": "kb_foam_docs/vault",
    "kb_kepano": "kb_kepano/vault",
    "tana_samples": "tana_samples/supertag-cli/sample-workspace.json",
}
"""Where each vault is in the folder of data."""
SUFFIXES = (".md", ".base")
HIDDEN = ("db-version.md",)
"""Left out by the settings of the vault itself."""

_TAG = re.compile(r"<[^>]*>")
_UNSEEN = ("metanode", "viewDef", "associatedData", "command", "search")
"""Types of Tana's nodes that hold no notes."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the evidence that an answer needs."""

    id: str
    text: str
    gold: tuple[Gold, ...]
    kind: str = ""
    half: str = ""
    workspace: str = "main"


def read_questions(name: str, folder: Path = QUESTIONS) -> tuple[Question, ...]:
    """The questions of a vault."""
    return tuple(
        Question(
            id=line["id"],
            text=line["question"],
            gold=tuple(Phrase(gold["file"], gold["text"]) for gold in line["gold"]),
            kind=line["kind"],
            half=line["half"],
        )
        for line in _lines(folder / f"{name}.jsonl")
    )


def read_unanswerable(folder: Path = QUESTIONS) -> dict[str, tuple[str, ...]]:
    """By vault, the questions that it does not answer."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _lines(folder / "nothing.jsonl"):
        found[line["set"]] = (*found.get(line["set"], ()), line["question"])
    return found


def missing_gold(questions: tuple[Question, ...], documents: Mapping[str, str]) -> list[str]:
    """Gold phrases that their files do not have, each with its question; an export is one file, read as several."""
    wanted = {gold.file for question in questions for gold in question.gold if isinstance(gold, Phrase)}
    said = {name: f" {words(text)} " for name, text in documents.items() if name in wanted}
    export = "" if said else "\n".join(f" {words(text)} " for text in documents.values())
    return [
        f"{question.id}: {gold.text!r} is not in {gold.file}"
        for question in questions
        for gold in question.gold
        if isinstance(gold, Phrase) and f" {words(gold.text)} " not in said.get(gold.file, export)
    ]


def read_vault(path: Path) -> dict[str, str]:
    """The texts of a vault by their paths in it; an export of Tana is read as a text for each page or book."""
    if path.suffix == ".json":
        return _outlines(path)
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.name not in HIDDEN)
    return {str(file.relative_to(path)): file.read_text(encoding="utf-8", errors="replace") for file in files}


def title_of(name: str) -> str:
    """What a file of a vault is called."""
    return Path(name).stem.replace("___", "/") if name.endswith(SUFFIXES) else name


def pieces_of(documents: Mapping[str, str]) -> list[Piece]:
    """The sections of all texts of a vault."""
    return [piece for name, text in documents.items() for piece in sections(title_of(name), text)]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _outlines(path: Path) -> dict[str, str]:
    """The nodes below the home of an export of Tana as Markdown: chapters as headings, fields as lines."""
    nodes = {node["id"]: node for node in json.loads(path.read_text(encoding="utf-8"))["docs"]}
    home = next(node for node in nodes.values() if node["props"].get("_docType") == "home")
    found: dict[str, str] = {}
    for top in _children(nodes, home):
        lines: list[str] = []
        for child in _children(nodes, top):
            if _children(nodes, child) and not _is_field(child):
                found[_name(child)] = "\n".join(_outline(nodes, child, 1))
            else:
                lines += _outline(nodes, child, 1)
        if lines:
            found.setdefault(_name(top), "\n".join(lines))
    return found


def _outline(nodes: Mapping[str, Any], node: Mapping[str, Any], depth: int) -> Iterator[str]:
    children = _children(nodes, node)
    if _is_field(node):
        yield f"{_name(children[0])}: {', '.join(map(_name, children[1:]))}" if children else ""
        return
    if depth > 1:
        yield f"{'#' * depth} {_name(node)}" if children else f"- {_name(node)}"
    for child in children:
        yield from _outline(nodes, child, depth + 1)


def _children(nodes: Mapping[str, Any], node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = (nodes[child] for child in node.get("children", ()) if child in nodes)
    return [child for child in found if child["props"].get("_docType") not in _UNSEEN and _owned(child, node)]


def _owned(child: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether a node stands here by itself; what is only referred to is followed no further than a field's value."""
    return _is_field(node) or child["props"].get("_ownerId") == node["id"]


def _is_field(node: Mapping[str, Any]) -> bool:
    return bool(node["props"].get("_docType") == "tuple")


def _name(node: Mapping[str, Any]) -> str:
    return html.unescape(_TAG.sub("", node["props"].get("name") or "")).strip()
