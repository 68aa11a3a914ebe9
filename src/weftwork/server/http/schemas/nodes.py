"""Nodes, edges, users and workspaces."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from weftwork.provenance import Origin
from weftwork.server.http.schemas.values import (
    MOST_IN_A_BATCH,
    Fields,
    FieldValues,
    Json,
    Model,
    Moment,
    Name,
    Names,
    Number,
    Reply,
    Several,
    Share,
    Text,
    Title,
    Truth,
    Whole,
)
from weftwork.types import Edge, Node

MOST_FIELD_CHARACTERS = 100_000
"""Of the fields of one node. They are sent with every hit of a search."""
NODE: Json = {
    "id": "ana/plan",
    "type": "page",
    "title": "Dome maintenance",
    "text": "The dome turns on twelve steel rollers that need fresh grease every spring.",
    "tags": ["maintenance"],
    "fields": {"status": "open", "due": "2026-04-01"},
}
EDGE: Json = {"source": "ana/plan", "target": "ana/budget", "type": "reference"}


def _bounded(fields: Json) -> Json:
    """Fields of which a list of nodes can be sent."""
    if sum(len(name) + len(str(value)) for name, value in fields.items()) > MOST_FIELD_CHARACTERS:
        raise ValueError(f"the fields of a node may have {MOST_FIELD_CHARACTERS:,} characters: put more into its text")
    return fields


class NodeIn(Model):
    """A node to be written."""

    model_config = ConfigDict(json_schema_extra={"examples": [NODE]})

    id: Name | None = None
    """Left out, the server makes one of the user's name and the content."""
    type: Annotated[str, Field(strict=True, min_length=1, max_length=200)] = "note"
    title: Title = ""
    text: Text = ""
    parent: Name | None = None
    position: Whole = 0
    tags: Names = []
    fields: Annotated[Fields, AfterValidator(_bounded)] = {}
    confidence: Share | None = None
    conversation: Name | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    source: Title = ""
    origin: Origin = "written"
    """The way by which the text came in; the writer is the user of the key."""
    owner: Name | None = None
    """The owner: oneself, unless the key is an admin's."""
    access: Names | None = None
    """The access list: names, `group:team` or `*`; null inherits from the parent, or the workspace."""

    def value(self, name: str) -> Node:
        """The node, under this id."""
        given: dict[str, Any] = {field: getattr(self, field) for field in type(self).model_fields}
        fields = {key: tuple(part) if isinstance(part, list) else part for key, part in self.fields.items()}
        access = None if self.access is None else frozenset(self.access)
        return Node(**given | {"id": name, "tags": tuple(self.tags), "fields": fields, "access": access})


class NodeOut(Reply):
    """A node as the user may see it."""

    model_config = ConfigDict(json_schema_extra={"examples": [NODE]})

    id: str
    type: str
    title: str
    text: str | None = None
    """Left out in lists."""
    parent: str | None
    position: int
    tags: list[str]
    fields: FieldValues
    confidence: float | None
    conversation: str | None
    created_at: str | None
    updated_at: str | None
    valid_from: str | None
    valid_until: str | None
    source: str
    origin: Origin
    writer: str | None
    owner: str | None
    access: list[str] | None


class EdgeIn(Model):
    """A typed link between two nodes."""

    model_config = ConfigDict(json_schema_extra={"examples": [EDGE]})

    source: Name
    target: Name
    type: Annotated[str, Field(strict=True, min_length=1, max_length=200)] = "reference"
    label: Title = ""
    weight: Number = 1.0

    def value(self) -> Edge:
        """The edge."""
        return Edge(source=self.source, target=self.target, type=self.type, label=self.label, weight=self.weight)


class Addition(Model):
    """Nodes and edges to be written, all of them or none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodes": [NODE], "edges": []}]})

    nodes: Annotated[Several[NodeIn], Field(max_length=MOST_IN_A_BATCH)] = []
    edges: Annotated[Several[EdgeIn], Field(max_length=MOST_IN_A_BATCH)] = []
    in_place: Truth = False
    """The nodes must exist, and keep their parent, position, owner and access list."""
    keep_access: Truth = False
    """Nodes that exist keep owner and list unless they name others."""


class AddedOut(Reply):
    """Counts of a write."""

    nodes: int
    """The number that are new or changed."""
    edges: int
    embedded: int
    """The number of texts that have a vector now: those of this write, whether or not they had one before."""
    ids: list[str]
    """The ids of the nodes, in the order in which they came."""


class Edges(Model):
    """Edges to be written or removed, all of them or none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"edges": [EDGE]}]})

    edges: Annotated[Several[EdgeIn], Field(max_length=MOST_IN_A_BATCH)]


class Changed(Reply):
    """The number that were changed."""

    changed: int


class Removal(Model):
    """Nodes to be removed with everything below them, all of them or none."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["ana/plan"]}]})

    ids: Annotated[list[Name], Field(max_length=MOST_IN_A_BATCH)]


class Removed(Reply):
    """The number of nodes that were removed, of those that the user may see."""

    removed: int


class Move(Model):
    """A move of a node, with everything below it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"node": "ana/plan", "parent": "ana/archive"}]})

    node: Name
    parent: Name | None = None
    position: Whole = 0


class Access(Model):
    """The access list of a node and of what inherits from it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"node": "ana/plan", "access": ["bo", "group:team"]}]})

    node: Name
    access: Names | None
    """Names, `group:team` or `*`; null inherits from the parent again. The owner always sees it."""


class NodeList(Reply):
    """Nodes without their texts."""

    nodes: list[NodeOut]


class Neighbour(Reply):
    """A node at the other end of an edge."""

    edge: Edge
    node: NodeOut


class Neighbours(Reply):
    """The nodes at the other ends of a node's edges."""

    neighbours: list[Neighbour]


class WorkspaceIn(Model):
    """A workspace to be made."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "research", "access": ["*"]}]})

    name: Annotated[str, Field(strict=True, min_length=1, max_length=200)]
    access: Names = ["*"]
    """The access list of nodes that have none of their own."""
    owner: Name | None = None
    """Its first user: oneself, unless said otherwise."""


class WorkspaceOut(Reply):
    """A workspace as this key may use it."""

    name: str
    user: str
    """On whose behalf the key reads and writes."""
    scope: Literal["read", "write", "admin"]


class WorkspaceList(Reply):
    """The workspaces that the key covers."""

    workspaces: list[WorkspaceOut]


class Counts(WorkspaceOut):
    """A workspace, with counts of what the user may see."""

    counts: dict[str, int]


class UserIn(Model):
    """The groups of a user."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"groups": ["team"]}]})

    groups: Names = []


class UserOut(Reply):
    """A user of the workspace."""

    name: str
    groups: list[str]


class UserList(Reply):
    """The users of the workspace."""

    users: list[UserOut]
