"""Turns of conversations, and receipts."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from weftwork.receipts import Receipt
from weftwork.server.http.schemas.context import AnswerCheckOut
from weftwork.server.http.schemas.faces import Said
from weftwork.server.http.schemas.values import LARGEST_BUDGET, Model, Name, Names, Reply, Share, Text, Truth

Tokens = Annotated[int, Field(strict=True, ge=1, le=LARGEST_BUDGET)]


class TurnIn(Model):
    """A user's message in a thread."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"thread": "ana/thread-1", "message": "Who has the keys?", "budget": 8000}]}
    )

    thread: Name
    message: Said
    budget: Tokens | None = None
    """Most tokens of all messages together."""
    rules: Text = ""
    """Instructions of the application, which stand first."""
    recipe: Name = "default"
    min_support: Share | None = None
    """The least support of the message with which anything is shown."""


class ToolIn(Model):
    """The output of a tool."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"thread": "ana/thread-1", "name": "list_keys", "output": "Ana: 2\nBen: 1"}]}
    )

    thread: Name
    name: Annotated[str, Field(strict=True, min_length=1, max_length=200, pattern=r"\S")]
    output: Text
    keep: Truth = False
    """Keep its document when the thread is removed."""


class ReplyIn(Model):
    """A model's answer."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"thread": "ana/thread-1", "text": "Ben has. [k482913]"}]}
    )

    thread: Name
    text: Said


class ReplyOut(Reply):
    """An answer that was stored, with the check of its citations."""

    message: str
    check: AnswerCheckOut
    used: int
    receipt: str


class CompactIn(Model):
    """A thread whose history is to be shortened."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"thread": "ana/thread-1", "keep": 2000}]})

    thread: Name
    keep: Tokens = 2_000
    """Tokens of the history."""


class ReceiptList(Reply):
    """Receipts, the latest first."""

    receipts: list[Receipt]


class EraseIn(Model):
    """Receipts to be removed: by their ids, or everything of a user."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["rec-3k9x0a1b2c"]}]})

    ids: Names = []
    everything: Truth = False
    of: Name | None = None
    """Whose, where an administrator erases everything of another user."""
