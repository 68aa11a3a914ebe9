"""Options of a server: its limits, and the user that it answers for without a key."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weftwork.errors import InvalidInput
from weftwork.server.http.oauth.settings import OAuthSettings
from weftwork.server.http.schemas.values import DEEPEST, LARGEST_BUDGET, LONGEST_QUERY, MOST_IN_A_BATCH, MOST_LISTED

if TYPE_CHECKING:
    from weftwork.faces.research.model import LanguageModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """The user that a server answers for as long as its store has no key at all."""

    user: str
    workspace: str


CEILINGS = {
    "batch": MOST_IN_A_BATCH,
    "query_characters": LONGEST_QUERY,
    "depth": DEEPEST,
    "budget_tokens": LARGEST_BUDGET,
    "results": MOST_LISTED,
}
"""The maxima of the OpenAPI description: a higher limit would change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one request may ask for. What is over it is refused, never cut."""

    body_bytes: int = 2_000_000
    upload_bytes: int = 100_000_000
    """Of an uploaded document; its request may be larger than others for that."""
    batch: int = 1000
    """Nodes or edges in one request."""
    query_characters: int = 8000
    depth: int = 5
    """Links that a walk follows."""
    budget_tokens: int = 200_000
    results: int = 200
    """Of a search or a list."""
    requests_per_minute: int = 600
    """For each key; 0 for no limit."""
    burst: int = 60
    """Requests of one key that may come at once."""
    waiting_jobs: int = 100
    """Uploads of one workspace that may wait."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value, least = getattr(self, each.name), 0 if each.name == "requests_per_minute" else 1
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInput(f"limit {each.name} must be a whole number of at least {least}, got {value!r}")
            if value > CEILINGS.get(each.name, value):
                raise InvalidInput(f"limit {each.name} can be at most {CEILINGS[each.name]:,}, got {value:,}: lower it")


LIMITS = tuple(each.name for each in fields(Limits))


@dataclass(frozen=True, slots=True)
class Tls:
    """The files by which a server speaks TLS itself, in PEM format."""

    certificate: str
    """With the certificates between it and its authority."""
    key: str | None = None
    """None if it is in the file of the certificate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a server."""

    local: Local | None = None
    """The user to answer for without a key; None to ask everyone for one."""
    limits: Limits = field(default_factory=Limits)
    new_users: frozenset[str] = frozenset()
    """Workspaces in which an admin key may act for a user who is not known yet, and then is."""
    cors: tuple[str, ...] = ()
    """Origins whose pages may call this server, such as https://wiki.example.org."""
    open_metrics: bool = False
    """True if /metrics needs no key."""
    uploads: Path | None = None
    """The folder in which documents wait until they are indexed; None for one beside the store."""
    workers: int = 1
    """Documents that are indexed at once."""
    threads: int = 16
    """Requests that are worked on at once; others wait."""
    max_output_tokens: int = 10_000
    """Most tokens in one answer over MCP."""
    oauth: OAuthSettings | None = None
    """How clients get tokens, beside keys; None for keys alone."""
    tls: Tls | None = None
    """None for a server that speaks plain HTTP."""
    proxies: tuple[str, ...] = ()
    """Addresses and networks of proxies that are believed what client they speak for."""
    drain_seconds: int = 0
    """Time between the signal to stop and the end of listening, in which `/readyz` says that it will."""
    tracer_provider: Any = None
    """Of OpenTelemetry, if spans are wanted."""
    model: LanguageModel | None = None
    """The language model that answers questions, if there is one."""
