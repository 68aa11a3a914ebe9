"""Errors for what does not exist, with the same message in all stores."""

from __future__ import annotations

from weftwork.errors import NotFound


def missing_node(node: str) -> NotFound:
    """The error that a node does not exist."""
    return NotFound(f"node {node!r} does not exist in this workspace: check its id")


def missing_user(user: str) -> NotFound:
    """The error that a user does not exist."""
    return NotFound(f"user {user!r} does not exist in this workspace: add them with  weftwork users add {user}")


def missing_workspace(name: str) -> NotFound:
    """The error that a workspace does not exist."""
    return NotFound(f"workspace {name!r} does not exist: create it with  weftwork init --workspace {name}")
