"""Weft assembles the context that a language model needs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.client import Client
    from weft.engine import Weft
    from weft.errors import WeftError
    from weft.recipe import Recipe
    from weft.render.templates import Template
    from weft.request import Message, Request
    from weft.types import Budget, Context, Edge, Filters, Node

_HOMES = {
    "Budget": "weft.types",
    "Client": "weft.client",
    "Context": "weft.types",
    "Edge": "weft.types",
    "Filters": "weft.types",
    "Message": "weft.request",
    "Node": "weft.types",
    "Recipe": "weft.recipe",
    "Request": "weft.request",
    "Template": "weft.render.templates",
    "Weft": "weft.engine",
    "WeftError": "weft.errors",
}

__all__ = [
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
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
