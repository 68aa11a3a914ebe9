"""The protocols of a store: its views, its batches and the store itself.

Writes go through a `Batch`, which is one transaction on one workspace. Reads go through a `View`,
which is one consistent snapshot of one workspace as one user may see it: no method of a view
returns, counts or is influenced by anything that this user may not see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from weftwork.history import Change, Event, Usage, Vote
from weftwork.provenance import Trust
from weftwork.store.erasure import Erasure
from weftwork.store.files import Files
from weftwork.store.receipts import GivenToThreads, Receipts
from weftwork.store.server_state import AuditLog, Jobs, Keys
from weftwork.types import (
    Edge,
    Entry,
    FieldValue,
    Filters,
    Hit,
    Node,
    NodeInfo,
    Outline,
    Reached,
    Record,
)

if TYPE_CHECKING:
    from weftwork.embed.protocol import Matrix, Vector

Direction = Literal["out", "in", "both"]

USES_BY_ANOTHER = 3
"""Cap on the uses by one other user that count, so that nobody can inflate a node for others."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Fields that mark a node as closed, and the values that do; all in lower case."""

    fields: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


class Batch(Protocol):
    """The writes of one transaction, which is atomic."""

    def put(self, entries: Iterable[Entry], *, keep_access: bool = False) -> int:
        """Insert or replace nodes; parents may be in the same call, in any order. Count the changed.

        With `keep_access`, a node that names no list or owner keeps those that it has.
        """

    def rewrite(self, entries: Iterable[Entry]) -> int:
        """Replace existing nodes in place; count the changed.

        Parent, position, owner and access list stay as they are.
        """

    def link(self, edges: Iterable[Edge]) -> int:
        """Insert or replace edges between existing nodes; count the changed."""

    def unlink(self, edges: Iterable[Edge]) -> int:
        """Remove edges; those that do not exist are ignored."""

    def remove(self, ids: Iterable[str]) -> int:
        """Remove nodes with everything below them; unknown ids are ignored. Count the removed."""

    def move(self, node: str, parent: str | None, position: int = 0) -> None:
        """Reparent a subtree; inherited access lists change with it."""

    def set_access(self, node: str, access: frozenset[str] | None) -> None:
        """Set the access list of a node, or None to inherit its parent's."""

    def unchecked_access_changes(self) -> dict[str, str | None]:
        """The stored nodes whose effective list this batch changed, with their owners. Ignores permissions."""

    def set_validity(self, node: str, start: datetime | None, end: datetime | None) -> None:
        """Set the validity interval of a node; nothing else about it changes."""

    def add_user(self, user: str, groups: Iterable[str] = ()) -> None:
        """Add a user to the workspace, or replace the groups of an existing one."""

    def remove_user(self, user: str) -> bool:
        """Remove a user and their groups; what they wrote stays. Return False if there is no such user."""

    def record(self, user: str, node: str, kind: Literal["view", "edit"], at: datetime) -> None:
        """Record that a user viewed or edited a node."""

    def give_feedback(self, user: str, node: str, useful: bool, at: datetime, query: str = "") -> None:
        """Record whether a node was useful to a user for a question; the latest feedback on both counts."""

    def count_use(self, user: str, nodes: Iterable[str]) -> None:
        """Count one more use of these nodes by a user's answer."""

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors under the digests of their texts."""

    def put_page_vectors(self, model: str, pages: Mapping[str, Matrix], read_at: int) -> None:
        """Store the vectors of pages, by node id; they are removed when their node changes.

        Nodes that changed after the version at which they were read are left out.
        """

    def mark(self, group: str, marks: Mapping[str, str | None]) -> None:
        """Set marks of a group by name, or remove those that are None.

        Marks are private key-value pairs, such as the import log's. They do not raise the version.
        """


class View(Protocol):
    """A user's snapshot of a workspace."""

    workspace: str
    user: str
    version: int
    """The version of the workspace."""
    fingerprint: tuple[object, ...]
    """Equal for two views if and only if no write came between them and both see the same access lists."""

    def nodes(self, ids: Sequence[str]) -> list[Node]:
        """The visible nodes among these ids, in the order asked for."""

    def load(self, keys: Sequence[int]) -> list[Record]:
        """The visible passages among these keys, in the order asked for, with their breadcrumbs."""

    def outlines(
        self, documents: Sequence[str], *, most: int = 2_000, as_of: datetime | None = None
    ) -> dict[str, Outline]:
        """The visible documents among these, each with its visible nodes in reading order.

        With `as_of`, only nodes that hold at that moment. Of a document with more than `most` nodes, itself alone.
        """

    def passages(self, nodes: Sequence[str], limit: int = 1) -> dict[str, list[int]]:
        """Keys of the first passages of each visible node."""

    def nodes_of(self, keys: Sequence[int]) -> list[str]:
        """Ids of the visible nodes that these passages belong to, in their order, each once."""

    def cited(self, citations: Sequence[str]) -> list[Record]:
        """The visible passages with these citation ids, in the order asked for."""

    def find(self, title: str) -> list[str]:
        """Ids of the visible nodes whose title, source, alias or id in an export is this, ignoring case."""

    def select(self, filters: Filters, *, limit: int, sort: Literal["updated", "title"] = "updated") -> list[NodeInfo]:
        """Visible nodes that pass the filters."""

    def below_trust(self, trust: Trust) -> list[str]:
        """Ids of the visible nodes whose text deserves less trust than this (`NodeInfo.trust`)."""

    def past(
        self,
        fields: Sequence[str],
        now: datetime,
        *,
        closed: Closed = ...,
        limit: int,
        filters: Filters = ...,
        since: datetime | None = ...,
    ) -> list[NodeInfo]:
        """Visible nodes with a date in one of these fields that has passed, the earliest first.

        Dates before the day of `since` are left out.
        A day has passed when it is over, a moment when it is before now. Names are read in any usual case. What is
        no date counts as absent, and nodes that are `closed` are left out.
        """

    def search_words(
        self, text: str, *, limit: int, filters: Filters = ..., also: Mapping[str, float] = ...
    ) -> list[Hit]:
        """BM25 over title, text, tags and fields: any word may match; "phrases" must; prefix* too.

        Words that count `also`, with their weights, are not of the query. Statistics are those of what the viewer
        may see. A score is the share of the highest that this query could give, in [0, 1].
        """

    def corrections(self, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The words of visible passages that misspelt ones may stand for, the nearest first."""

    def search_fuzzy(self, text: str, *, limit: int, filters: Filters = ..., threshold: float = 0.3) -> list[Hit]:
        """Titles, paths and words that nearly match, by trigram similarity in [0, 1]."""

    def search_vector(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = ..., threshold: float = 0.0
    ) -> list[Hit]:
        """Nearest passages by cosine."""

    def prepare_vector_search(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = ..., threshold: float = 0.0
    ) -> Callable[[], list[Hit]]:
        """Return `search_vector` as a callable, safe to run in another thread beside other reads."""

    def search_pages(self, vectors: Matrix, *, model: str, limit: int, filters: Filters = ...) -> list[Hit]:
        """Document pages by MaxSim: each of these vectors with the nearest of the page's, on average.

        A hit is the first passage of its page; a score is in [0, 1].
        """

    def similarities(self, vector: Vector, keys: Sequence[int], *, model: str) -> dict[int, float]:
        """Cosine of each of these passages that has a vector."""

    def unknown_words(self, words: Sequence[str]) -> list[str]:
        """The words that occur in no visible passage."""

    def size(self) -> tuple[int, int]:
        """The number of visible passages, and of their words."""

    def idf(self, words: Sequence[str]) -> dict[str, float]:
        """Inverse document frequency of words among the visible passages."""

    def ancestors(self, node: str, depth: int) -> list[NodeInfo]:
        """The ancestors from the parent upwards, up to the first hidden one."""

    def siblings(self, node: str, count: int) -> list[NodeInfo]:
        """Up to `count` visible siblings before and `count` after, nearest first, before first."""

    def adjacent(self, keys: Sequence[int], count: int) -> dict[int, list[tuple[int, int]]]:
        """Up to `count` passages before and after each of these, in reading order, as (offset, key).

        Within a node they follow the text; a node with a single passage has its visible siblings beside it.
        """

    def said_around(
        self, keys: Sequence[int], count: int, *, as_of: datetime | None = None
    ) -> dict[int, list[tuple[int, int]]]:
        """Up to `count` visible nodes said before and after in the same conversation, as (offset, first passage).

        Those that are not valid at `as_of` are passed over.
        """

    def children(self, node: str, limit: int, *, last: bool = False) -> list[NodeInfo]:
        """The first (or last) visible children in their order."""

    def neighbours(
        self, node: str, *, types: Sequence[str] = (), direction: Direction = "both", limit: int = 100
    ) -> list[tuple[Edge, NodeInfo]]:
        """Visible nodes at the other end of this node's edges."""

    def edges(self, nodes: Sequence[str], *, limit: int = 100, as_of: datetime | None = None) -> list[Edge]:
        """Edges between visible nodes with an end among these, by source, target, type and label.

        Of a node with more than `limit` neighbours in one direction, those at the heaviest edges count, then those
        with the lowest ids. With `as_of`, both ends hold at that moment.
        """

    def walk(
        self,
        starts: Sequence[str],
        *,
        depth: int,
        limit: int = 100,
        types: Sequence[str] = (),
        first: Sequence[str] = (),
        hub_limit: int = 50,
        vector: Vector | None = None,
        model: str = "",
    ) -> list[Reached]:
        """Breadth first over the tree and the edges, both ways, through visible nodes only.

        `types` orders and restricts the edges that are followed; `first` orders without restricting:
        at each distance its types come before all others, so that they are within `limit` and decide
        between two shortest paths. A node with more neighbours than `hub_limit` is sampled: those most
        similar to `vector`, or the most recent; each type of the order in turn has half of the places
        that are left.
        """

    def tree_distance(self, node: str, others: Sequence[str]) -> dict[str, int]:
        """Hops between nodes through their nearest common visible ancestor, where there is one."""

    def events(self, kind: Literal["view", "edit"], *, limit: int, since: datetime | None = None) -> list[Event]:
        """The user's own latest views or edits, newest first, once per node."""

    def usage(self, nodes: Sequence[str]) -> dict[str, Usage]:
        """Use of these nodes; at most USES_BY_ANOTHER uses of each other user count."""

    def votes(self, limit: int) -> list[Vote]:
        """The user's own latest feedback on nodes, the newest first."""

    def changes(self, since: int) -> list[Change]:
        """Visible nodes written or removed after a version of the workspace."""

    def next_turn(self, moment: datetime) -> datetime | None:
        """The first moment after this one at which a visible node begins or ceases to be valid."""

    def vectors(self, digests: Sequence[str], *, model: str) -> dict[str, Vector]:
        """Vectors stored under those of these digests that belong to a visible passage."""

    def counts(self) -> dict[str, int]:
        """The number of visible nodes by type, edges, tags and passages."""


class Store(Protocol):
    """Workspaces; and beside them, in objects of their own, the keys and jobs of a server."""

    @property
    def keys(self) -> Keys:
        """The API keys of a server."""

    @property
    def jobs(self) -> Jobs:
        """The jobs of a server."""

    @property
    def audit(self) -> AuditLog:
        """The log of what was written and changed."""

    @property
    def erasure(self) -> Erasure:
        """Removal for good, and what is known of a user."""

    @property
    def receipts(self) -> Receipts:
        """The receipts of contexts that were handed out."""

    @property
    def given(self) -> GivenToThreads:
        """Records of what users were given in threads."""

    def create_workspace(self, workspace: str, *, owner: str, access: frozenset[str] = ...) -> None:
        """Create a workspace with its first user; `access` is the list of root nodes without one."""

    def drop_workspace(self, workspace: str) -> None:
        """Remove a workspace and everything derived from it."""

    def workspaces(self) -> list[str]:
        """Names of all workspaces."""

    def version(self, workspace: str) -> int:
        """The version of a workspace, which each write raises."""

    def atomic(self, workspace: str) -> AbstractContextManager[Batch]:
        """A batch that is committed at the end of the block, and rolled back if it raises."""

    def view(self, workspace: str, user: str) -> AbstractContextManager[View]:
        """A snapshot for one user."""

    def users(self, workspace: str) -> dict[str, tuple[str, ...]]:
        """Users of a workspace with the groups that they belong to."""

    def unchecked_nodes(self, workspace: str, ids: Sequence[str]) -> set[str]:
        """Existing ids among `ids`. Ignores permissions: only for the write path."""

    def unchecked_fields(self, workspace: str, node: str) -> Mapping[str, FieldValue] | None:
        """The fields of a node, None if it does not exist. Ignores permissions: only for the write path."""

    def unchecked_children(self, workspace: str, node: str) -> set[str]:
        """Ids of the children of a node. Ignores permissions: only for the write path."""

    def unchecked_access_lists(self, workspace: str, ids: Sequence[str]) -> dict[str, int]:
        """A number for the effective list of each node. Ignores permissions: only for the write path."""

    def unchecked_parent(self, workspace: str, node: str) -> str | None:
        """The id of a node's parent. Ignores permissions: only for the write path."""

    def marks(self, workspace: str, group: str) -> dict[str, str]:
        """The marks of a group, by name. Ignores permissions: only for the write path."""

    def files(self, workspace: str) -> Files:
        """The files that belong to the workspace's nodes; they go when their nodes are removed."""

    def unchecked_vectors(self, workspace: str, model: str, digests: Sequence[str]) -> set[str]:
        """The digests that have a vector. Ignores permissions: only for the write path."""

    def waiting(self, workspace: str, model: str) -> int:
        """The number of texts without a vector of a model, claimed ones included."""

    def vector_counts(self, workspace: str) -> dict[str, int]:
        """The number of vectors by model, for models that are or were in use."""

    def claim(self, workspace: str, model: str, limit: int) -> AbstractContextManager[Mapping[str, str]]:
        """Claim some texts without a vector, by digest; no other worker gets them until the block ends.

        Store their vectors within the block. If it raises, or its process dies, the texts can be claimed again.
        """

    def unchecked_pages_without_vectors(self, workspace: str, model: str, limit: int) -> list[Node]:
        """Some document pages without vectors of a model. Ignores permissions: only for the write path."""

    def keep_context(self, workspace: str, name: str, *, user: str, thread: str, kept: str) -> None:
        """Store the record of a user's context, for a while; no version rises."""

    def kept_context(self, workspace: str, name: str, *, user: str, thread: str) -> str | None:
        """The record of a context of this user and thread."""

    def catch_up(self, workspace: str, models: Mapping[str, int] = ...) -> None:
        """Bring the indexes up to date; `models` names the vector indexes and their dimensions."""

    def check(self) -> list[str]:
        """Problems found in the database and its indexes; empty when all is well."""

    def close(self) -> None:
        """Release files and connections."""
