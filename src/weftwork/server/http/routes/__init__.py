"""The routes, one file for each part of the interface."""

from __future__ import annotations

from fastapi import APIRouter

from weftwork.server.http.routes import (
    audit,
    context,
    contracts,
    documents,
    faces,
    inspect,
    keys,
    memories,
    nodes,
    questions,
    sources,
    turns,
    workspaces,
)

ROUTERS: tuple[APIRouter, ...] = (
    context.router,  # first, since it is asked most: each request looks through the routes before its own
    workspaces.router,
    workspaces.choices,
    nodes.router,
    documents.router,
    faces.router,
    memories.router,
    turns.router,
    questions.router,
    contracts.router,
    contracts.workspaces,
    inspect.router,
    keys.router,
    audit.router,
    sources.router,
)
