"""Validation of payloads, of any origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from weftwork.engine import Weft
from weftwork.errors import NotFound
from weftwork.faces.workspace.budget import TokenBudget
from weftwork.faces.workspace.payload import ContextItem, ContextPayload, ContextValidationResult, Violation
from weftwork.faces.workspace.request import User
from weftwork.faces.workspace.text_check import difference
from weftwork.types import Node

_DEEPEST = 64
"""Levels up to which the ancestors of a block are looked at."""


def validate(
    weft: Weft, payload: ContextPayload, budget: TokenBudget, *, shows_focus: bool = True
) -> ContextValidationResult:
    """Find the violations of a payload, for the user who asked and within this budget.

    With `shows_focus`, what the user works on has to be in it, unless its section is closed.
    """
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
            *(_missing_focus(weft, payload, visible) if shows_focus and budget.focus else ()),
            *_wrong_counts(weft, payload),
            *_impossible_relevance(payload),
            *_other_text(weft, payload),
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


def _missing_focus(weft: Weft, payload: ContextPayload, visible: set[str]) -> Iterator[Violation]:
    """The block, or something of the page or database, that the user works on has to be shown.

    A budget that holds no item at all gives an empty text, which lacks nothing; nor is missing what does not fit even
    by name, which the context warns of.
    """
    kind, node = next(iter(payload.request.places.items()), (None, None))
    if not payload.serialized or kind is None or node is None or node not in visible or _is_lost(payload, node):
        return
    shown = [block for item in _items(payload) for block in (item.block_id, *item.block_ids)]
    if node not in shown and (kind == "block" or not _is_below(weft, payload.request.user, node, shown)):
        yield _violation("missing_focus", f"the focus {node!r} is not in it")


def _is_lost(payload: ContextPayload, node: str) -> bool:
    """Say whether a context warns that what was asked for does not fit, and this node is what was dropped."""
    context = payload.context
    return (
        context is not None
        and bool(context.warnings)
        and any(decision.node == node and decision.fate == "dropped" for decision in context.trace)
    )


def _is_below(weft: Weft, user: User, node: str, blocks: Sequence[str]) -> bool:
    with weft.store.view(user.workspace, user.id) as view:
        return any(above.id == node for block in dict.fromkeys(blocks) for above in view.ancestors(block, _DEEPEST))


def _wrong_counts(weft: Weft, payload: ContextPayload) -> Iterator[Violation]:
    metadata = payload.metadata
    tokens = weft.tools.counter.count(payload.serialized)
    if metadata.total_tokens != tokens:
        yield _violation("wrong_count", f"totalTokens is {metadata.total_tokens}, and the text has {tokens} tokens")
    blocks = len({block for item in _items(payload) for block in item.block_ids or (item.block_id,)})
    if metadata.blocks_included != blocks:
        yield _violation("wrong_count", f"blocksIncluded is {metadata.blocks_included}, and there are {blocks}")
    for section in payload.sections:
        held = sum(weft.tools.counter.count(item.content) for item in section.items)
        if section.token_count < held:
            yield _violation(
                "wrong_count", f"tokenCount of section {section.type} is {section.token_count}, it has {held}"
            )


def _impossible_relevance(payload: ContextPayload) -> Iterator[Violation]:
    for item in _items(payload):
        if not 0.0 <= item.relevance <= 1.0:
            yield _violation("impossible_relevance", f"the relevance of {item.block_id!r} is {item.relevance!r}")


def _other_text(weft: Weft, payload: ContextPayload) -> Iterator[Violation]:
    user = payload.request.user
    names = {
        node.id: " ".join(
            (node.title, node.source, *node.tags, *(f"{key} {value}" for key, value in node.fields.items()))
        )
        for node in _visible(weft, user, _blocks(payload))
    }
    text = difference(payload, weft.tools.templates, names)
    if text is not None:
        yield _violation("other_text", text)


def _items(payload: ContextPayload) -> Iterator[ContextItem]:
    return (item for section in payload.sections for item in section.items)


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
    return {node.id for node in _visible(weft, user, nodes)}


def _visible(weft: Weft, user: User, nodes: Sequence[str]) -> list[Node]:
    try:
        with weft.store.view(user.workspace, user.id) as view:
            return view.nodes(nodes)
    except NotFound:
        return []
