"""Keys, as administrators see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from weftwork.server.http.schemas.values import Model, Name, Reply

Scopes = Literal["record", "read", "write", "admin"]


class KeyIn(Model):
    """A key to be made for a user of this workspace."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"user": "ana", "scope": "read", "name": "desk"}]})

    user: Name
    scope: Scopes = "read"
    name: Annotated[str, Field(strict=True, max_length=100)] = ""
    lasts: Annotated[str, Field(strict=True, max_length=8)] | None = None
    """How long it holds, such as `90d`; null for ever."""


class KeyOut(Reply):
    """A key, without its token."""

    id: str
    name: str
    user: str
    scope: Scopes
    state: Literal["active", "expired", "revoked"]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    """To about a minute; null if it never was."""


class NewKey(KeyOut):
    """A key that was just made; its token is told this once."""

    token: str


class KeyList(Reply):
    """The keys that cover a workspace, the oldest first."""

    keys: list[KeyOut]
