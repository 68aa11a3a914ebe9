"""Validation of payloads, of any origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from weftwork.engine import Weft
from weftwork.errors import NotFound
from weftwork.faces.workspace.budget import TokenBudget
from weftwork.faces.workspace.payload import ContextPayload, ContextValidationResult, Violation
from weftwork.faces.workspace.request import User


def validate(weft: Weft, payload: ContextPayload, budget: TokenBudget) -> ContextValidationResult:
    """Find the violations of a payload, for the user who asked and within this budget."""
    blocks, focused = _blocks(payload), _focused(payload)
    visible = visible_nodes(weft, payload.request.user, [*blocks, *focused])
    return ContextValidationResult(
        violations=(
            *_over_budget(weft, payload, budget),
            *_sections_over_budget(weft, payload, budget),
            *(_violation("no_permission", f"{payload.request.user.id} may not see {block!r}, or it does not exist")
              for block in blocks if block not in visible),
            *_duplicates(payload),
            *(_violation("unknown_focus", f"the focus {node!r} does not exist for {payload.request.user.id}")
              for node in focused if node not in visible),
        )
    )  # fmt: skip


def _violation(kind: str, message: str) -> Violation:
    return Violation(kind=kind, message=message)


def _over_budget(weft: Weft, payload: ContextPayload, budget: TokenBudget) -> Iterator[Violation]:
    tokens = weft.tools.counter.count(payload.serialized)
    if tokens > budget.room:
        reserved = f" ({budget.total} without the {budget.system} of the system prompt)" if budget.system else ""
        yield _violation("over_budget", f"the text has {tokens} tokens, {budget.room} are allowed{reserved}")


def _sections_over_budget(weft: Weft, payload: ContextPayload, budget: TokenBudget) -> Iterator[Violation]:
    """Compare the larger of the stated and the counted tokens of each section with its budget."""
    for section in payload.sections:
        held = sum(weft.tools.counter.count(item.content) for item in section.items)
        tokens, limit = max(section.token_count, held), budget.of(section.type)
        if tokens > limit:
            yield _violation(
                "section_over_budget", f"section {section.type} has {tokens} tokens, its budget is {limit}"
            )


def _duplicates(payload: ContextPayload) -> Iterator[Violation]:
    """A long block may come in several parts, but no part twice."""
    parts = Counter((item.block_id, item.content) for section in payload.sections for item in section.items)
    for (block, _), times in parts.items():
        if times > 1:
            yield _violation("duplicate", f"block {block!r} is there {times} times with the same content")


def _blocks(payload: ContextPayload) -> list[str]:
    """The blocks that have to be visible: all but the messages that came with the request itself."""
    handed_in = {f"history-{number + 1}" for number in range(len(payload.request.conversation_history))}
    blocks = (
        block
        for section in payload.sections
        for item in section.items
        for block in (item.block_id, *item.block_ids)
        if not (section.type == "history" and block in handed_in)
    )
    return list(dict.fromkeys(blocks))


def _focused(payload: ContextPayload) -> list[str]:
    """The nodes that the request or the payload names as the focus."""
    metadata = payload.metadata
    named = (
        *payload.request.places.values(),
        metadata.focus_block_id,
        metadata.focus_page_id,
        metadata.focus_database_id,
    )
    return list(dict.fromkeys(node for node in named if node is not None))


def visible_nodes(weft: Weft, user: User, nodes: Sequence[str]) -> set[str]:
    """The nodes among these that a user may see; none if the workspace does not exist."""
    try:
        with weft.store.view(user.workspace, user.id) as view:
            return {node.id for node in view.nodes(nodes)}
    except NotFound:
        return set()
