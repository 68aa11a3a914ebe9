"""Routes of the inspector page beside those that all programs use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from weftwork.clock import whole_minute
from weftwork.engine import assemble
from weftwork.near_misses import NearMisses
from weftwork.pack import PACKERS, get_packer
from weftwork.recipe import Recipe
from weftwork.render.templates import TITLES
from weftwork.request import Request
from weftwork.server.http.access import AnyCaller, Caller, Reader, Served
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.limits import within
from weftwork.server.http.replies import reply
from weftwork.server.http.routes.context import without_timings
from weftwork.server.http.schemas.inspect import (
    InspectIn,
    Inspection,
    NearIn,
    NearMissList,
    Overview,
    Places,
    SettingsOut,
)
from weftwork.server.http.service import Service
from weftwork.server.inspection import inspect, snippet
from weftwork.server.overview import overview
from weftwork.store.protocol import View
from weftwork.types import Context, Decision, Filters, NodeInfo
from weftwork.validation import dated

router = APIRouter(tags=["inspector"], route_class=MeteredRoute)
FOUND = 12
"""Nodes to choose from."""


@router.get("/v1/inspect", response_model=SettingsOut, summary="List what can be inspected")
def list_inspector_settings(caller: AnyCaller, served: Served) -> Response:
    """The choices of the page: workspaces, users, recipes with their sections, lenses and packers."""
    lenses = served.weft.tools.lenses
    return reply(
        {
            "user": caller.user,
            "scope": caller.scope,
            "most_tokens": served.options.limits.budget_tokens,
            "workspaces": [{"name": name, "users": _users(caller, served, name)} for name in sorted(caller.workspaces)],
            "home": caller.home,
            "recipes": [
                {
                    "name": recipe.name,
                    "packer": get_packer(recipe.packer).name,
                    "sections": recipe.sections,
                    "tokens": served.weft.default_budget(recipe),
                }
                for recipe in served.weft.tools.recipes.all()
            ],
            "lenses": [{"name": name, "description": lenses.get(name).description} for name in lenses.names()],
            "packers": PACKERS,
            "section_titles": TITLES,
            "now": served.weft.now(),
        }
    )


def _users(caller: Caller, served: Service, workspace: str) -> list[str]:
    """The users that the caller may act for; nobody else's names are told."""
    known = sorted(served.weft.store.users(workspace)) if caller.may(workspace, "admin") else []
    return list(dict.fromkeys([caller.user, *known]))


@router.post("/v1/workspaces/{workspace}/inspect", response_model=Inspection, summary="Inspect a context")
def inspect_context(workspace: str, body: InspectIn, caller: Reader, served: Served) -> Response:
    """A context made visible: its text in pieces, and every candidate with its text, its fate and the reason."""
    weft, recipe = served.weft, _recipe(body, served)
    # Looked at by a person, and given to no model: there is nothing to keep a receipt of.
    context = weft.assemble(_request(body, recipe, caller, served, workspace), recipe, receipt=False)
    with weft.store.view(workspace, caller.user) as view:
        return reply(inspect(view, without_timings(context, caller, workspace), recipe, weft.tools.templates))


@router.post("/v1/workspaces/{workspace}/inspect/near", response_model=NearMissList, summary="Find near misses")
def find_near_misses(workspace: str, body: NearIn, caller: Reader, served: Served) -> Response:
    """The additional budget that shows each candidate whole, or the nearest ones, found by making such contexts."""
    weft, recipe = served.weft, _recipe(body, served)
    request = _request(body, recipe, caller, served, workspace)
    context = weft.assemble(request, recipe, receipt=False)
    most = served.options.limits.budget_tokens - context.budget
    moment = weft.now()
    with weft.store.view(workspace, caller.user) as view:

        def build(total: int) -> Context:
            """Of one snapshot, and neither kept nor counted: nobody asked for these contexts."""
            larger = replace(request, budget=body.shares(recipe, total))
            return assemble(view, dated(larger, moment), recipe, weft.tools, whole_minute(moment))

        found = list(_near(NearMisses(build, context), context, body.citations, most))
    return reply({"near": [{"node": each.node, "citation": each.citation, "more": more} for each, more in found]})


def _near(
    misses: NearMisses, context: Context, citations: Sequence[str], most: int
) -> Iterator[tuple[Decision, int | None]]:
    """Candidates with the additional tokens that they need: those of these citations, or else the nearest."""
    if not citations:
        more, nearest = misses.nearest(most) or (None, [])
        yield from ((each, more) for each in nearest)
        return
    for each in context.trace:
        if each.citation in citations:
            # What was left out for another reason than its size is not tried with every budget.
            yield each, misses.more_tokens(each, most if each.missing_tokens else 0)


def _recipe(body: InspectIn, served: Service) -> Recipe:
    """The recipe, with the packer that was asked for."""
    return served.weft.tools.recipes.get(body.recipe, packer=body.packer)


def _request(body: InspectIn, recipe: Recipe, caller: Caller, served: Service, workspace: str) -> Request:
    """The arguments of the engine, within the limits of the server."""
    weft = served.weft
    total = weft.default_budget(recipe) if body.budget is None else body.budget
    within("the budget", total, served.options.limits.budget_tokens)
    within("the length of the query", len(body.query), served.options.limits.query_characters)
    return weft.request(
        body.query,
        recipe,
        budget=body.shares(recipe, total),
        lens=body.lens,
        user=caller.user,
        workspace=workspace,
        focus=body.focus,
        thread=body.thread,
    )


@router.get("/v1/workspaces/{workspace}/inspect/overview", response_model=Overview, summary="See what is there")
def read_overview(workspace: str, caller: Reader, served: Served) -> Response:
    """A workspace at a glance: what is in it, when it changed last, and questions that it can answer."""
    return reply(overview(served.weft, caller.user, workspace))


@router.get("/v1/workspaces/{workspace}/inspect/nodes", response_model=Places, summary="Find nodes to choose from")
def find_nodes(
    workspace: str,
    caller: Reader,
    served: Served,
    q: Annotated[str, Query(max_length=500)] = "",
    kind: Annotated[str | None, Query(alias="type", min_length=1, max_length=200)] = None,
) -> Response:
    """Nodes for a picker: titles that begin like this, then what a search finds; without words, the latest."""
    filters = Filters(types=frozenset({kind} if kind else ()), as_of=served.weft.now())
    words = q.strip()
    with served.weft.store.view(workspace, caller.user) as view:
        found = _searched(view, words, filters) if words else _latest(view, filters)
    found.sort(key=lambda place: bool(words) and not place["title"].casefold().startswith(words.casefold()))
    return reply({"nodes": found[:FOUND]})


def _latest(view: View, filters: Filters) -> list[dict[str, Any]]:
    latest = [node for node in view.select(filters, limit=5 * FOUND) if node.title][:FOUND]
    return [_place(node, node.title, [each.title for each in view.ancestors(node.id, 2)]) for node in latest]


def _searched(view: View, words: str, filters: Filters) -> list[dict[str, Any]]:
    hits = view.search_fuzzy(words, limit=2 * FOUND, filters=filters)
    hits += view.search_words(f"{words}*", limit=2 * FOUND, filters=filters)
    places: dict[str, dict[str, Any]] = {}
    for record in view.load(list(dict.fromkeys(hit.key for hit in hits))):
        title = record.node.title or snippet(record.passage.text)
        places.setdefault(record.node.id, _place(record.node, title, record.trail))
    return list(places.values())


def _place(node: NodeInfo, title: str, trail: Iterable[str]) -> dict[str, Any]:
    return {"id": node.id, "type": node.type, "title": title or node.id, "trail": [each for each in trail if each]}
