"""The OpenAPI description, with the errors that every route can answer."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from weftwork.server.http.problems import MEDIA_TYPE

OPEN = ("/healthz", "/readyz")
"""Paths that need no key."""
ERRORS = ("400", "401", "403", "404", "413", "422", "429", "500", "501", "502", "503")
PROBLEM: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "Problem details (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference", "examples": ["about:blank"]},
        "title": {"type": "string", "examples": ["Not Found"]},
        "status": {"type": "integer", "examples": [404]},
        "detail": {"type": "string", "description": "What is wrong, and what to do about it."},
        "errors": {
            "type": "array",
            "description": "With 422: each thing that does not fit, and where it stands.",
            "items": {
                "type": "object",
                "required": ["in", "pointer", "detail"],
                "properties": {
                    "in": {"type": "string", "examples": ["body"]},
                    "pointer": {"type": "string", "examples": ["/nodes/0/id"]},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
ANSWER = {
    "description": "A problem.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def operation_id(route: APIRoute) -> str:
    """The id of an operation, by which generated clients name their methods: the name of its function."""
    first, *others = route.name.split("_")
    return first + "".join(map(str.capitalize, others))


def describe(app: FastAPI) -> dict[str, Any]:
    """The description of an application."""
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes,
            openapi_version="3.1.0",
        )  # fmt: skip
        components = found.setdefault("components", {})
        components.setdefault("responses", {})["Problem"] = ANSWER
        schemas = components.setdefault("schemas", {})
        schemas["Problem"] = PROBLEM
        for path, operations in found["paths"].items():
            for operation in operations.values():
                _add_errors(path, operation)
        _rename(found, "Body_uploadDocument", "UploadIn")
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = found
    return app.openapi_schema


def _rename(found: dict[str, Any], old: str, new: str) -> None:
    """Give a schema that the framework named a name like those of the others."""
    schemas = found["components"]["schemas"]
    schemas[new] = {**schemas.pop(old), "title": new}
    for operations in found["paths"].values():
        for operation in operations.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                if content["schema"] == {"$ref": f"#/components/schemas/{old}"}:
                    content["schema"] = {"$ref": f"#/components/schemas/{new}"}


def _add_errors(path: str, operation: dict[str, Any]) -> None:
    codes = ("500", "503") if path in OPEN else ERRORS
    operation["responses"] |= {code: {"$ref": "#/components/responses/Problem"} for code in codes}
