"""The MCP tools for memories: remember, find, correct, forget, and follow a memory back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weftwork.engine import Weft
from weftwork.faces.memory import Memories, Memory
from weftwork.render.quote import inline
from weftwork.render.values import iso
from weftwork.server.address import to_uri
from weftwork.server.output_cap import OutputCap
from weftwork.server.tool_answer import Answer, Arguments, list_answer

Where = Callable[[str | None], str]


class MemoryTools:
    """Answers for one user; `where` finds the workspace that an argument names."""

    def __init__(self, weft: Weft, user: str, cap: OutputCap, where: Where) -> None:
        self._memories = Memories(weft)
        self._user = user
        self._cap = cap
        self._where = where

    def answers(self) -> Mapping[str, Callable[[Arguments], Answer]]:
        """The tools by name."""
        return {
            "weftwork_remember": self._remember,
            "weftwork_memories": self._find,
            "weftwork_update_memory": self._update,
            "weftwork_forget": self._forget,
            "weftwork_memory_history": self._history,
        }

    def _remember(self, arguments: Arguments) -> Answer:
        workspace = self._where(arguments["workspace"])
        memory = self._memories.remember(
            arguments["text"],
            type=arguments["type"],
            confidence=arguments["confidence"],
            tags=arguments["tags"] or (),
            user=self._user,
            workspace=workspace,
        )
        return self._remembered("Remembered", memory, workspace)

    def _remembered(self, done: str, memory: Memory, workspace: str) -> Answer:
        uri = to_uri(workspace, memory.id)
        lines = [f"{done} as {inline(memory.id)}: {uri}"]
        lines += [
            f"Probably a {conflict.kind} of {_line(conflict.memory)} ({inline(conflict.reason)}): correct one"
            " with weftwork_update_memory, or forget one, if it is."
            for conflict in memory.conflicts
        ]
        return Answer(self._cap.cut("\n".join(lines), ""), {"id": memory.id, "uri": uri})

    def _find(self, arguments: Arguments) -> Answer:
        workspace = self._where(arguments["workspace"])
        found = self._memories.search(
            arguments["query"],
            user=self._user,
            workspace=workspace,
            limit=arguments["limit"],
            memory_types=arguments["types"] or (),
            tags=arguments["tags"] or (),
        )
        entries = [
            (
                f"{_line(result.memory)}  score {result.score:.2f}",
                {**_entry(result.memory, workspace), "score": round(result.score, 4)},
            )
            for result in found
        ]
        return list_answer(
            self._cap, "memories", entries, "No memories found: try other words, or fewer types and tags."
        )

    def _update(self, arguments: Arguments) -> Answer:
        workspace = self._where(arguments["workspace"])
        memory = self._memories.update(arguments["id"], arguments["text"], user=self._user, workspace=workspace)
        return self._remembered("Corrected", memory, workspace)

    def _forget(self, arguments: Arguments) -> Answer:
        workspace = self._where(arguments["workspace"])
        count = self._memories.forget(arguments["id"], user=self._user, workspace=workspace)
        versions = "1 earlier version" if count == 2 else f"{count - 1} earlier versions"
        text = f"Forgotten, with {versions}." if count > 1 else "Forgotten."
        return Answer(text, {"removed": count})

    def _history(self, arguments: Arguments) -> Answer:
        workspace = self._where(arguments["workspace"])
        versions = self._memories.history(arguments["id"], user=self._user, workspace=workspace)
        entries = [(_line(memory), _entry(memory, workspace)) for memory in versions]
        return list_answer(self._cap, "memories", entries, "It has no versions that you may see.")


def _entry(memory: Memory, workspace: str) -> dict[str, Any]:
    """A memory for a program; what it does not have is left out."""
    moments = {"validFrom": memory.valid_from, "validUntil": memory.valid_until, "created": memory.created_at}
    return {
        "id": memory.id,
        "text": inline(memory.content, 300),
        "type": inline(memory.type, 40),
        "tags": [inline(tag, 60) for tag in memory.tags],
        "uri": to_uri(workspace, memory.id),
        **({} if memory.confidence is None else {"confidence": memory.confidence}),
        **({} if memory.owner is None else {"owner": inline(memory.owner, 60)}),
        **{name: iso(moment) for name, moment in moments.items() if moment is not None},
    }


def _line(memory: Memory) -> str:
    """A memory on one line: its id, since when it holds, until when, by whom and how sure."""
    start = "" if memory.valid_from is None else f" {memory.valid_from:%Y-%m-%d}"
    end = "" if memory.valid_until is None else f" until {memory.valid_until:%Y-%m-%d}"
    sure = "" if memory.confidence is None else f", confidence {memory.confidence:g}"
    owner = "" if memory.owner is None else f", by {inline(memory.owner, 60)}"
    return f"{inline(memory.id)}{start}{end}  {inline(memory.content, 300)} ({inline(memory.type, 40)}{sure}{owner})"
