"""The audit log: an entry for each request that changed something, written before its answer is sent."""

from __future__ import annotations

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weftwork.server.http.logs import REQUEST_ID
from weftwork.server.http.request_log import CALLER, address_of
from weftwork.server.http.service import Service
from weftwork.store.server_state import AuditEntry

FIRST_ERROR = 400


class Auditing:
    """Notes who changed what, with which key, from where; ids and counts, never content."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a client that is told of a change finds it in the log."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        service: Service = scope["app"].state.service

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < FIRST_ERROR:
                for entry in _entries(scope):
                    await anyio.to_thread.run_sync(service.weft.store.audit.add, entry)
            await send(message)

        await self.app(scope, receive, sending)


def _entries(scope: Scope) -> list[AuditEntry]:
    """The entries of a request: one for each workspace that it was let change."""
    caller = scope.get(CALLER)
    if caller is None or scope["method"] == "GET":
        return []
    service: Service = scope["app"].state.service
    named = {name: value for name, value in scope.get("path_params", {}).items() if name != "workspace"}
    return [
        AuditEntry(
            at=service.weft.now(),
            action=details.get("action") or scope["route"].name,
            workspace=workspace,
            user=caller.user,
            key=caller.key,
            address=address_of(scope),
            request=REQUEST_ID.get(),
            details={**named, **{name: value for name, value in details.items() if name != "action"}},
        )
        for workspace, details in caller.changes.items()
    ]
