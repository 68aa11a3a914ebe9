"""The messages of a turn: composed from the thread and what it was given, counted, and compared with the last ones.

Messages are only ever added at the end, so that a provider's prompt cache holds: what a turn adds stays before the
message that it was added for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weftwork.identity import text_hash
from weftwork.text.tokens import TokenCounter
from weftwork.turn.given import Given, Part
from weftwork.turn.values import Role
from weftwork.types import Node
from weftwork.write.threads import MESSAGE

MESSAGE_FOLLOWS = "\nMessage:\n\n"
"""Between quoted sources and the words of the user."""
BETWEEN = "\n\n"
"""Between two messages of the same role, which become one: chat templates want roles in turn."""
Sent = list[tuple[str, list[tuple[int, str]]]]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages as segments: the pieces that are compared from turn to turn."""

    messages: tuple[tuple[Role, tuple[str, ...]], ...]
    counts: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all messages, each counted by itself."""
        return sum(self.counts)

    def sent(self) -> Sent:
        """The record of the messages: hashes, no text."""
        return [(role, [(len(text), text_hash(text)) for text in segments]) for role, segments in self.messages]

    def written(self) -> tuple[Mapping[str, str], ...]:
        """The messages in the format of OpenAI's chat completions."""
        return tuple({"role": role, "content": "".join(segments)} for role, segments in self.messages)

    def prefix(self, before: Sent, counter: TokenCounter) -> tuple[int, int]:
        """Count the messages, and the tokens, at the start that are byte for byte those of the turn before."""
        tokens = 0
        for place, (role, segments) in enumerate(self.messages):
            earlier = before[place] if place < len(before) else ("", [])
            if earlier[0] != role:
                return place, tokens
            same = 0
            for text, (size, mark) in zip(segments, earlier[1], strict=False):
                if len(text) != size or text_hash(text) != mark:
                    break
                same += 1
            if same < len(segments):
                tokens += counter.count("".join(segments[:same])) if same else 0
                return place, tokens
            tokens += self.counts[place]
            if same < len(earlier[1]):
                return place + 1, tokens
        return len(self.messages), tokens


def compose(given: Given, messages: Sequence[Node], counter: TokenCounter) -> Prompt:
    """The prompt of a thread's messages, each after what was given for it."""
    composed: list[tuple[Role, list[str]]] = []
    head = [part.text for part in given.head if part.text]
    if head:
        composed.append(("system", head))
    for node in messages:
        role, segments = _role(node), _segments(given.injected.get(node.id, ()), node)
        if composed and composed[-1][0] == role:
            composed[-1][1].extend((BETWEEN, *segments))
        else:
            composed.append((role, segments))
    frozen = tuple((role, tuple(segments)) for role, segments in composed)
    return Prompt(frozen, tuple(counter.count("".join(segments)) for _, segments in frozen))


def said(node: Node) -> str:
    """A message as it is sent: the words of somebody else begin with their name."""
    named = node.title not in ("user", "assistant", "tool")
    return f"{node.title}: {node.text}" if named and node.title else node.text


def is_message(node: Node) -> bool:
    """True of what is said in a thread."""
    return node.type == MESSAGE


def _role(node: Node) -> Role:
    return "assistant" if node.title == "assistant" else "user"


def _segments(parts: Sequence[Part], node: Node) -> list[str]:
    texts = [part.text for part in parts if part.text]
    return [*texts, MESSAGE_FOLLOWS, said(node)] if texts else [said(node)]
