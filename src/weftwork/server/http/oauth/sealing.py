"""Sealed tokens: claims that only this server can write and read, with a kind and an end."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from mcp.server.request_state import AESGCMRequestStateCodec, InvalidRequestState

PREFIX = "weftwork-oauth."
LONGEST = 16_000


class Seal:
    """Seals with AES-GCM under a secret; without one, tokens end with the process."""

    def __init__(self, secret: str | None) -> None:
        self._codec = AESGCMRequestStateCodec([secret or secrets.token_bytes(32)])

    def close(self, kind: str, claims: Mapping[str, Any], now: datetime, lasts: timedelta) -> str:
        """A token of this kind that holds for so long."""
        payload = {**claims, "kind": kind, "ends": int((now + lasts).timestamp()), "nonce": secrets.token_hex(16)}
        return PREFIX + self._codec.seal(json.dumps(payload).encode())

    def open(self, kind: str, token: str, now: datetime) -> dict[str, Any] | None:
        """The claims of a token of this kind that holds now; None for everything else."""
        if not token.startswith(PREFIX) or len(token) > LONGEST:
            return None
        try:
            claims: dict[str, Any] = json.loads(self._codec.unseal(token.removeprefix(PREFIX)))
        except InvalidRequestState:
            return None
        return claims if claims["kind"] == kind and now.timestamp() < claims["ends"] else None
