"""Writes docs/reference/ and llms.txt from the code: the API from docstrings, settings, errors, MCP tools, metrics.

python scripts/reference.py
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import weftwork
from weftwork import errors
from weftwork.config import ENVIRONMENT, Config
from weftwork.lens import Lenses
from weftwork.recipe import Recipes
from weftwork.server.http.metrics import Metrics
from weftwork.server.tool_schemas import declare

ROOT = Path(__file__).parent.parent
WRITTEN = "Written by `make docs` from the code.\n"


def api() -> str:
    """The public names with their signatures and docstrings."""
    parts = ["# Python API\n", WRITTEN, "Every name below is imported from `weftwork`.\n"]
    for name in sorted(weftwork.__all__):
        value = getattr(weftwork, name)
        parts.append(f"## {name}\n\n{inspect.getdoc(value) or ''}\n")
        if not inspect.isclass(value):
            continue
        for method, function in inspect.getmembers(value, _is_method):
            if method.startswith("_") or not inspect.getdoc(function):
                continue
            parts.append(f"### {name}.{method}\n\n```text\n{method}{_signature(function)}\n```\n\n{_doc(function)}\n")
        attributes = _attributes(value)
        if attributes:
            parts.append("\n".join(f"- `{each}`{f': {doc}' if doc else ''}" for each, doc in attributes) + "\n")
    return "\n".join(parts)


def _is_method(value: object) -> bool:
    return inspect.isfunction(value) or inspect.ismethod(value)


def _signature(function: Any) -> str:
    try:
        signature = re.sub(r"weftwork\.[\w.]*\.", "", str(inspect.signature(function)))
        return re.sub(r"<function ([\w.]+) at 0x[0-9a-f]+>", r"\1", signature)
    except (TypeError, ValueError):
        return "(…)"


def _doc(value: object) -> str:
    return (inspect.getdoc(value) or "").strip()


def _attributes(value: type) -> list[tuple[str, str]]:
    """The fields of a dataclass with the docstrings that stand below them."""
    found: list[tuple[str, str]] = []
    for base in reversed(value.__mro__):
        if not getattr(base, "__module__", "").startswith("weftwork"):
            continue
        body = ast.parse(dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for statement, after in zip(body.body, [*body.body[1:], None], strict=True):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                described = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                text = str(after.value.value) if described else ""  # type: ignore[union-attr]
                found.append((f"{statement.target.id}: {ast.unparse(statement.annotation)}", " ".join(text.split())))
    return [each for each in found if not each[0].startswith("_")]


def settings() -> str:
    """The settings of weftwork.toml with their variables and defaults."""
    variables = {name: variable for variable, name in ENVIRONMENT.items()}
    rows = ["| setting | default | variable | |", "|---|---|---|---|"]
    for described, doc in _attributes(Config):
        name = described.split(":")[0]
        default = getattr(Config(), name)
        shown = "" if isinstance(default, dict) else f"`{default!r}`"
        rows.append(f"| `{name}` | {shown} | {f'`{variables[name]}`' if name in variables else ''} | {doc} |")
    lines = [
        "# Settings\n", WRITTEN,
        "Settings stand in `weftwork.toml`, in this folder or one above it. A variable overrides the file, and",
        "an option overrides both. `weftwork config` shows what holds, and where each comes from.\n", "\n".join(rows),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def error_page() -> str:
    """The tree of errors, and what each says."""
    tree = (inspect.getdoc(errors) or "").partition("::")[2]
    classes = [value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, errors.WeftError)]
    parts = ["# Errors\n", WRITTEN, f"```text\n{inspect.cleandoc(tree)}\n```\n"]
    parts += [f"## {each.__name__}\n\n{_doc(each)}\n" for each in sorted(classes, key=lambda each: each.__name__)]
    return "\n".join(parts)


def mcp_page() -> str:
    """The tools of the MCP server."""
    parts = ["# MCP tools\n", WRITTEN]
    recipes = [recipe.name for recipe in Recipes().all()]
    for name, tool in declare("main", Lenses().names(), recipes, Config().budget).items():
        properties = tool.input.get("properties", {})
        rows = [f"| `{each}` | {_kind(value)} | {value.get('description', '')} |" for each, value in properties.items()]
        table = "\n".join(["| argument | | |", "|---|---|---|", *rows]) + "\n" if rows else ""
        parts.append(f"## `{name}`\n\n{tool.description}\n\n{table}")
    return "\n".join(parts)


def _kind(value: dict[str, Any]) -> str:
    return str(value.get("type", "any")).replace("|", "or")


def metrics_page() -> str:
    """The metrics that a server exports."""
    families = Metrics().registry.collect()
    rows = [f"| `{family.name}` | {family.type} | {family.documentation} |" for family in families]
    return "\n".join(["# Metrics\n", WRITTEN, "| metric | | |", "|---|---|---|", *sorted(rows)]) + "\n"


def llms() -> str:
    """The pages of the docs for a language model, each with its first sentence."""
    lines = ["# Weftwork", "", "> Weftwork assembles the context that a language model needs.", ""]
    for folder, title in (("", "Guides"), ("howto", "How to"), ("reference", "Reference"), ("decisions", "Decisions")):
        lines += [f"## {title}", ""]
        for page in sorted((ROOT / "docs" / folder).glob("*.md")):
            text = page.read_text(encoding="utf-8")
            heading = text.partition("\n")[0].lstrip("# ")
            lines.append(f"- [{heading}](docs/{page.relative_to(ROOT / 'docs').as_posix()})")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Write the pages."""
    folder = ROOT / "docs" / "reference"
    folder.mkdir(exist_ok=True)
    pages = {"api": api(), "settings": settings(), "errors": error_page(), "mcp": mcp_page(), "metrics": metrics_page()}
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (ROOT / "llms.txt").write_text(llms(), encoding="utf-8")


if __name__ == "__main__":
    main()
