"""The caller: user, workspaces and scope come from the key, never from what a request says.

Without any key in its store a server answers for one user and only to programs of its own machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any, cast
from urllib.parse import unquote

import anyio
from fastapi import Depends, Header, Path
from fastapi.security import HTTPBearer
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asked

from weftwork.render.quote import inline
from weftwork.server.http.oauth.routes import OPEN_PATHS
from weftwork.server.http.problems import Problem
from weftwork.server.http.request_log import CALLER, address_of
from weftwork.server.http.service import Served, Service, service_of
from weftwork.server.keys import find_key
from weftwork.store.server_state import Scope

INCLUDED: dict[Scope, int] = {"record": 0, "read": 1, "write": 2, "admin": 3}
BEACON_PATH = re.compile(r"/v1/workspaces/[^/]+/activity/beacon")
"""The only path that takes a key in its address: browsers send beacons without headers of one's own."""
USER_HEADER = "Weftwork-User"
WORKSPACE_HEADER = "Weftwork-Workspace"
ABOUT_USER = "Act for this user, percent-encoded; for admin keys."
ABOUT_WORKSPACE = "Which of the key's workspaces, percent-encoded, where the path has none."
LONGEST_LIST = 100
"""Entries of a list of one request that the audit log keeps."""
LOCAL = "local"
"""The key of callers where none is needed."""

bearer = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    description="A key made with `weftwork keys create`, as `Authorization: Bearer …`.",
)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request."""

    user: str
    scope: Scope
    workspaces: frozenset[str]
    home: str | None
    """The workspace that is meant where a request names none; None if the key covers several."""
    key: str
    """The id of the key, which is no secret."""
    changes: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False)
    """Workspaces that the request was let change, with what the audit log is to say of it."""

    def may(self, workspace: str, scope: Scope) -> bool:
        """Return whether the caller may read, write or administer a workspace."""
        return workspace in self.workspaces and INCLUDED[self.scope] >= INCLUDED[scope]

    def require(self, workspace: str, scope: Scope) -> None:
        """Raise 404 for a workspace that the caller does not have, 403 for one that needs more than the key gives."""
        if workspace not in self.workspaces:
            raise no_workspace(workspace)
        if not self.may(workspace, scope):
            raise Problem(403, f"this needs a key with scope {scope}, and this one has scope {self.scope}")

    def note(self, workspace: str, **details: Any) -> None:
        """Have the audit log say that the request changes a workspace: ids, names and counts, never content."""
        self.changes.setdefault(workspace, {}).update({name: _bounded(value) for name, value in details.items()})


def _bounded(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [*map(_bounded, value[:LONGEST_LIST]), *(["…"] if len(value) > LONGEST_LIST else [])]


def no_workspace(workspace: str) -> Problem:
    """The answer for a workspace that the caller does not have, whether it exists or not."""
    return Problem(404, f"there is no workspace {inline(workspace, 80)!r} for you")


def identify(connection: HTTPConnection, service: Service) -> Caller:
    """The caller, by the key in the header; counts against the key's rate, once. Blocks: for a worker thread."""
    if CALLER not in connection.scope:
        connection.scope[CALLER] = _identified(connection, service)
    return cast("Caller", connection.scope[CALLER])


def _identified(connection: HTTPConnection, service: Service) -> Caller:
    given = connection.headers.get("authorization")
    local = service.options.local
    if given is None and BEACON_PATH.fullmatch(connection.scope["path"]) and "key" in connection.query_params:
        caller = _by_address(connection, service)
    elif given is None and local is not None and not service.weft.store.keys.all():
        workspaces = frozenset(service.weft.store.workspaces())
        caller = Caller(local.user, "admin", workspaces, local.workspace, LOCAL)
    else:
        caller = _by_key(given or "", service, connection)
    service.rates.take(caller.key)
    return _acting(connection, service, _at_home(connection, caller))


def _by_key(given: str, service: Service, connection: HTTPConnection) -> Caller:
    """The caller by a key, or by a token of OAuth, which stands for one."""
    kind, _, token = given.partition(" ")
    key = find_key(service.weft.store, token.strip(), service.weft.now()) if kind.lower() == "bearer" else None
    if key is None and service.oauth is not None and kind.lower() == "bearer":
        key = service.oauth.key_of(token.strip())
    if key is None:
        service.rates.take(f"address {address_of(connection.scope)}", "with wrong keys from this address")
        challenge = (
            'Bearer realm="weftwork"' if service.oauth is None else service.oauth.challenge(connection.scope["path"])
        )
        headers = {"WWW-Authenticate": challenge}
        raise Problem(401, "this needs a key that is valid: see  weftwork keys create", headers=headers)
    service.key_uses.note(key.id, service.weft.now())
    home = next(iter(key.workspaces)) if len(key.workspaces) == 1 else None
    return Caller(key.user, key.scope, key.workspaces, home, key.id)


def _by_address(connection: HTTPConnection, service: Service) -> Caller:
    """The caller by a key in the address, which histories and the logs of proxies keep: it must open nothing else."""
    caller = _by_key(f"Bearer {connection.query_params['key']}", service, connection)
    if caller.scope != "record":
        raise Problem(403, "a key in an address must have scope record: see  weftwork keys create --scope record")
    return caller


def _at_home(connection: HTTPConnection, caller: Caller) -> Caller:
    if WORKSPACE_HEADER not in connection.headers:
        return caller
    named = unquote(connection.headers[WORKSPACE_HEADER], errors="replace")
    if named not in caller.workspaces:
        raise no_workspace(named)
    return Caller(caller.user, caller.scope, caller.workspaces, named, caller.key)


def _acting(connection: HTTPConnection, service: Service, caller: Caller) -> Caller:
    """The caller as the user whom an administrator acts for, in those of their workspaces that have this user."""
    user = unquote(connection.headers.get(USER_HEADER, caller.user), errors="replace")
    if user == caller.user:
        return caller
    if caller.scope != "admin":
        raise Problem(403, f"only a key with scope admin may act for another user: leave out {USER_HEADER}")
    workspaces = frozenset(each for each in caller.workspaces if user in service.weft.store.users(each))
    named = _workspace_of(connection) or caller.home
    if named in (caller.workspaces & service.options.new_users) - workspaces:
        service.weft.add_user(user, workspace=named)
        workspaces |= {named}
    if not workspaces:
        raise Problem(404, f"there is no user {inline(user, 80)!r} in your workspaces")
    return Caller(user, caller.scope, workspaces, caller.home, caller.key)


def _workspace_of(connection: HTTPConnection) -> str | None:
    """The workspace in the path of a request, if there is one."""
    parts = connection.scope["path"].split("/", 4)
    return parts[3] if parts[1:3] == ["v1", "workspaces"] and len(parts) > 3 else None


class KeyFirst:
    """Asks for the key before a body is read, parsed or put on disk: no route takes one without a key."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        """Pass on what comes with a key that holds, and what brings nothing."""
        if scope["type"] == "http" and _brings_body(scope):
            service: Service = scope["app"].state.service
            if service.oauth is None or scope["path"] not in OPEN_PATHS:
                await anyio.to_thread.run_sync(identify, HTTPConnection(scope), service)
        await self.app(scope, receive, send)


def _brings_body(scope: Asked) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


async def identified(
    connection: HTTPConnection,
    service: Annotated[Service, Depends(service_of)],
    _key: Annotated[object, Depends(bearer)],
    _user: Annotated[str | None, Header(alias=USER_HEADER, description=ABOUT_USER)] = None,
    _workspace: Annotated[str | None, Header(alias=WORKSPACE_HEADER, description=ABOUT_WORKSPACE)] = None,
) -> Caller:
    """The caller, with a key of any scope."""
    known = connection.scope.get(CALLER)
    return known if known is not None else await anyio.to_thread.run_sync(identify, connection, service)


Identified = Annotated[Caller, Depends(identified)]


async def caller_of(caller: Identified) -> Caller:
    """The caller, as a dependency of a route."""
    if caller.scope == "record":
        raise Problem(403, "a key with scope record only records activity: use one with scope read")
    return caller


AnyCaller = Annotated[Caller, Depends(caller_of)]
Named = Annotated[str, Path(description="The workspace.", examples=["main"])]


async def reader_of(workspace: Named, caller: AnyCaller) -> Caller:
    """The caller of a route below a workspace, who may read it."""
    caller.require(workspace, "read")
    return caller


async def writer_of(workspace: Named, caller: AnyCaller) -> Caller:
    """The caller of a route below a workspace, who may write to it."""
    caller.require(workspace, "write")
    caller.note(workspace)
    return caller


async def admin_of(workspace: Named, caller: AnyCaller) -> Caller:
    """The caller of a route below a workspace, who may administer it."""
    caller.require(workspace, "admin")
    caller.note(workspace)
    return caller


async def recorder_of(workspace: Named, caller: Identified) -> Caller:
    """The caller of a route that records what they did, with a key for that or one that may write."""
    caller.require(workspace, "record" if caller.scope == "record" else "write")
    return caller


Reader = Annotated[Caller, Depends(reader_of)]
Writer = Annotated[Caller, Depends(writer_of)]
Admin = Annotated[Caller, Depends(admin_of)]
Recorder = Annotated[Caller, Depends(recorder_of)]


def home_of(caller: Caller, scope: Scope) -> str:
    """The workspace that a route without one in its path is about, which the caller may read or write."""
    if caller.home is None:
        raise Problem(
            400, f"this key covers {len(caller.workspaces)} workspaces: name one in the header {WORKSPACE_HEADER}"
        )
    caller.require(caller.home, scope)
    if scope != "read":
        caller.note(caller.home)
    return caller.home


__all__ = ["Admin", "AnyCaller", "Caller", "Reader", "Recorder", "Served", "Writer", "home_of", "identify"]
