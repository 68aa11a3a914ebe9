"""Contexts of a server, which builds them with its own settings and parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from weftwork.errors import InvalidInput
from weftwork.faces.workspace.parts import GivenBlocks
from weftwork.faces.workspace.payload import ContextPayload, ContextValidationResult
from weftwork.faces.workspace.request import ContextRequest, User

Method = Literal["build", "validate", "estimate"]


class Server(Protocol):
    """A `Client`, as far as this face needs it."""

    def workspace_face(self, method: Method, body: Mapping[str, Any], *, user: str, workspace: str) -> Any:
        """The answer of `POST …/context/workspace/{method}`."""


class RemoteContexts:
    """Contexts of a server."""

    def __init__(self, server: Server, given: Mapping[str, object]) -> None:
        """Refuse what is `given` for this builder alone, which a server cannot be handed."""
        own = [name for name, value in given.items() if value is not None and value != ()]
        if own:
            raise InvalidInput(
                f"a server builds contexts by its own settings and parts, and cannot be given {', '.join(own)}: set"
                " [recipes.workspace] in its weftwork.toml, or use the parts with a Weft"
            )
        self._server = server

    def build(self, request: ContextRequest, blocks: Sequence[GivenBlocks]) -> ContextPayload:
        """The context for a request."""
        return ContextPayload.from_dict(self._send("build", request.to_dict(), request.user), request)

    def estimate_tokens(self, payload: ContextPayload) -> int:
        """The tokens of a payload, by the server's tokenizer."""
        return int(self._send("estimate", {"payload": payload.to_dict()}, payload.request.user)["tokens"])

    def validate(self, payload: ContextPayload) -> ContextValidationResult:
        """The violations of a payload."""
        body = {"payload": payload.to_dict(), "request": payload.request.to_dict()}
        return ContextValidationResult.from_dict(self._send("validate", body, payload.request.user))

    def _send(self, method: Method, body: Mapping[str, Any], user: User) -> Any:
        return self._server.workspace_face(method, body, user=user.id, workspace=user.workspace)
