"""Weftwork assembles the context that a language model needs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weftwork.asynchronous import AsyncClient, AsyncWeft
    from weftwork.client import Client
    from weftwork.engine import Weft
    from weftwork.errors import WeftError
    from weftwork.recipe import Recipe
    from weftwork.render.templates import Template
    from weftwork.request import Message, Request
    from weftwork.types import Budget, Context, Edge, Filters, Node

_HOMES = {
    "AsyncClient": "weftwork.asynchronous",
    "AsyncWeft": "weftwork.asynchronous",
    "Budget": "weftwork.types",
    "Client": "weftwork.client",
    "Context": "weftwork.types",
    "Edge": "weftwork.types",
    "Filters": "weftwork.types",
    "Message": "weftwork.request",
    "Node": "weftwork.types",
    "Recipe": "weftwork.recipe",
    "Request": "weftwork.request",
    "Template": "weftwork.render.templates",
    "Weft": "weftwork.engine",
    "WeftError": "weftwork.errors",
}

__all__ = [
    "AsyncClient",
    "AsyncWeft",
    "Budget",
    "Client",
    "Context",
    "Edge",
    "Filters",
    "Message",
    "Node",
    "Recipe",
    "Request",
    "Template",
    "Weft",
    "WeftError",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: the command's --help needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'weftwork' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
