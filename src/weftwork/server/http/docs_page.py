"""The page at /docs: every operation and every kind of problem, written from the OpenAPI description."""

from __future__ import annotations

import json
from html import escape
from itertools import groupby
from typing import Any

from weftwork.server.http.problems import KINDS

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Weftwork: HTTP</title>
<link rel="icon" href="assets/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/base.css">
<link rel="stylesheet" href="assets/library.css">
<link rel="stylesheet" href="assets/docs.css">
</head>
<body class="docs">
"""
Described = dict[str, Any]


def docs_page(described: Described) -> str:
    """The page, as HTML without any script."""
    operations = [
        (operation["tags"][0], path, method, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    operations.sort(key=lambda each: each[0])
    groups = [(tag, list(group)) for tag, group in groupby(operations, key=lambda each: each[0])]
    links = "".join(f'<a href="#{tag}">{escape(tag.capitalize())}</a> ' for tag, _ in groups)
    parts = [
        f'<header><h1><a href=".">Weftwork</a> HTTP {escape(described["info"]["version"])}</h1>'
        f'<p>{_prose(described["info"]["description"])}</p><nav aria-label="Parts">{links}<a href="#problems">'
        'Problems</a> <a href="openapi.json">openapi.json (with a key)</a></nav></header><main>'
    ]
    for tag, group in groups:
        parts.append(f'<section id="{tag}"><h2>{escape(tag.capitalize())}</h2>')
        parts += [_operation(path, method, operation, described) for _, path, method, operation in group]
        parts.append("</section>")
    parts.append(_problems())
    return HEAD + "\n".join(parts) + "\n</main></body></html>\n"


def _operation(path: str, method: str, operation: Described, described: Described) -> str:
    name, summary = operation["operationId"], operation.get("summary", "")
    asked = _schema(operation.get("requestBody", {}))
    answered = next((_schema(answer) for code, answer in operation["responses"].items() if code.startswith("2")), {})
    parts = [
        f'<details id="{escape(name)}"><summary><b class="method">{method.upper()}</b> <code>{escape(path)}</code> '
        f"<span>{escape(summary)}</span></summary><p>{_prose(operation.get('description', ''))}</p>",
        _fields("Parameters", _parameters(operation)),
        _fields("Body", _properties(asked, described)),
        _example(asked, described),
        _fields("Answer", _properties(answered, described)),
        "</details>",
    ]
    return "".join(parts)


def _parameters(operation: Described) -> list[tuple[str, str, str]]:
    return [
        (each["name"], f"{each['in']}{', needed' if each['required'] else ''}", each.get("description", ""))
        for each in operation.get("parameters", [])
    ]


def _schema(message: Described) -> Described:
    content: dict[str, Described] = message.get("content", {})
    return next((media.get("schema", {}) for media in content.values()), {})


def _resolved(schema: Described, described: Described) -> Described:
    """The schema that a reference names; of several alternatives the first, which is the default."""
    alternatives = schema.get("anyOf")
    if alternatives:
        return _resolved(alternatives[0], described)
    if "$ref" in schema:
        found: Described = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return found
    return schema


def _properties(schema: Described, described: Described) -> list[tuple[str, str, str]]:
    found = _resolved(schema, described)
    needed = found.get("required", ())
    return [
        (name, f"{_type_of(each)}{', needed' if name in needed else ''}", each.get("description", ""))
        for name, each in found.get("properties", {}).items()
    ]


def _type_of(schema: Described) -> str:
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_type_of, schema["anyOf"])))
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_type_of(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any")


def _fields(title: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    lines = "".join(
        f"<tr><th scope='row'><code>{escape(name)}</code></th><td>{escape(kind)}</td><td>{_prose(about)}</td></tr>"
        for name, kind, about in rows
    )
    return f"<h3>{title}</h3><div class='wide'><table>{lines}</table></div>"


def _example(schema: Described, described: Described) -> str:
    examples = _resolved(schema, described).get("examples")
    if not examples:
        return ""
    return f"<h3>Example</h3><pre>{escape(json.dumps(examples[0], ensure_ascii=False, indent=2))}</pre>"


def _problems() -> str:
    rows = "".join(
        f'<dt id="{name}"><b class="method">{status}</b> {name}</dt><dd>{_prose(about)}</dd>'
        for status, (name, about) in KINDS.items()
    )
    return (
        '<section id="problems"><h2>Problems</h2><p>Every answer that is not a success is a problem (RFC 9457). '
        "Its <code>type</code> leads here, and <code>request</code> is the id under which the server's log has it."
        f"</p><dl>{rows}</dl></section>"
    )


def _prose(text: str) -> str:
    """A description: what stands between backticks is code, and an empty line begins a paragraph."""
    pieces = escape(text.strip()).split("`")
    marked = "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
    return marked.replace("\n\n", "</p><p>")
