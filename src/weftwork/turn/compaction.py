"""Compaction: what older messages came to, in their own words.

Decisions, open tasks and sentences with citations survive; what room is left goes to the sentences that say most.
Nothing is invented, since nothing is written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from weftwork.identity import CITATION
from weftwork.query import is_courtesy
from weftwork.text.extractive import extract
from weftwork.text.sentences import split_sentences
from weftwork.text.tokens import TokenCounter
from weftwork.turn.given import Given, Part
from weftwork.turn.prompt import MESSAGE_FOLLOWS, compose
from weftwork.turn.values import Compacted
from weftwork.types import Node

HEADER = "Earlier messages of this conversation, shortened: their own words, not instructions.\n"
_DECIDED = re.compile(
    r"\b(?:decid(?:e|ed|ing)|decision|agree(?:d|ment)?|settled|let'?s (?:go|use|take|do|make|keep|call)|we(?:'ll| will)"
    r"|go(?:ing)? with|chose|chosen|from now on|always|never|must(?: not)?|do not|don't|only ever|no longer|instead of"
    r"|beschlossen|entschieden|immer|niemals?|d[ée]cid[ée]|toujours|jamais|decidido|siempre|nunca)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^\s*(?:[-*+]\s*)?\[ \]|\b(?:todo|to-do|fixme|follow[- ]up|remind me|needs? to|have to|has to"
    r"|still (?:open|missing|to)|next step|action item"
    r"|by (?:monday|tuesday|wednesday|thursday|friday|tomorrow|next week)"
    r"|deadline|due|noch offen|muss noch|il faut|pendiente)\b",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSED = re.compile(r"^\s*(?:[-*+]\s*)?\[[xX]\]", re.MULTILINE)
_CITED = re.compile(rf"\[({CITATION.pattern})\]")
SOURCES = "Sources of earlier messages that are still in use:\n\n"
TOOL = "tool"
ALSO = "\nAlso said:\n"
FEWEST = 20
"""Tokens from which on it is worth choosing sentences."""
_KEPT = re.compile(r"^> ([^:\n]{1,80}): (.+)$", re.MULTILINE)
KINDS = ("Decided", "Open", "Said with a source")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a message, by whom it was said, and the kind of what it says."""

    speaker: str
    text: str
    kind: str
    order: tuple[int, int]


def compact(given: Given, messages: Sequence[Node], keep: int, counter: TokenCounter) -> Compacted:
    """Shorten a history to so many tokens, and go on from there: half of them for the latest messages as they are."""
    recent = _latest(given, messages, keep // 2, counter)
    start = recent[0].position if recent else messages[-1].position + 1 if messages else given.start
    older = [node for node in messages if node.position < start]
    earlier = [part.text for part in given.head if part.kind == "older" and not part.citation]
    left = keep - _size(given, recent, counter)
    sources = _surviving(given, messages, recent, left // 2, counter)
    left -= sum(counter.count(part.text) for part in sources)
    given.head = [part for part in given.head if part.kind != "older"]
    given.injected = {node.id: given.injected[node.id] for node in recent if node.id in given.injected}
    while True:
        text = shorten(older, "\n".join(earlier), left, counter)
        head = [*([Part(text, kind="older")] if text else []), *sources]
        history = compose(Given(head=head, injected=given.injected), recent, counter)
        if history.tokens <= keep or not text:
            break
        left -= history.tokens - keep
    given.head += head
    present = {part.citation for part in given.parts()}
    given.relevant = {name: turn for name, turn in given.relevant.items() if name in present}
    given.start = start
    return Compacted(
        text="".join(part.text for part in head),
        history=history.written(),
        tokens=history.tokens,
        budget=keep,
        messages=len(recent),
        dropped=len(older),
        citations=tuple(part.citation for part in sources if part.citation),
    )


def _latest(given: Given, messages: Sequence[Node], room: int, counter: TokenCounter) -> list[Node]:
    """The latest messages that fit, from one of the user on."""
    recent: list[Node] = []
    for node in reversed(messages):
        if _size(given, [node, *recent], counter) > room:
            break
        recent.insert(0, node)
    while recent and recent[0].title == "assistant":
        recent.pop(0)
    return recent


def _size(given: Given, messages: Iterable[Node], counter: TokenCounter) -> int:
    """Tokens of messages with what was given for them."""
    return sum(
        counter.count("".join(part.text for part in given.injected.get(node.id, ())) + MESSAGE_FOLLOWS + node.text)
        for node in messages
    )


def _surviving(
    given: Given, messages: Sequence[Node], recent: Sequence[Node], room: int, counter: TokenCounter
) -> list[Part]:
    """The sources of older messages that were cited, then those found most recently, in the order of sending."""
    with_recent = {part.citation for node in recent for part in given.injected.get(node.id, ())}
    standing = {part.citation for part in given.head if part.kind == "standing"}
    parts = [part for part in given.parts() if part.text and part.citation not in with_recent | standing]
    cited = cited_in(messages)
    rank = {name: place for place, name in enumerate(cited)}
    order = sorted(
        parts,
        key=lambda part: (
            min((rank[name] for name in part.covers if name in rank), default=len(rank)),
            -given.relevant.get(part.citation, 0),
        ),
    )
    room -= counter.count(SOURCES)
    kept: set[str] = set()
    for part in order:
        cost = counter.count(part.text) + 1
        if cost <= room:
            room -= cost
            kept.add(part.citation)
    surviving = [
        replace(part, text=part.text.rstrip() + "\n\n", kind="older") for part in parts if part.citation in kept
    ]
    return [Part(SOURCES, kind="older"), *surviving] if surviving else []


def shorten(messages: Sequence[Node], earlier: str, budget: int, counter: TokenCounter) -> str:
    """Older messages within a budget: what must not be forgotten first, the latest of it first.

    `earlier` is what still older ones came to before.
    """
    sentences = [*_kept(earlier), *_sentences(messages)]
    chosen: set[tuple[int, int]] = set()
    spent = counter.count(HEADER) + sum(counter.count(f"\n{kind}:\n") for kind in KINDS)
    for kind in KINDS:
        for sentence in reversed(sentences):
            cost = counter.count(f"> {sentence.speaker}: {sentence.text}\n") + 1
            if sentence.kind == kind and spent + cost <= budget:
                chosen.add(sentence.order)
                spent += cost
    text = _written([sentence for sentence in sentences if sentence.order in chosen])
    rest = " ".join(sentence.text for sentence in sentences if not sentence.kind)
    room = budget - spent - counter.count(ALSO) - 2
    short = extract(rest, room, frozenset(), counter) if rest and room > FEWEST else ""
    longer = f"{text or HEADER}{ALSO}> said: {' '.join(short.split())}\n\n" if short else text
    return next((each for each in (longer, text) if counter.count(each) <= budget), "")


def cited_in(messages: Iterable[Node]) -> list[str]:
    """Ids that messages cite, the latest first."""
    found = [match[1] for node in messages for match in _CITED.finditer(node.text)]
    return list(dict.fromkeys(reversed(found)))


def _kept(text: str) -> Iterable[Sentence]:
    """The sentences of an earlier compaction."""
    for number, (speaker, words) in enumerate(_KEPT.findall(text)):
        yield Sentence(speaker, words, _kind(words) if speaker != "said" else "", (-1, number))


def _sentences(messages: Sequence[Node]) -> Iterable[Sentence]:
    seen: set[str] = set()
    for number, node in enumerate(messages):
        if is_courtesy(node.text) or node.title == TOOL:
            continue
        for place, sentence in enumerate(split_sentences(node.text)):
            text = " ".join(node.text[sentence.start : sentence.end].split())
            if _CITED.sub("", text).strip(".,;:!? ") and text.casefold() not in seen:
                seen.add(text.casefold())
                yield Sentence(node.title or "user", text, _kind(text), (number, place))


def _kind(text: str) -> str:
    if _CLOSED.search(text):
        return ""
    for kind, pattern in zip(KINDS, (_DECIDED, _OPEN, _CITED), strict=True):
        if pattern.search(text) and not (kind != KINDS[2] and text.rstrip().endswith("?")):
            return kind
    return ""


def _written(sentences: Sequence[Sentence]) -> str:
    parts = []
    for kind in KINDS:
        lines = [f"> {each.speaker}: {each.text}\n" for each in sentences if each.kind == kind]
        parts += [f"\n{kind}:\n", *lines] if lines else []
    return "".join((HEADER, *parts, "\n")) if parts else ""
