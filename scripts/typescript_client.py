"""Write the generated parts of the TypeScript client: its types and its table of operations.

Run by `make client`; a test compares what is written with the description of the server.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from weftwork import Weft
from weftwork.server.http.app import make_app
from weftwork.server.http.openapi import describe

FOLDER = Path(__file__).parent.parent / "clients" / "typescript" / "src"
NOTE = "// Generated from the OpenAPI description by scripts/typescript_client.py: do not edit.\n"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
JSON, EVENTS, FORM = "application/json", "text/event-stream", "multipart/form-data"


def generated() -> dict[str, str]:
    """The generated files by their names."""
    with tempfile.TemporaryDirectory() as folder, Weft.open(Path(folder) / "a.weft", embedder="hashing") as weft:
        described = json.loads(json.dumps(describe(make_app(weft))))
    operations = sorted(_operations(described), key=lambda each: each["name"])
    schemas = described["components"]["schemas"]
    types = "\n\n".join(f"export type {_name(name)} = {_type(schema)};" for name, schema in sorted(schemas.items()))
    table = {
        each["name"]: [each["method"], each["path"], each["kind"], each["form"] or each["body"] is not None]
        for each in operations
    }
    methods = "\n".join(_method(each) for each in operations)
    return {
        "types.d.ts": f"{NOTE}{types}\n\nexport interface Operations {{\n{methods}\n}}\n",
        "operations.js": f"{NOTE}export const operations = {json.dumps(table, indent=2)};\n",
    }


def _operations(described: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            parameters = operation.get("parameters", [])
            content = operation.get("requestBody", {}).get("content", {})
            answers = [value for code, value in operation["responses"].items() if code.startswith("2")]
            given = answers[0].get("content", {}) if answers else {}
            found.append(
                {
                    "name": operation["operationId"],
                    "summary": operation.get("summary", ""),
                    "method": method.upper(),
                    "path": path,
                    "places": re.findall(r"{(\w+)", path),
                    "query": [each for each in parameters if each["in"] == "query"],
                    "body": content.get(JSON, {}).get("schema"),
                    "form": FORM in content,
                    "kind": _kind(given),
                    "answer": given.get(JSON, {}).get("schema"),
                }
            )
    return found


def _kind(given: dict[str, Any]) -> str:
    """The form of an answer."""
    if EVENTS in given:
        return "events"
    if any(each.startswith("image/") for each in given):
        return "blob"
    return "json" if JSON in given else "text" if given else "none"


def _method(operation: dict[str, Any]) -> str:
    """A method with its path's parts, its body and its query, in this order."""
    arguments = [f"{name}: string" for name in operation["places"]]
    if operation["form"]:
        arguments.append("body: FormData")
    elif operation["body"] is not None:
        arguments.append(f"body: {_type(operation['body'])}")
    query = "; ".join(f"{each['name']}?: {_type(each['schema'])}" for each in operation["query"])
    arguments.append(f"options?: CallOptions & {{ query?: {{ {query} }} }}")
    answers = {
        "events": "AsyncIterable<ServerEvent>",
        "json": f"Promise<{_type(operation['answer'] or {})}>",
        "blob": "Promise<Blob>",
        "text": "Promise<string>",
        "none": "Promise<void>",
    }
    return (
        f"  /** {operation['summary']}: `{operation['method']} {operation['path']}`. */\n"
        f"  {operation['name']}({', '.join(arguments)}): {answers[operation['kind']]};"
    )


def _type(schema: Any) -> str:  # noqa: C901, PLR0911 - one line for each form of a schema
    """A JSON schema as a TypeScript type."""
    if not isinstance(schema, dict):
        return "unknown"
    if "$ref" in schema:
        return _name(schema["$ref"].rsplit("/", 1)[1])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(_type(each) for each in schema[union]))
    if "allOf" in schema:
        return " & ".join(_type(each) for each in schema["allOf"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": each}) for each in kind)
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(each) for each in schema['prefixItems'])}]"
        return f"Array<{_type(schema.get('items', {}))}>"
    if kind == "object" or "properties" in schema:
        return _object(schema)
    return PLAIN.get(kind or "", "unknown")


def _object(schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    fields = [
        f"{json.dumps(name)}{'' if name in required else '?'}: {_type(part)}"
        for name, part in schema.get("properties", {}).items()
    ]
    more = schema.get("additionalProperties")
    if not fields:
        return f"Record<string, {_type(more) if isinstance(more, dict) else 'unknown'}>"
    return "{ " + "; ".join(fields) + " }"


def _name(name: str) -> str:
    return re.sub(r"\W", "_", name)


if __name__ == "__main__":
    for file, content in generated().items():
        (FOLDER / file).write_text(content, encoding="utf-8")
