"""Threads: started, posted to, renamed and removed, with what they refer to.

A thread is a node of the type `thread`, its messages are its children in the order of their positions, and `reference`
edges lead to what it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime

from weftwork.errors import InvalidInput, NotPermitted
from weftwork.identity import node_id
from weftwork.request import Message
from weftwork.store.protocol import Store, View
from weftwork.types import Edge, Filters, Node, NodeInfo
from weftwork.write.commit import Writer
from weftwork.write.permit import OWNERS_ROLES, Kind, Permit, namespace, permitted

THREAD, MESSAGE, REFERENCE = "thread", "message", "reference"
MOST_REFERENCES = 50
"""The most references of a thread that a context looks at."""
KIND = Kind("thread", "list them with  threads.list()", lambda node: node.type == THREAD)


@dataclass(frozen=True, slots=True)
class Posted:
    """The ids of messages that were posted, and the number of texts embedded for them."""

    ids: Sequence[str]
    embedded: int


TOOL_ROLES = ("tool", "function")
"""Roles of turns that repeat what a tool answered."""


class Threads:
    """The threads of all workspaces of a store. Each change is one transaction of its own; thread-safe.

    Everybody who may see a thread may post to it; its owner renames, shares and removes it.
    """

    def __init__(self, store: Store, writer: Writer, now: Callable[[], datetime], workspace: str, user: str) -> None:
        """`workspace` and `user` are those of calls that name none."""
        self._store = store
        self._writer = writer
        self._now = now
        self._workspace = workspace
        self._user = user

    def create(
        self,
        title: str = "",
        *,
        references: Iterable[str] = (),
        access: Iterable[str] = (),
        user: str | None = None,
        workspace: str | None = None,
        admin: bool = False,
    ) -> Node:
        """Start a thread, seen by its owner and those in `access`, that refers to these nodes."""
        self._refuse_within_transaction("start a thread")
        user, workspace = user or self._user, workspace or self._workspace
        targets, readers = ids_of(references), frozenset(ids_of(access))
        now = self._now()
        draft = Node(
            # As for messages, an id that is free is known once the transaction has begun.
            id=f"{namespace(user)}{THREAD}",
            type=THREAD,
            title=_text(title, "title"),
            created_at=now,
            updated_at=now,
            owner=user,
            writer=user,
            origin="chat",
            access=readers,
        )
        with self._permitted(workspace, user, admin) as permit:  # what is refused is not embedded
            permit.visible(targets)
        with (
            self._writer.transaction(workspace, self._writer.prepare([draft])) as transaction,
            self._permitted(workspace, user, admin) as permit,
        ):
            permit.visible(targets)
            thread = replace(draft, id=self._free_id(workspace, user, THREAD, now.isoformat(), title))
            transaction.batch.put(self._writer.prepare([thread]))
            transaction.batch.link(_edges(thread.id, targets))
        return thread

    def post(
        self,
        thread: str,
        *messages: str | Message,
        role: str = "user",
        user: str | None = None,
        workspace: str | None = None,
    ) -> Sequence[str]:
        """Put messages at the end of a thread, all of them or none, and return their ids.

        A text is said by `role`.
        """
        return self.post_all(thread, messages, role=role, user=user, workspace=workspace).ids

    def post_all(
        self,
        thread: str,
        messages: Iterable[str | Message],
        *,
        role: str = "user",
        user: str | None = None,
        workspace: str | None = None,
    ) -> Posted:
        """The same, and count the texts that were embedded."""
        self._refuse_within_transaction("post")
        user, workspace = user or self._user, workspace or self._workspace
        turns = [turn_of(message, role) for message in messages]
        if not turns:
            raise InvalidInput("there is nothing to post: give a text, or several")
        now = self._now()
        nodes = [
            Node(
                # Unique once its place is known, which is when the transaction has begun.
                id=f"{namespace(user)}{MESSAGE}-{place}",
                type=MESSAGE,
                title=turn.role,
                text=turn.text,
                parent=thread,
                position=place,
                conversation=thread,
                created_at=turn.at or now,
                updated_at=turn.at or now,
                owner=user,
                writer=user,
                origin="tool" if turn.role.casefold() in TOOL_ROLES else "chat",
            )
            for place, turn in enumerate(turns, start=1)
        ]
        with self._permitted(workspace, user) as permit:  # what is refused is not embedded
            _refuse_roles(permit.view, _seen_thread(permit.view, thread), turns)
        with self._writer.transaction(workspace, self._writer.prepare(nodes)) as transaction:
            with self._permitted(workspace, user) as permit:
                last = _last_position(permit.view, _seen_thread(permit.view, thread))
            placed = [self._placed(workspace, user, node, last, now) for node in nodes]
            transaction.batch.put(self._writer.prepare(placed))
        return Posted([node.id for node in placed], transaction.embedded)

    def list(self, limit: int = 50, *, user: str | None = None, workspace: str | None = None) -> Sequence[NodeInfo]:
        """The threads that the user may see, those that changed last first."""
        with self._store.view(workspace or self._workspace, user or self._user) as view:
            return view.select(Filters(types=frozenset({THREAD})), limit=_limit(limit))

    def messages(
        self, thread: str, limit: int = 100, *, user: str | None = None, workspace: str | None = None
    ) -> Sequence[Node]:
        """The last messages of a thread, the oldest of them first."""
        with self._store.view(workspace or self._workspace, user or self._user) as view:
            children = view.children(_seen_thread(view, thread), _limit(limit), last=True)
            return view.nodes([child.id for child in children])

    def references(self, thread: str, *, user: str | None = None, workspace: str | None = None) -> Sequence[NodeInfo]:
        """The nodes that a thread refers to."""
        with self._store.view(workspace or self._workspace, user or self._user) as view:
            name = _seen_thread(view, thread)
            edges = view.neighbours(name, types=(REFERENCE,), direction="out", limit=MOST_REFERENCES)
        return [node for _, node in edges]

    def reference(
        self, thread: str, *nodes: str, user: str | None = None, workspace: str | None = None, admin: bool = False
    ) -> int:
        """Say what a thread is about; return the number of new references."""
        return self._link(thread, nodes, user, workspace, admin)

    def unreference(
        self, thread: str, *nodes: str, user: str | None = None, workspace: str | None = None, admin: bool = False
    ) -> int:
        """Say what a thread is no longer about; return the number of references removed."""
        return self._link(thread, nodes, user, workspace, admin, remove=True)

    def rename(
        self, thread: str, title: str, *, user: str | None = None, workspace: str | None = None, admin: bool = False
    ) -> Node:
        """Give a thread another title."""
        user, workspace = user or self._user, workspace or self._workspace
        with self._writer.transaction(workspace) as transaction, self._permitted(workspace, user, admin) as permit:
            (node,) = permit.changeable([thread])
            renamed = replace(node, title=_text(title, "title"), updated_at=self._now())
            transaction.batch.rewrite(self._writer.prepare([renamed]))
        return renamed

    def remove(self, thread: str, *, user: str | None = None, workspace: str | None = None, admin: bool = False) -> int:
        """Remove a thread with its messages, whoever wrote them; return the number of nodes removed."""
        user, workspace = user or self._user, workspace or self._workspace
        with self._writer.transaction(workspace) as transaction, self._permitted(workspace, user, admin) as permit:
            permit.changeable([thread])
            return transaction.batch.remove([thread])

    def count_use(self, references: Iterable[str], *, user: str | None = None, workspace: str | None = None) -> int:
        """Note that an answer used these sources, each once; return the number of nodes.

        They are named by their ids or citation ids. What is gone or hidden by now is passed over.
        """
        user, workspace = user or self._user, workspace or self._workspace
        names = [name.strip("[]") for name in ids_of(references)]
        with self._store.view(workspace, user) as view:
            nodes = {node.id for node in view.nodes(names)} | {record.node.id for record in view.cited(names)}
        if nodes:
            with self._writer.transaction(workspace) as transaction:
                transaction.batch.count_use(user, sorted(nodes))
        return len(nodes)

    def _link(
        self,
        thread: str,
        nodes: Sequence[str],
        user: str | None,
        workspace: str | None,
        admin: bool,
        *,
        remove: bool = False,
    ) -> int:
        user, workspace = user or self._user, workspace or self._workspace
        edges = _edges(thread, ids_of(nodes))
        with self._writer.transaction(workspace) as transaction, self._permitted(workspace, user, admin) as permit:
            permit.changeable([thread])
            permit.visible([edge.target for edge in edges])
            return transaction.batch.unlink(edges) if remove else transaction.batch.link(edges)

    def _permitted(self, workspace: str, user: str, admin: bool = False) -> AbstractContextManager[Permit]:
        return permitted(self._store, workspace, user, KIND, admin=admin)

    def _refuse_within_transaction(self, what: str) -> None:
        """Refuse where free ids and the last place cannot be read: a message could replace another."""
        if self._writer.is_open:
            raise InvalidInput(f"{what} outside of weft.atomic(): several messages in one call are one transaction")

    def _placed(self, workspace: str, user: str, node: Node, last: int, now: datetime) -> Node:
        """A message at its place after the last one, under an id that is free."""
        position = last + node.position
        said = (node.parent or "", now.isoformat(), str(position), node.title, node.text)
        return replace(node, id=self._free_id(workspace, user, MESSAGE, *said), position=position)

    def _free_id(self, workspace: str, user: str, kind: str, *content: str) -> str:
        """An id of this content that nothing has yet; only a transaction that is open makes it hold."""
        number = 0
        while True:
            name = namespace(user) + node_id(kind, user, "\0".join((*content, *([str(number)] if number else []))))
            if not self._store.unchecked_nodes(workspace, [name]):
                return name
            number += 1


def _seen_thread(view: View, name: str) -> str:
    """The id, if it is that of a thread that the viewer may see."""
    if not isinstance(name, str) or not any(KIND.includes(node) for node in view.nodes([name])):
        raise KIND.missing(name)
    return name


def _refuse_roles(view: View, thread: str, turns: Sequence[Message]) -> None:
    """Refuse turns in a role that only the owner of a thread may speak in."""
    (node,) = view.nodes([thread])
    for role in sorted({turn.role for turn in turns if turn.role.casefold() in OWNERS_ROLES}):
        if node.owner not in (None, view.user):
            raise NotPermitted(f"thread {thread!r} belongs to {node.owner!r}: only they may post as {role!r}")


def _last_position(view: View, thread: str) -> int:
    return max((node.position for node in view.children(thread, 1, last=True)), default=0)


def _edges(thread: str, nodes: Iterable[str]) -> list[Edge]:
    return [Edge(source=thread, target=name, type=REFERENCE) for name in dict.fromkeys(nodes)]


def turn_of(message: str | Message, role: str) -> Message:
    """A message as it is posted; a text is said by `role`."""
    turn = Message(role, message) if isinstance(message, str) else message
    if not isinstance(turn, Message) or not isinstance(turn.text, str) or not turn.text.strip():
        raise InvalidInput(f"a message must be text, got {message!r}: give a text, or Message(role, text)")
    _text(turn.role, "role")
    return turn


def _text(value: str, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"the {what} must be text, got {value!r}")
    return value


def _limit(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"the limit must be a whole number of at least 1, got {value!r}")
    return value


def ids_of(values: Iterable[str]) -> Sequence[str]:
    """Several ids: a single text would be taken letter by letter."""
    names = [] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
    if values and not (names and all(isinstance(name, str) for name in names)):
        raise InvalidInput(f"give several ids or names, got {values!r}: put them into a list")
    return names
