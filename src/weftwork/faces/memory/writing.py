"""Writing memories: remember, revise, relate, contradict and forget, each in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput, UnknownName
from weftwork.faces.memory.adding import Addition, Change, chunks, decide, facts_of, mark_of
from weftwork.faces.memory.conflicts import adds_nothing
from weftwork.faces.memory.conflicts import conflicts as find_conflicts
from weftwork.faces.memory.details import (
    Details,
    as_details,
    check_details,
    details_of,
    fact_id,
    inherited,
    names,
    node_of,
)
from weftwork.faces.memory.engine import ContextEngine, ContextEngineConfig
from weftwork.faces.memory.extraction import ExtractionModel, Fact
from weftwork.faces.memory.links import check_revision, contradictions, end_before, likely_contradictions, version_chain
from weftwork.faces.memory.options import ContextOptions, SearchOptions
from weftwork.faces.memory.reading import Question
from weftwork.faces.memory.recipe import Plan, recipe_for
from weftwork.faces.memory.statements import read_turns
from weftwork.faces.memory.types import (
    CONTRADICTS,
    SUPERSEDES,
    Action,
    Conflict,
    ContextResult,
    Memory,
    SearchResult,
    metadata_tags,
)
from weftwork.request import Message, Request
from weftwork.store.protocol import View
from weftwork.text.split import embedded_text
from weftwork.types import MEMORY, Budget, Edge, FieldValue, Filters, Node
from weftwork.write.permit import Kind, Permit, own_list, permitted

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

TREE = frozenset({"child", "parent"})
"""Names of edges that stand for places in the tree."""
LISTED = 100
COMPARED = 10
"""The most similar memories that a new one is compared with."""
LONGEST_QUERY = 800
"""Characters of a new memory that are searched for."""
MOST_AT_ONCE = 1_000_000
MARKS = "memories of "
"""Begins the group of marks of the turns that were read for a user."""
Policy = Literal["keep_both", "link", "supersede", "ask"]
POLICIES: tuple[Policy, ...] = ("keep_both", "link", "supersede", "ask")
"""What to do about memories that a new one probably repeats or contradicts."""
KIND = Kind("memory", "list yours with  weftwork memories", lambda node: MEMORY in node.tags)


class _Decided(NamedTuple):
    """A fact of a conversation, what becomes of it, and the conflicts to link it to."""

    fact: Fact
    change: Change
    conflicts: Sequence[Conflict]


class Memories:
    """The memories of a store.

    A memory is private to its writer until they share it, and only they may change it.
    """

    def __init__(self, weft: Weft, *, new_users: bool = False) -> None:
        """`new_users` makes users known to the workspace when they first remember or look for something."""
        self._weft = weft
        self._new_users = new_users
        self._engine: ContextEngine | None = None

    def search(
        self,
        query: str = "",
        *,
        vector: Sequence[float] | Vector | None = None,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        **options: Any,
    ) -> tuple[SearchResult, ...]:
        """The memories that answer a query, the most similar first; `options` are the fields of `SearchOptions`.

        `vector` is a query that was embedded before.
        """
        self._register(user, workspace)
        return self._reader().search_now(Question.of(query, vector), workspace, SearchOptions(user=user, **options))

    def context(
        self,
        query: str = "",
        *,
        vector: Sequence[float] | Vector | None = None,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        **options: Any,
    ) -> ContextResult:
        """The memories that answer a query as text; `options` are the fields of `ContextOptions`."""
        chosen = ContextOptions(user=user, **options)
        self._register(user, workspace)
        return self._reader().build_context_now(Question.of(query, vector), workspace, chosen)

    def _reader(self) -> ContextEngine:
        if self._engine is None:
            self._engine = ContextEngine(ContextEngineConfig(storage_client=self._weft, decay=self._weft.tools.decay))
        return self._engine

    def remember(
        self,
        text: str,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        on_conflict: Policy = "keep_both",
        **details: Unpack[Details],
    ) -> Memory:
        """Write a memory; private to its writer unless `access` says otherwise.

        The result names the user's own memories that it probably repeats or contradicts. `on_conflict` decides what to
        do about them: "keep_both"; "link" keeps both and marks contradictions as such, so that contexts show them
        together; "supersede" gives the new one the place of the first, and writes nothing where it has no new word;
        "ask" writes nothing.
        """
        if on_conflict not in POLICIES:
            raise UnknownName("policy", on_conflict, POLICIES)
        node = node_of(text, user, details, self._weft.now())
        self._register(user, workspace)
        with self._permitted(workspace, user) as permit:  # what is refused is not embedded
            permit.visible(names(details.get("contradicts", ()), "contradicts"))
        vector = self._vector(text)
        conflicts = self._conflicts(text, vector, user, workspace, node.valid_from)
        memory, action = Memory.from_node(node, text), _action(text, conflicts, on_conflict)
        if action == "known":
            memory = conflicts[0].memory
        elif action == "superseded":
            memory = self.revise(conflicts[0].memory.id, text, user=user, workspace=workspace, **details)
        elif action == "added":
            memory = self._written(node, details, user, workspace, vector, conflicts if on_conflict == "link" else ())
        return replace(memory, action=action, conflicts=conflicts)

    def add(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        extract: ExtractionModel | None = None,
        on_conflict: Literal["keep_both", "link", "supersede"] | None = None,
        dry_run: bool = False,
        **details: Unpack[Details],
    ) -> Addition:
        """Remember what is said in a conversation, part by part; turns that were read before are passed over.

        A model in `extract` finds the facts, which then take the place of what they correct or repeat in other words.
        Without one, statements are kept by rule (`weftwork.faces.memory.statements`) beside what they contradict.
        `dry_run` decides and writes nothing.
        """
        turns, conversation = read_turns(messages), details.get("conversation")
        node_of("x", user, details, self._weft.now())  # refused before a model is asked
        if not dry_run:
            self._register(user, workspace)
        unknown = self._new_users and user not in self._weft.store.users(workspace)  # as only in a dry run
        marks: Mapping[str, str] = {}
        if not unknown:
            with self._permitted(workspace, user):
                marks = self._weft.store.marks(workspace, MARKS + user)
        unread = [turn for turn in turns if mark_of(turn, conversation, extract) not in marks]
        policy = on_conflict or ("keep_both" if extract is None else "supersede")
        changes: list[Change] = []
        for part in chunks(unread, extract):
            facts = facts_of(part, extract)
            taken: set[str] = set()
            decided: list[_Decided] = []
            found = [
                () if unknown else self.conflicts(each.text, user=user, workspace=workspace, at=each.turns[-1].at)
                for each in facts
            ]
            for place, fact in enumerate(facts):
                change = decide(fact, found[place], facts[:place], taken, policy != "supersede")
                taken |= {change.memory.id} if change.memory is not None else set()
                decided.append(_Decided(fact, change, found[place] if policy == "link" else ()))
            if not dry_run:
                read = dict.fromkeys((mark_of(turn, conversation, extract) for turn in part), "read")
                changes += self._put(decided, read, details, user, workspace)
            else:
                changes += [each.change for each in decided]
        return Addition(tuple(changes), len(unread), len(turns) - len(unread))

    def _put(
        self,
        decided: Sequence[_Decided],
        marks: Mapping[str, str],
        details: Details,
        user: str,
        workspace: str,
    ) -> list[Change]:
        """Write the changes of a part, and that it was read, in one transaction."""
        written: list[Change] = []
        with self._weft.atomic(workspace) as batch:
            for fact, change, contradicted in decided:
                if change.action == "ignore":
                    written.append(change)
                    continue
                own = details_of(fact, details)
                if change.memory is None:
                    node = replace(node_of(fact.text, user, own, self._weft.now()), origin="chat")
                    node = replace(node, id=fact_id(fact, user, details.get("conversation")))
                    memory = self._written(node, own, user, workspace, None, contradicted)
                else:
                    memory = self.revise(change.memory.id, fact.text, user=user, workspace=workspace, **own)
                written.append(replace(change, memory=memory))
            batch.mark(MARKS + user, marks)
        return written

    def _register(self, user: str, workspace: str) -> None:
        if self._new_users and user not in self._weft.store.users(workspace):
            self._weft.add_user(user, workspace=workspace)

    def conflicts(
        self,
        text: str,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        at: datetime | None = None,
    ) -> tuple[Conflict, ...]:
        """The user's own memories of a moment that a text probably repeats or contradicts, the most similar first."""
        return self._conflicts(text, self._vector(text), user, workspace, at)

    def _vector(self, text: str) -> Vector | None:
        """The vector that a memory of this text has."""
        embedder = self._weft.tools.embedder
        return None if embedder is None else embedder.embed_batch([embedded_text("", {}, text[:LONGEST_QUERY])])[0]

    def _conflicts(
        self, text: str, vector: Vector | None, user: str, workspace: str, at: datetime | None
    ) -> tuple[Conflict, ...]:
        request = Request(
            query=text[:LONGEST_QUERY],
            vector=None if vector is None else tuple(vector.tolist()),
            workspace=workspace,
            user=user,
            budget=Budget(total=self._weft.tools.budget),
            filters=Filters(tags=frozenset({MEMORY}), as_of=at),
        )
        with self._weft.store.view(workspace, user) as view:
            ranked = self._weft.rank(request, recipe_for(Plan(COMPARED)), view).candidates
            infos = {candidate.node.id: candidate.node for candidate in ranked if candidate.node.owner == user}
            texts = {node.id: node.text for node in view.nodes(list(infos))}
        known = [Memory.from_node(info, texts[name]) for name, info in infos.items() if name in texts]
        return tuple(find_conflicts(text, known))

    def _written(
        self,
        node: Node,
        details: Details,
        user: str,
        workspace: str,
        vector: Vector | None,
        conflicts: Sequence[Conflict],
    ) -> Memory:
        """Write a memory beside those that it contradicts, linked to them."""
        against = names(details.get("contradicts", ()), "contradicts")
        (entry,) = self._weft.writer.prepare([node])
        # The comparison with other memories has embedded it already, unless it is cut into several passages.
        whole = vector is not None and len(entry.passages) == 1 and len(node.text) <= LONGEST_QUERY
        known = {entry.passages[0].digest: vector} if whole and vector is not None else {}
        with (
            self._weft.writer.transaction(workspace, [entry], known=known) as transaction,
            self._permitted(workspace, user) as permit,
        ):
            permit.visible(against)
            transaction.batch.put([entry])
            likely = likely_contradictions(entry.node, conflicts, against)
            # One that was forgotten meanwhile is contradicted no more.
            there = {node.id for node in permit.view.nodes([edge.target for edge in likely])}
            likely = [edge for edge in likely if edge.target in there]
            transaction.batch.link([*contradictions(entry.node, against), *likely])
        return Memory.from_node(entry.node, entry.node.text)

    def revise(
        self,
        old: str,
        text: str,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        **details: Unpack[Details],
    ) -> Memory:
        """Write a memory that takes the place of an older one, which ends where the new one begins.

        Details that are not given are inherited.
        """
        check_details(details)
        against = names(details.get("contradicts", ()), "contradicts")
        with self._permitted(workspace, user) as permit:
            (previous,) = permit.changeable([old])
            now = self._weft.now()
            (entry,) = self._weft.writer.prepare([node_of(text, user, inherited(previous, details, now), now)])
            check_revision(permit, previous, entry.node, against)
        with (
            self._weft.writer.transaction(workspace, [entry]) as transaction,
            self._permitted(workspace, user) as permit,
        ):
            (previous,) = permit.changeable([old])
            node = entry.node
            check_revision(permit, previous, node, against)
            if "access" not in details:
                node = replace(node, access=own_list(previous), parent=previous.parent, position=previous.position)
            transaction.batch.set_validity(old, previous.valid_from, end_before(previous, node.valid_from))
            transaction.batch.put([replace(entry, node=node)])
            supersedes = Edge(source=node.id, target=old, type=SUPERSEDES)
            transaction.batch.link([*contradictions(node, against), supersedes])
        return Memory.from_node(node, node.text)

    def relate(
        self,
        source: str,
        target: str,
        type: str = "related",
        *,
        label: str = "",
        weight: float = 1.0,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> Edge:
        """Link a memory of the user's to another memory, or to any node visible to them."""
        if not isinstance(type, str) or not type or type in TREE or type == SUPERSEDES:
            raise InvalidInput(f"a relationship cannot be of type {type!r}: name another, or use revise to supersede")
        if source == target:
            raise InvalidInput(f"memory {source!r} cannot be related to itself: name another one")
        edge = Edge(source=source, target=target, type=type, label=label, weight=weight)
        with self._weft.atomic(workspace) as batch, self._permitted(workspace, user) as permit:
            permit.changeable([source])
            permit.visible([target])
            batch.link([edge])
        return edge

    def contradict(self, one: str, other: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> Edge:
        """Mark two memories as contradicting; the first must be the user's."""
        return self.relate(one, other, CONTRADICTS, user=user, workspace=workspace)

    def update(
        self,
        memory: str,
        text: str | None = None,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        **details: Unpack[Details],
    ) -> Memory:
        """Change a memory: another text becomes its next version, details alone are changed in place."""
        if text is not None:
            return self.revise(memory, text, user=user, workspace=workspace, **details)
        if not details:
            raise InvalidInput("there is nothing to change: give another text, or details such as tags or confidence")
        if "contradicts" in details:
            raise InvalidInput("contradicts is not changed in place: use contradict()")
        with self._permitted(workspace, user) as permit:
            (old,) = permit.changeable([memory])
            node = node_of(old.text, user, {**as_details(old), **details}, self._weft.now())
            node = replace(node, id=old.id, owner=old.owner, origin=old.origin, updated_at=self._weft.now())
            if "access" in details:
                permit.refuse_sharing(memory)
        (entry,) = self._weft.writer.prepare([node])
        with (
            self._weft.writer.transaction(workspace, [entry]) as transaction,
            self._permitted(workspace, user) as permit,
        ):
            permit.changeable([memory])
            transaction.batch.rewrite([entry])
            if "access" in details:
                transaction.batch.set_access(memory, node.access)
        return self.get(memory, user=user, workspace=workspace)

    def get(self, memory: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> Memory:
        """One memory by its id, whether it is valid now or not."""
        with self._permitted(workspace, user) as permit:
            (node,) = permit.visible([memory])
            if MEMORY not in node.tags:
                raise KIND.missing(memory)
            return Memory.from_node(node, node.text)

    def history(
        self, memory: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE
    ) -> tuple[Memory, ...]:
        """All versions of a memory that the user may see, the first one first, each with its writer and its times."""
        with self._permitted(workspace, user) as permit:
            permit.visible([memory])
            versions = [
                *reversed(version_chain(permit.view, memory, "out")),
                memory,
                *version_chain(permit.view, memory, "in"),
            ]
            nodes = {node.id: node for node in permit.view.nodes(versions)}
        return tuple(Memory.from_node(nodes[name], nodes[name].text) for name in versions if name in nodes)

    def forget(
        self,
        *ids: str,
        filters: Filters | None = None,
        metadata: Mapping[str, FieldValue] | None = None,
        versions: bool = True,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> int:
        """Remove memories for good, all of them or none, and count them; their children stay.

        They are named by ids, or are all of the user's own that pass `filters` and have these `metadata`, whenever they
        were valid; `Filters()` stands for all. Their earlier versions go with them unless `versions` is False.
        """
        if bool(ids) == (filters is not None or metadata is not None):
            raise InvalidInput("name memories to forget by their ids, or by filters or metadata")
        with self._weft.atomic(workspace) as batch, self._permitted(workspace, user) as permit:
            chosen = list(ids) or _owned(permit.view, filters or Filters(), metadata or {})
            if versions:
                permit.changeable(chosen)
                chosen += [name for each in list(chosen) for name in version_chain(permit.view, each, "out")]
            return permit.remove(batch, permit.changeable(list(dict.fromkeys(chosen))), below=False)

    def own(self, *ids: str, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> tuple[Memory, ...]:
        """These memories, if the user may change them."""
        with self._permitted(workspace, user) as permit:
            return tuple(Memory.from_node(node, node.text) for node in permit.changeable(ids))

    def list(
        self,
        *,
        filters: Filters | None = None,
        metadata: Mapping[str, FieldValue] | None = None,
        every: bool = False,
        limit: int = LISTED,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> tuple[Memory, ...]:
        """The user's memories, the latest first; `every` brings those that are not valid now as well."""
        if not isinstance(limit, int) or limit < 1:
            raise InvalidInput(f"limit must be a whole number of at least 1, got {limit!r}")
        self._register(user, workspace)
        filters = filters or Filters()
        as_of = filters.as_of or (None if every else self._weft.now())
        filters = replace(filters, tags=filters.tags | {MEMORY, *metadata_tags(metadata or {})}, as_of=as_of)
        with self._weft.store.view(workspace, user) as view:
            nodes = view.nodes([info.id for info in view.select(filters, limit=limit)])
        return tuple(Memory.from_node(node, node.text) for node in nodes)

    def _permitted(self, workspace: str, user: str) -> AbstractContextManager[Permit]:
        return permitted(self._weft.store, workspace, user, KIND)


def _action(text: str, conflicts: Sequence[Conflict], policy: Policy) -> Action:
    if not conflicts or policy in ("keep_both", "link"):
        return "added"
    if policy == "ask":
        return "asked"
    first = conflicts[0]
    return "known" if first.kind == "duplicate" and adds_nothing(first.memory.content, text) else "superseded"


def _owned(view: View, filters: Filters, metadata: Mapping[str, FieldValue]) -> list[str]:
    """The ids of the viewer's own memories that pass, whenever they were valid."""
    filters = replace(filters, tags=filters.tags | {MEMORY, *metadata_tags(metadata)})
    return [info.id for info in view.select(filters, limit=MOST_AT_ONCE) if info.owner == view.user]
