"""How much of what an answer needs is inside a context built from long conversations.

Each of the LoCoMo conversations is a workspace: a session is a thread, a turn a message with its date.
For each question with evidence, a context is built from the question alone, and the share of the turns
that hold the evidence is counted if their whole text is inside it: recall at a budget of tokens.

  weftwork  the recipe "conversation" as it comes, which packs by rank; under "packers" the same with others
  memories  the memory face: each turn is a memory, and `ContextEngine.build_context` is asked with its defaults
  bm25      turns by BM25 (tantivy, English stemming), the best first, until the next one does not fit
  vector    turns by cosine of the same embeddings, the best first, until the next one does not fit
  hybrid    turns by reciprocal rank fusion of these two, in the same way

"statements" is what `Memories.add` keeps without a model: the share of the turns with a statement that is kept, of all
tokens, and of the turns that hold evidence.
"found" is the share of the evidence among the first ten: of `ContextEngine.search`, and of the plain rankings.

All have the same texts, "speaker: words" with the caption of a shared picture, one a line, counted by the
same tokenizer; Weftwork's heading counts too. Conversations come from $WEFTWORK_DATA or ../shared/data.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from benchmarks.corpus import data_folder
from benchmarks.timing import Laps, percentile, say
from weftwork import Context, Node, Weft
from weftwork.faces.memory import MEMORY, ContextEngine, ContextEngineConfig, ContextOptions
from weftwork.faces.memory.statements import Turn as Said
from weftwork.faces.memory.statements import statements as statements_of
from weftwork.recipe import get_recipe
from weftwork.text.tokens import TokenCounter

BUDGETS = (500, 1_000, 2_000, 4_000)
PACKERS = ("ranked", "density", "optimal")
RRF = 60
FIRST = 10
USER = "me"

Ranking = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    id: str
    session: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns, and questions with the turns that hold their evidence."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[tuple[str, frozenset[str]], ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--conversations", type=int, help="only the first so many")
    parser.add_argument("--questions", type=int, help="only the first so many of each conversation")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Recall at each budget, side by side."""
    found: dict[str, dict[int, list[float]]] = {}
    laps = Laps()
    conversations = list(_read(data_folder() / "locomo_dev" / "locomo_dev.json"))[: args.conversations]
    with tempfile.TemporaryDirectory() as folder, Weft.open(Path(folder) / "memory.weft") as weft:
        for conversation in conversations:
            say(f"{conversation.name}: {len(conversation.turns)} turns, {len(conversation.questions)} questions")
            _measure(weft, conversation, conversation.questions[: args.questions], found, laps)
        statements = _kept_statements(conversations, weft.tools.counter)
    return {**_figures(found, laps, len(conversations)), "statements": statements}


def _kept_statements(conversations: Sequence[Conversation], counter: TokenCounter) -> dict[str, float]:
    turns = tokens = kept_tokens = 0
    evidence: list[bool] = []
    kept: set[tuple[str, str]] = set()
    for conversation in conversations:
        for turn in conversation.turns:
            speaker, _, text = turn.text.partition(": ")
            stated = list(statements_of(Said(turn.id, speaker, text)))
            turns, tokens = turns + 1, tokens + counter.count(turn.text)
            kept_tokens += sum(map(counter.count, stated))
            kept |= {(conversation.name, turn.id)} if stated else set()
        evidence += [(conversation.name, turn) in kept for _, needed in conversation.questions for turn in needed]
    return {
        "turns": round(len(kept) / turns, 3),
        "tokens": round(kept_tokens / tokens, 3),
        "evidence": round(statistics.fmean(evidence), 3),
    }


def _measure(
    weft: Weft,
    conversation: Conversation,
    questions: Sequence[tuple[str, frozenset[str]]],
    found: dict[str, dict[int, list[float]]],
    laps: Laps,
) -> None:
    _fill(weft, conversation)
    peers, memories = _Peers(weft, conversation), _Memories(weft, conversation)
    for question, evidence in questions:
        orders = {name: rank(question) for name, rank in peers.rankings.items()}
        for name, order in {**orders, "memories": memories.found(question)}.items():
            recall = len(evidence & set(order[:FIRST])) / len(evidence)
            found.setdefault(name, {}).setdefault(0, []).append(recall)
        for budget in BUDGETS:
            inside = {name: peers.until_full(order, budget) for name, order in orders.items()}
            inside["memories"] = memories.inside(question, budget)
            for packer in PACKERS:
                with laps(packer):
                    inside[f"weftwork {packer}"] = _asked(weft, conversation.name, question, budget, packer)
            for name, turns in inside.items():
                recall = len(evidence & turns) / len(evidence)
                found.setdefault(name, {}).setdefault(budget, []).append(recall)


def _figures(found: Mapping[str, Mapping[int, Sequence[float]]], laps: Laps, conversations: int) -> dict[str, Any]:
    def mean(name: str, budget: int) -> float:
        return round(statistics.fmean(found[name][budget]), 4)

    names = {
        "weftwork": "weftwork ranked",
        "memories": "memories",
        "bm25": "bm25",
        "vector": "vector",
        "hybrid": "hybrid",
    }
    return {
        "conversations": conversations,
        "questions": len(found["bm25"][BUDGETS[0]]),
        "found": {name: mean(name, 0) for name in ("memories", "bm25", "vector", "hybrid")},
        "packers": {name: {str(each): mean(f"weftwork {name}", each) for each in BUDGETS} for name in PACKERS},
        "p50_ms": {name: round(percentile(laps.laps[name], 50), 1) for name in PACKERS},
        "budgets": {str(each): {key: mean(name, each) for key, name in names.items()} for each in BUDGETS},
    }


def _asked(weft: Weft, workspace: str, question: str, budget: int, packer: str) -> frozenset[str]:
    """The turns whose whole text is in the context."""
    recipe = replace(get_recipe("conversation"), packer=packer)
    context = weft.context(question, workspace=workspace, user=USER, budget=budget, recipe=recipe)
    if context.tokens > budget or weft.tools.counter.count(context.text) != context.tokens:
        raise SystemExit(f"a budget of {budget} tokens was not kept for {question!r}")
    return frozenset(shown_whole(context))


def shown_whole(context: Context) -> list[str]:
    """The nodes of the passages that a context shows whole, found or around what was found, in its order."""
    return [item.candidate.node.id for item in context.items if item.text and not item.truncated]


def _fill(weft: Weft, conversation: Conversation) -> None:
    weft.create_workspace(conversation.name, owner=USER)
    sessions = dict.fromkeys(turn.session for turn in conversation.turns)
    threads = [Node(id=name, type="thread", position=place) for place, name in enumerate(sessions)]
    messages = [
        Node(
            id=turn.id, type="message", text=turn.text, parent=turn.session, position=place,
            created_at=turn.at, updated_at=turn.at,
        )
        for place, turn in enumerate(conversation.turns)
    ]  # fmt: skip
    weft.add([*threads, *messages], workspace=conversation.name)


class _Memories:
    """The turns as memories of another workspace, asked through the memory face."""

    def __init__(self, weft: Weft, conversation: Conversation) -> None:
        self._weft, self._workspace = weft, f"{conversation.name}, remembered"
        self._engine = ContextEngine(ContextEngineConfig(storage_client=weft, user=USER))
        weft.create_workspace(self._workspace, owner=USER)
        nodes = [
            Node(
                id=turn.id, type="remark", text=turn.text, tags=(MEMORY,), owner=USER, access=frozenset(),
                conversation=turn.session,
                created_at=turn.at, updated_at=turn.at, valid_from=turn.at,
            )
            for turn in conversation.turns
        ]  # fmt: skip
        weft.add(nodes, workspace=self._workspace)

    def found(self, question: str) -> list[str]:
        """The memories that a search finds, the best first."""
        result = asyncio.run(self._engine.search(question, self._workspace))
        if not result.ok:
            raise SystemExit(result.error.message)
        return [each.memory.id for each in result.value]

    def inside(self, question: str, budget: int) -> frozenset[str]:
        """The memories whose whole text is in a context."""
        options = ContextOptions(token_budget=budget)
        result = asyncio.run(self._engine.build_context(question, self._workspace, options))
        if not result.ok or self._weft.tools.counter.count(result.value.context) > budget:
            raise SystemExit(f"a budget of {budget} tokens was not kept for {question!r}")
        whole = " ".join(result.value.context.split())
        return frozenset(
            each.memory.id for each in result.value.memories if " ".join(each.memory.content.split()) in whole
        )


class _Peers:
    """Plain rankings of the same turns."""

    def __init__(self, weft: Weft, conversation: Conversation) -> None:
        self._ids = [turn.id for turn in conversation.turns]
        counter, embedder = weft.tools.counter, weft.tools.embedder
        assert embedder is not None
        self._embedder = embedder
        self._costs = {turn.id: counter.count(f"- {turn.text}\n") for turn in conversation.turns}
        self._vectors = np.array(embedder.embed_batch([turn.text for turn in conversation.turns]))
        self._index = _word_index(conversation.turns)
        self.rankings: Mapping[str, Ranking] = {"bm25": self._words, "vector": self._meaning, "hybrid": self._both}

    def until_full(self, order: Sequence[str], budget: int) -> frozenset[str]:
        """The first of an order that fit into a budget."""
        taken = set()
        for name in order:
            budget -= self._costs[name]
            if budget < 0:
                break
            taken.add(name)
        return frozenset(taken)

    def _words(self, question: str) -> Sequence[str]:
        query = self._index.parse_query(re.sub(r"\W+", " ", question), ["text"])
        searcher = self._index.searcher()
        hits = searcher.search(query, len(self._ids)).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

    def _meaning(self, question: str) -> Sequence[str]:
        nearest = np.argsort(-(self._vectors @ self._embedder.embed(question)), kind="stable")
        return [self._ids[place] for place in nearest]

    def _both(self, question: str) -> Sequence[str]:
        scores: dict[str, float] = {}
        for order in (self._words(question), self._meaning(question)):
            for rank, name in enumerate(order):
                scores[name] = scores.get(name, 0.0) + 1 / (RRF + rank)
        return sorted(scores, key=lambda name: -scores[name])


def _word_index(turns: Sequence[Turn]) -> tantivy.Index:
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("text", tokenizer_name="en_stem")
    index = tantivy.Index(schema.build())
    writer = index.writer(num_threads=1)
    for turn in turns:
        writer.add_document(tantivy.Document(id=turn.id, text=turn.text))
    writer.commit()
    index.reload()
    return index


def _read(path: Path) -> Iterator[Conversation]:
    if not path.exists():
        raise SystemExit(f"{path} is not there: set WEFTWORK_DATA to the folder that has locomo_dev")
    for number, each in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        turns = tuple(_turns(each["conversation"]))
        known = {turn.id for turn in turns}
        questions = [(qa["question"], frozenset(qa["evidence"]) & known) for qa in each["qa"]]
        yield Conversation(
            each.get("sample_id", f"conversation-{number}"), turns, tuple(asked for asked in questions if asked[1])
        )


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    sessions = [name for name in conversation if re.fullmatch(r"session_\d+", name)]
    for session in sorted(sessions, key=lambda name: int(name.removeprefix("session_"))):
        began = datetime.strptime(conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for minute, turn in enumerate(conversation[session]):
            picture = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{picture}"
            yield Turn(turn["dia_id"], session, text, began + timedelta(minutes=minute))
