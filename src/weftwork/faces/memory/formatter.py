"""Formatting of memories at hand: a list of results, through the packing and rendering of every context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from weftwork.clock import system_clock
from weftwork.compose.offers import alone, offer
from weftwork.compose.ordering import with_descending_scores
from weftwork.compose.reading import Reading
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE
from weftwork.faces.memory.rankers import SIMILARITY
from weftwork.faces.memory.types import ContextResult, Memory, SearchResult
from weftwork.fit import Fitting, fit
from weftwork.identity import SHORT, citation_id, text_hash
from weftwork.pack import check_budget
from weftwork.query import read_query
from weftwork.recipe import get_recipe
from weftwork.render import Template, Templates, variables
from weftwork.request import Request
from weftwork.text.tokens import TokenCounter, get_counter
from weftwork.types import MEMORY, Budget, Candidate, Context, Finding, NodeInfo, Passage

SECTION = "memories"


class ContextFormatter:
    """Writes results as a template wants them, within a budget of tokens. Thread-safe."""

    def __init__(self, tokenizer: TokenCounter | str = "o200k_base") -> None:
        self._counter = get_counter(tokenizer) if isinstance(tokenizer, str) else tokenizer

    def format(
        self, memories: Sequence[SearchResult], template: str | Template | Mapping[str, object], token_budget: int
    ) -> ContextResult:
        """The results in their order, as many as fit; a first one that is too long is shortened."""
        chosen = similarity_for_score(as_template(template))
        context = self._fitted(memories, chosen, token_budget)
        by_id = {result.memory.id: result for result in memories}
        shown = dict.fromkeys(item.candidate.node.id for item in context.items)
        return ContextResult(
            context=context.text,
            token_count=context.tokens,
            memories=tuple(by_id[name] for name in shown),
            truncated=context.truncated,
            template=chosen.name,
            warnings=context.warnings,
        )

    def estimate_tokens(self, text: str) -> int:
        """The tokens of a text, counted."""
        return self._counter.count(text)

    def truncate_to_fit(
        self, memories: Sequence[SearchResult], template: str | Template | Mapping[str, object], token_budget: int
    ) -> list[SearchResult]:
        """The first results that fit into a budget."""
        return list(self.format(memories, template, token_budget).memories)

    def _fitted(self, memories: Sequence[SearchResult], template: Template, tokens: int) -> Context:
        budget = Budget(total=tokens)
        check_budget(budget)
        ranked = with_descending_scores(
            [_candidate(result, key, self._counter) for key, result in enumerate(memories, start=1)]
        )
        candidates = {candidate.key: candidate for candidate in ranked}
        fitting = Fitting(
            Request(query="", workspace=DEFAULT_WORKSPACE, user=DEFAULT_USER, budget=budget),
            read_query("", system_clock()),
            replace(get_recipe("memory"), template=template),
            self._counter,
            Templates(),
            load=lambda keys: {key: candidates[key] for key in keys},
        )
        offers = [offer(SECTION, Reading(alone([candidate])), [candidate], whole=True) for candidate in ranked]
        return fit(fitting, offers, [])


def as_template(template: str | Template | Mapping[str, object], name: str = "") -> Template:
    """The template itself, one of the built-in ones by its name, or one made of a mapping."""
    if isinstance(template, Template):
        return (replace(template, name=name) if name else template).check()
    if isinstance(template, Mapping):
        return Template.from_mapping(name or str(template.get("name", "inline")), template)
    return Templates().get(template)


def similarity_for_score(template: Template) -> Template:
    """The template with the similarity for `{{score}}`, as this contract has it.

    Elsewhere `{{score}}` is what the candidate was ranked by.
    """
    if "score" not in variables(template.item):
        return template
    return replace(template, item=template.item.replace("{{score}}", "{{similarity}}"))


def _candidate(result: SearchResult, key: int, counter: TokenCounter) -> Candidate:
    """A result as one passage; its key is its place among those at hand."""
    memory, text = result.memory, result.memory.content
    passage = Passage(
        ordinal=0,
        start=0,
        end=len(text),
        text=text,
        tokens=counter.count(text),
        digest=text_hash(text),
        citation=citation_id(memory.id, text)[:SHORT],
        key=key,
    )
    finding = Finding("given", 1, result.score, "given by the caller", "other")
    score = 1.0 - key * 1e-6  # the order of the list, whatever the figures of the results
    return Candidate(_node(memory), passage, SECTION, (finding,), signals={SIMILARITY: result.score}, score=score)


def _node(memory: Memory) -> NodeInfo:
    return NodeInfo(
        id=memory.id,
        type=memory.type,
        tags=(MEMORY, *memory.tags),
        confidence=memory.confidence,
        conversation=memory.conversation_id,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        owner=memory.owner,
        access=memory.access,
    )
