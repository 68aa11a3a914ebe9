"""The statements that each store writes in its own SQL: what they take and which columns they return.

INFO stands for the columns of `codec.node_info`, PASSAGE for those of a `Passage`. Nodes are named by their ids
(`names`) or by their numbers (`nodes`), passages by their keys.
"""

from __future__ import annotations

from typing import Protocol


class ReadQueries(Protocol):
    """Reads of a view. All but FIRST_PASSAGES, whose nodes are known to be visible, check permissions."""

    NUMBERS: str
    """names → id, number"""
    NODES: str
    """names → INFO, text"""
    RECORDS: str
    """keys → INFO, number of the node, number and id of its document, whether the citation is shared, PASSAGE"""
    TRAILS: str
    """keys, depth → number of the node, number and title of an ancestor; the nearest first"""
    HEADS: str
    """names → INFO, number"""
    OUTLINES: str
    """documents, most, ever, as_of → document, OUTLINE of each passage of its nodes; by position

    OUTLINE is number, number of the parent, id, type, title, key, tokens, whether it is a part of the document that is
    valid only for a time. Of a document with more than `most` visible
    nodes, its own passages alone.
    """
    PASSAGE_KEYS: str
    """names, limit → id, key of each of the first passages; in order"""
    OWNERS: str
    """keys → key, id of the node"""
    CITED: str
    """beginnings of citations → key, citation"""
    FIND: str
    """title, name as fields have it, names of fields → id; the oldest first"""
    BELOW_TRUST: str
    """origins, own, user → id"""
    RECENT: str
    """limit, {filters} → INFO; the latest first"""
    BY_TITLE: str
    """limit, {filters} → INFO"""
    PAST: str
    """names of fields, earliest, latest, today, now, closing, closed, limit, {filters} → INFO; the earliest first"""
    FIRST_PASSAGES: str
    """nodes → key, number of the node"""

    ANCESTORS: str
    """node, depth → INFO; the nearest first"""
    SIBLINGS_BEFORE: str
    """node, count → INFO; the nearest first"""
    SIBLINGS_AFTER: str
    """node, count → INFO; the nearest first"""
    FIRST_CHILDREN: str
    """node, limit → INFO; the first first"""
    LAST_CHILDREN: str
    """node, limit → INFO; the last first"""
    ADJACENT: str
    """keys, count → key, key of a passage of the same node, how far after it; in order"""
    ADJACENT_BEFORE: str
    """keys, count → key, key of the first passage of a sibling before its node; the nearest first"""
    ADJACENT_AFTER: str
    """keys, count → key, key of the first passage of a sibling after its node; the nearest first"""
    SAID_BEFORE: str
    """keys, count, ever, as_of → key, key of a passage said before in its conversation; the nearest first"""
    SAID_AFTER: str
    """keys, count, ever, as_of → key, key of a passage said after in its conversation; the nearest first"""
    LINEAGES: str
    """names, depth → id, number of the node or of an ancestor, how far up that is"""

    NEIGHBOURS_OUT: str
    """node, any, types, limit → INFO of the target, type, label, weight; the heaviest first"""
    NEIGHBOURS_IN: str
    """node, any, types, limit → INFO of the source, type, label, weight; the heaviest first"""
    EDGES: str
    """names, limit, ever, as_of → name, source, target, type, label, weight"""
    CHILD_HOPS: str
    """frontier, limit → start, end, type, label, id of the end, when it changed, direction, its type, weight, owner"""
    PARENT_HOPS: str
    """The same."""
    EDGE_HOPS_OUT: str
    """frontier, limit, any, types, order → the same"""
    EDGE_HOPS_IN: str
    """The same."""

    EVENTS: str
    """user, kind, since, limit → id, key of the first passage, when; the latest first"""
    USAGE: str
    VOTES: str
    """names, user, most → id, uses, times that it was useful, and that it was not"""
    CHANGES: str
    """since → id, version, deleted; in order"""
    COUNT_BY_TYPE: str
    """→ type, number of nodes; in order"""
    COUNT_EDGES: str
    """→ number of edges between visible nodes"""
    COUNT_TAGS: str
    """→ number of different tags"""
    NEXT_TURN: str
    """moment → the first moment after it at which a node begins or ceases to be valid, or NULL"""

    PAGES: str
    """model, {filters} → number of the node, width of its vectors; in order"""
    PAGE_SKETCHES: str
    """model, nodes → number of the node, sketch; in order"""
    PAGE_VECTORS: str
    """model, nodes → key of the first passage, vectors; in order"""


class WriteQueries(Protocol):
    """Statements of a batch. They ignore permissions."""

    NUMBERS: str
    """names → id, number"""
    STORED: str
    """names → id, number, digest, access list, number of the parent, created_at, document"""
    PARENTS: str
    """names → id, number, access list, document"""
    DOCUMENT: str
    """node → type, document, document of the parent"""
    DOCUMENTS_BELOW: str
    """nodes → number of a child, type, document, document of the parent; in order"""
    SET_DOCUMENT: str
    """node, document"""
    IS_ABOVE: str
    """node, parent → a row if the node is the parent or one of its ancestors"""
    OWN_ACCESS: str
    """names → id, owner, own access"""
    NODE_OWNERS: str
    """nodes → id, owner"""
    PLACES: str
    """names → id, id of the parent, position, owner, own access"""
    SUBTREES: str
    """names → number, id; the nodes and everything below them"""
    MOVE: str
    """node, parent, position"""
    SET_ACCESS: str
    """node, access"""
    SET_VALIDITY: str
    """node, start, end"""

    PRINCIPALS: str
    """acl → principals"""
    ACCESS: str
    """node → own access, owner, access list of the parent, access list"""
    ACCESS_BELOW: str
    """nodes → number of a child, access list, own access, owner, access list of the parent; in order"""

    IS_USER: str
    """user → a row if they are known"""
    ADD_USER: str
    REMOVE_USER: str
    """user"""
    TEAMS: str
    """user → team"""
    REMOVE_TEAMS: str
    """user"""
    ADD_TEAMS: str
    """user, teams"""
    PUT_EVENT: str
    """user, kind, node, at; of two moments the later one stays"""
    PUT_FEEDBACK: str
    """user, node, useful, at"""
    COUNT_USE: str
    """user, node"""

    CHANGED_SINCE: str
    """since, nodes → id"""
    LOG_CHANGES: str
    """nodes, version, deleted"""
    REMOVE_MARKS: str
    """group, names"""
    PAGE_WIDTH: str
    """model → width of the vectors of one of its pages"""
    PUT_PAGE: str
    """model, node, width, sketch, vectors"""


class StoreQueries(Protocol):
    """Statements of a store itself. They ignore permissions."""

    WORKSPACES: str
    """→ name; in order"""
    WORKSPACE: str
    """name → the permanent number of a workspace"""
    USERS: str
    """→ user, team or NULL; in order"""
    NODE_IDS: str
    """names → id"""
    FIELDS: str
    """name → fields"""
    CHILD_IDS: str
    """name → id"""
    NODE_LISTS: str
    """names → id, access list"""
    PARENT_ID: str
    """name → id"""
    MARKS: str
    """group → name, mark; in order"""
    DIGESTS: str
    VECTOR_COUNTS: str
    """model, digests → digest with a vector"""
    PAGES_WITHOUT_VECTORS: str
    """model, limit → id, id of the document, text, fields; the oldest first"""

    CONTEXT: str
    """user, thread, name → record"""
    KEEP_CONTEXT: str
    """user, thread, name, record, at"""
    TRIM_CONTEXTS: str
    """user, most; the oldest go"""

    RECEIPT: str
    """id → id, user, thread, at, record"""
    RECEIPTS: str
    """user or NULL, thread or NULL, limit → the same; the latest first"""
    PUT_RECEIPT: str
    """id, user, thread, at, record"""
    TRIM_RECEIPTS: str
    """most; the oldest go"""
    REMOVE_RECEIPTS: str
    """any, ids, user or NULL"""
    GIVEN: str
    """name of a thread, user → record"""
    PUT_GIVEN: str
    """name of a thread, user, given, at"""

    KEYS: str
    """→ id, digest, user, scope, created_at, name, expires_at, revoked_at, workspaces as JSON, used_at; in order"""
    KEY: str
    """digest → the same"""
    REMOVE_KEY: str
    """id"""
    REMOVE_KEY_WORKSPACES: str
    """id"""
    ADD_KEY: str
    """id, digest, user, scope, name, created_at, expires_at, revoked_at, used_at"""
    NOTE_KEY_USE: str
    """id, at"""
    JOBS_OF: str
    """workspace, any, user → as JOBS; the latest first"""
    ADD_AUDIT: str
    """at, workspace, user, key, address, request, action, details"""
    AUDIT: str
    """after, any, workspace, limit → id, at, workspace, user, key, address, request, action, details; in order"""
    COUNT_AUDIT: str
    """before → count"""
    DROP_AUDIT: str
    """before"""
    ADD_KEY_WORKSPACES: str
    """id, workspaces"""
    JOB: str
    """id → id, workspace, user, state, created_at, updated_at, details"""
    JOBS: str
    """states → the same; in order"""
    PUT_JOB: str
    """id, workspace, user, state, created_at, updated_at, details"""
    TRIM_JOBS: str
    """workspace, unfinished, most; the oldest of those in another state go"""

    CACHED: str
    """model, digests → digest, vector"""
    CACHE: str
    """model, digest, vector, at"""
    TRIM_CACHE: str
    """most; the oldest go"""


class ErasureQueries(Protocol):
    """Statements that find and remove what is stored beside the nodes. They ignore permissions."""

    KNOWN: dict[str, str]
    """user → a JSON object for each row that names them, by kind"""
    OWN_LISTS: str
    """→ id, own access list"""
    BELOW: str
    """names → id; the nodes and everything below them"""
    CITATIONS: str
    """names → citation"""
    EXPIRED: str
    """kind, before → id; without the ancestors of what is newer"""
    FORGET_USER: dict[str, str]
    """user; by kind"""
    MENTIONING: dict[str, tuple[str, str]]
    """→ first and second part of a key, record; and: first, second; by kind"""
    BLANK_CHANGES: str
    """names"""
    DROP_LISTS: str
    """user; removes access lists that name them and that no node has"""
    CLEAR_CACHE: str
    """Remove the vectors of texts that were embedded lately."""
    FORGET_BEFORE: dict[str, str]
    """before; by kind"""


class TransferQueries(Protocol):
    """Statements that read a whole workspace. They ignore permissions."""

    ROWS: dict[str, str]
    """owner → the columns of `transfer.COLUMNS`, by kind; in the order that `Leaving.rows` asks for"""
    SPANS: tuple[str, str, str]
    """→ the first and the last number of its nodes, of its passages and of its lists"""
    MARKS: str
    """group → name, mark"""
    REMOVE_GROUP: str
    """group"""
