"""Building contexts for a workspace with an assistant inside (workspace contract, 2.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from weftwork.clock import whole_minute
from weftwork.compose.compose import SURROUNDINGS
from weftwork.engine import Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.faces.workspace.budget import TokenBudget, closed_for, split_for
from weftwork.faces.workspace.parts import (
    AllocatorPacker,
    BudgetAllocator,
    ContextCollector,
    GivenBlocks,
    RelevanceScorer,
    collected,
    item_metadata,
    scored_by,
)
from weftwork.faces.workspace.payload import (
    ContextItem,
    ContextPayload,
    ContextSection,
    ContextValidationResult,
    PayloadMetadata,
)
from weftwork.faces.workspace.recipe import Variation, recipe_for
from weftwork.faces.workspace.remote import RemoteContexts, Server
from weftwork.faces.workspace.request import ContextRequest
from weftwork.faces.workspace.settings import WorkspaceConfig
from weftwork.faces.workspace.validation import validate, visible_nodes
from weftwork.render import Template
from weftwork.render.values import iso, lead_of
from weftwork.request import Message, Request
from weftwork.types import Context, Excerpt, Filters

DEFAULTS = WorkspaceConfig()


class ContextBuilder:
    """Builds contexts from a `Weft`, or from a server through its `Client`. Thread-safe, as both are."""

    def __init__(
        self,
        weft: Weft | Server,
        config: WorkspaceConfig | None = None,
        *,
        collectors: Iterable[ContextCollector] = (),
        scorer: RelevanceScorer | None = None,
        allocator: BudgetAllocator | None = None,
    ) -> None:
        """`config` is by default that of `weftwork.toml`, if the engine was opened by one.

        `collectors` find blocks beside the configured ones; `scorer` and `allocator` replace ours.
        """
        self._collectors = tuple(collectors)
        self._contexts: Contexts
        if isinstance(weft, Weft):
            self._contexts = LocalContexts(weft, config or _settings_of(weft), scorer, allocator)
        else:
            given = {"config": config, "collectors": self._collectors, "scorer": scorer, "allocator": allocator}
            self._contexts = RemoteContexts(weft, given)

    async def build(self, request: ContextRequest) -> ContextPayload:
        """The context for a request; the engine works in another thread."""
        return await asyncio.to_thread(self._contexts.build, request, await collected(self._collectors, request))

    def build_sync(self, request: ContextRequest) -> ContextPayload:
        """The same for programs without an event loop."""
        return self._contexts.build(request, self._collected(request) if self._collectors else ())

    def estimate_tokens(self, payload: ContextPayload) -> int:
        """The exact tokens of the serialised context, by the engine's tokenizer."""
        return self._contexts.estimate_tokens(payload)

    def validate(self, payload: ContextPayload) -> ContextValidationResult:
        """Check that a payload is what its request asks for, and shows only what its user may see."""
        return self._contexts.validate(payload)

    def _collected(self, request: ContextRequest) -> Sequence[GivenBlocks]:
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            raise InvalidInput("collectors need the event loop, which runs here already: await build(request)")
        return asyncio.run(collected(self._collectors, request))


class Contexts(Protocol):
    """The place where contexts are built: an engine, or a server."""

    def build(self, request: ContextRequest, blocks: Sequence[GivenBlocks]) -> ContextPayload:
        """The context for a request, with these blocks among what it may show."""

    def estimate_tokens(self, payload: ContextPayload) -> int:
        """The tokens of a payload."""

    def validate(self, payload: ContextPayload) -> ContextValidationResult:
        """The violations of a payload."""


class LocalContexts:
    """Contexts of an engine."""

    def __init__(
        self, weft: Weft, config: WorkspaceConfig, scorer: RelevanceScorer | None, allocator: BudgetAllocator | None
    ) -> None:
        self._weft = weft
        self._config = config
        self._scorer = scorer
        self._allocator = allocator

    def estimate_tokens(self, payload: ContextPayload) -> int:
        """The exact tokens of the serialised context."""
        return self._weft.tools.counter.count(payload.serialized)

    def validate(self, payload: ContextPayload) -> ContextValidationResult:
        """The violations of a payload within the budget that its request gives or leaves to the settings."""
        budget = self._budget(payload.request)
        return validate(
            self._weft,
            payload,
            budget if payload.request.token_budget else budget.widened(),
            shows_focus=self._config.collectors.focus.enabled,
        )

    def _budget(self, request: ContextRequest) -> TokenBudget:
        if request.token_budget is not None:
            return request.token_budget
        return split_for(request.type, self._config.token_budget)

    def build(self, request: ContextRequest, blocks: Sequence[GivenBlocks]) -> ContextPayload:
        """The context for a request, by the one pipeline."""
        budget = self._budget(request).checked()
        closed = closed_for(request.type) | {name for name, tokens in budget.sections.items() if tokens == 0}
        embedder = self._weft.tools.embedder
        variation = Variation(
            type=request.type,
            focus=next(iter(request.places), None),
            closed=closed,
            depth=request.hints.max_depth,
            model="" if embedder is None else embedder.model,
            binding=request.token_budget is not None,
        )
        recipe = recipe_for(self._config, variation)
        more = tuple(collector for collector in blocks if collector.section not in closed)
        if more:
            recipe = replace(recipe, collectors=(*recipe.collectors, *more))
        if self._scorer is not None:
            recipe = replace(recipe, profile=scored_by(self._scorer, request))
        if self._allocator is not None:
            recipe = replace(recipe, packer=AllocatorPacker(self._allocator, budget))
        self._require_focus(request, shown="focus" in (collector.name for collector in recipe.collectors))
        engine_request = self._engine_request(request, budget, closed)
        now = whole_minute(self._weft.now())
        context = self._weft.assemble(engine_request, recipe)
        return _payload(request, context, self._weft.tools.templates.get(recipe.template), iso(now))

    def _require_focus(self, request: ContextRequest, shown: bool) -> None:
        """Refuse a focus that is excluded, or is not there, also where no collector looks at it."""
        excluded = [node for node in request.places.values() if node in request.hints.exclude_blocks]
        if excluded:
            raise InvalidInput(f"{excluded[0]!r} is the focus and in exclude_blocks: take it out of one of them")
        unread = list(request.places.values())[2 if shown else 0 :]
        if unread:
            visible = visible_nodes(self._weft, request.user, unread)
            for node in unread:
                if node not in visible:
                    raise NotFound(
                        f"focus {node!r} does not exist in this workspace: check its id with  weftwork search"
                    )

    def _engine_request(self, request: ContextRequest, budget: TokenBudget, closed: frozenset[str]) -> Request:
        """The request as one of the engine."""
        hints, places = request.hints, list(request.places.values())
        start, end = (None, None) if hints.time_range is None else hints.time_range.moments
        turns = () if "history" in closed else request.conversation_history
        return Request(
            query=request.query,
            workspace=request.user.workspace,
            user=request.user.id,
            budget=budget.for_core(closed, binding=request.token_budget is not None),
            focus=places[0] if places else None,
            page=places[1] if len(places) > 1 else None,
            history=tuple(Message(turn.role, turn.content, turn.moment) for turn in turns),
            filters=Filters(after=start, before=end, exclude=frozenset(hints.exclude_blocks)),
            include=tuple(hints.include_blocks),
            prefer_types=frozenset(kind.casefold() for kind in hints.prioritize_types),
            depth=hints.max_depth,
            truncation=self._config.truncation.default_strategy,
        )


def _settings_of(weft: Weft) -> WorkspaceConfig:
    """The settings that an engine was opened with."""
    found = weft.tools.settings.get("workspace")
    return found if isinstance(found, WorkspaceConfig) else DEFAULTS


def _payload(request: ContextRequest, context: Context, template: Template, timestamp: str) -> ContextPayload:
    focus = request.focus
    collectors = {finding.collector for decision in context.trace for finding in decision.findings} - {SURROUNDINGS}
    return ContextPayload(
        sections=_sections(context, template),
        metadata=PayloadMetadata(
            total_tokens=context.tokens,
            timestamp=timestamp,
            focus_block_id=focus.block_id if focus else None,
            focus_page_id=focus.page_id if focus else None,
            focus_database_id=focus.database_id if focus else None,
            collectors_used=tuple(sorted(collectors)),
            blocks_included=len({item.candidate.node.id for item in context.items}),
            blocks_considered=len({decision.node for decision in context.trace}),
        ),
        serialized=context.text,
        request=request,
        context=context,
    )


def _sections(context: Context, template: Template) -> tuple[ContextSection, ...]:
    """The template's sections, also those without items, and then the others."""
    filled = {section.name: section for section in context.sections}
    return tuple(
        ContextSection(
            type=name,
            title=template.title_of(name),
            items=tuple(_item(excerpt) for excerpt in filled[name].excerpts) if name in filled else (),
            token_count=filled[name].tokens if name in filled else 0,
        )
        for name in dict.fromkeys((*template.sections, *filled))
    )


def _item(excerpt: Excerpt) -> ContextItem:
    """An excerpt as the item of the block that it is shown for."""
    lead = lead_of(excerpt)
    node = lead.node
    return ContextItem(
        block_id=node.id,
        block_type=node.type,
        content=excerpt.content,
        relevance=min(1.0, excerpt.score),
        metadata=item_metadata(node, lead.trail, excerpt.document.title),
        block_ids=tuple(dict.fromkeys(item.candidate.node.id for item in excerpt.items)),
    )
