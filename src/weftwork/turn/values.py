"""The values of a turn: what to send to the model, what became of its answer, and a compacted history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from weftwork.answer import AnswerCheck
from weftwork.recipe import Recipe

Role = Literal["system", "user", "assistant"]


class TurnOptions(TypedDict, total=False):
    """The options of a turn."""

    budget: int | None
    """Most tokens of all messages together; the engine's turn budget if None."""
    user: str
    workspace: str
    rules: str
    """Instructions of the application, which stand first, before all that is quoted."""
    recipe: str | Recipe
    min_support: float | None


class Place(TypedDict, total=False):
    """Whose thread, and where."""

    user: str
    workspace: str


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A source of an earlier turn that is taken out of the messages."""

    citation: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's output as the model gets it."""

    text: str
    """The whole output, or a preview of it and the handle under which it is read."""
    tokens: int
    handle: str = ""
    """The id of the document that holds the whole output; empty if the text does."""
    citation: str = ""


@dataclass(frozen=True, slots=True)
class TurnFields:
    """A turn as it travels."""

    thread: str
    message: str
    """The id of the user's message in the thread."""
    inject: bool
    """True if this turn adds sources."""
    reason: str
    """Why it adds some, or none."""
    text: str
    """The changing part: sources that this message adds, changes or withdraws; it is a part of the last message."""
    messages: tuple[Mapping[str, str], ...]
    """All that the model is to be sent, in the format of OpenAI's chat completions."""
    tokens: int
    """Tokens of all messages, at most the budget."""
    cached_tokens: int
    """Tokens at the start that are byte for byte what was sent the turn before."""
    budget: int
    stable_messages: int
    """The number of messages at the start that were sent before."""
    receipt: str = ""
    """The id of its receipt; empty if none are kept."""
    citations: tuple[str, ...] = ()
    """Ids of the sources that it adds."""
    withdrawn: tuple[Withdrawal, ...] = ()
    support: float | None = None
    compacted: bool = False
    """True if older messages were compacted to make room."""
    warnings: tuple[str, ...] = ()


def _no_tools(name: str, output: str, *, keep: bool = False) -> ToolResult:
    raise TypeError("this turn was made by hand: tools are recorded by  weft.turns.tool")


@dataclass(frozen=True)
class Turn(TurnFields):
    """Messages to send to a model for a user's message, within one budget."""

    record_tool: Callable[..., ToolResult] = field(default=_no_tools, repr=False, compare=False)

    def tool(self, name: str, output: str, *, keep: bool = False) -> ToolResult:
        """Put a tool's output into the thread; a large one becomes a document, and the model gets a preview.

        It is searched and cited like everything else, and removed with the thread unless `keep`.
        """
        return self.record_tool(name, output, keep=keep)

    def openai(self) -> list[dict[str, Any]]:
        """The messages for OpenAI's chat completions, whose cache finds the longest known prefix by itself."""
        return [dict(message) for message in self.messages]

    def anthropic(self) -> dict[str, Any]:
        """The arguments `system` and `messages` of Anthropic's API, with its cache breakpoints.

        One stands behind the system prompt, one behind what was sent before, one at the end for the next turn.
        """
        blocks = [(message["role"], {"type": "text", "text": message["content"]}) for message in self.messages]
        for place in {0, self.stable_messages - 1, len(blocks) - 1}:
            if 0 <= place < len(blocks):
                blocks[place][1]["cache_control"] = {"type": "ephemeral"}  # type: ignore[assignment]
        system = [block for role, block in blocks if role == "system"]
        said = [{"role": role, "content": [block]} for role, block in blocks if role != "system"]
        return {"messages": said} | ({"system": system} if system else {})


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that was stored, with the check of its citations against all that its thread was given."""

    message: str
    """Its id in the thread."""
    check: AnswerCheck
    used: int
    """The number of nodes whose use was counted."""
    receipt: str = ""
    """The id of the receipt of the turn that it answers."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A thread's history in fewer tokens."""

    text: str
    """What became of the older messages."""
    history: tuple[Mapping[str, str], ...]
    """The text and the messages that stay, with their sources, in the format of OpenAI's chat completions."""
    tokens: int
    """Tokens of the history, at most the budget."""
    budget: int
    messages: int
    """The number of messages that stay as they are."""
    dropped: int
    """The number of messages that the text stands for."""
    citations: tuple[str, ...] = ()
    """Ids of the sources that survive."""
