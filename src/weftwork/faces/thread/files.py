"""The files of threads: stored by path, searched in three ways, with access times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import PurePath

from weftwork.collect import AmongFiles, Collector, FuzzyCollector, LexicalCollector
from weftwork.collect.keywords import requiring
from weftwork.compose.ordering import as_scored
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.identity import text_hash
from weftwork.query import words_of
from weftwork.recipe import Recipe
from weftwork.render.values import file_path
from weftwork.request import Request
from weftwork.score import Facts, Profile
from weftwork.store.protocol import View
from weftwork.text.snippet import excerpt
from weftwork.tools import DEFAULT_BUDGET
from weftwork.types import Budget, Candidate, Node, NodeInfo
from weftwork.write.permit import Kind, Permit, permitted

LOOKED_BACK = 200
KIND = Kind("file", "find it with  weftwork search", lambda node: node.type == "file")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A file that answers a search."""

    id: str
    path: str
    content: str
    """The part that matched best."""
    rank: float
    excerpt: str
    """The same in short, with the words that matched between <<< and >>>."""


class FileRepository:
    """One user's files in a workspace. Each change is one transaction."""

    def __init__(self, weft: Weft, user_id: str = DEFAULT_USER, *, workspace: str = DEFAULT_WORKSPACE) -> None:
        self._weft = weft
        self._user = user_id
        self._workspace = workspace

    def add(self, path: str, content: str, *, access: Iterable[str] | None = None) -> str:
        """Keep a file, or its new content if there is one of this user's at the path; returns its id.

        It is seen by its owner and those on its list, such as `["*"]` for all; without a list, a new one by its owner
        alone, and another by those who see it now.
        """
        _check_path(path)
        readers = None if access is None else frozenset(_names(access, "access must be None or several names"))
        with self._view() as view:
            name, is_there = self._name_at(view, path)
        if is_there:
            self._set_text(name, content, readers)
            return name
        node = Node(
            id=name,
            type="file",
            title=PurePath(path).name,
            text=content,
            source=path,
            owner=self._user,
            writer=self._user,
            origin="upload",
            access=readers or frozenset(),
        )
        entries = self._weft.writer.prepare([node])
        with self._weft.writer.transaction(self._workspace, entries) as transaction, self._permitted() as permit:
            permit.replaceable(name)
            transaction.batch.put(entries)
        return name

    def get(self, file_id: str) -> Node:
        """A file with its content."""
        with self._view() as view:
            files = [node for node in view.nodes([file_id]) if KIND.includes(node)]
        if not files:
            raise KIND.missing(file_id)
        return files[0]

    def update(self, file_id: str, content: str) -> bool:
        """Give a file new content; passages of the old one are gone. Returns True if anything changed."""
        return self._set_text(file_id, content)

    def move(self, file_id: str, path: str) -> None:
        """Give a file another path; its id, links and feedback stay."""
        _check_path(path)
        node = self._own(file_id)
        with self._view() as view:
            taken = [other for other in view.nodes(view.find(path)) if self._is_at(other, path) and other.id != file_id]
        if taken:
            raise InvalidInput(f"there is a file at {path!r} already: delete it first, or choose another path")
        self._rewrite(file_id, [replace(node, source=path, title=PurePath(path).name)])

    def delete(self, file_id: str) -> None:
        """Remove a file with its passages and links."""
        with self._weft.atomic(self._workspace) as batch, self._permitted() as permit:
            permit.changeable([file_id])
            batch.remove([file_id])

    def update_access_time(self, file_id: str) -> None:
        """Note that the user opened a file just now."""
        node = self.get(file_id)
        with self._weft.atomic(self._workspace) as batch:
            batch.record(self._user, node.id, "view", self._weft.now())

    def get_recently_accessed(self, limit: int = 5) -> list[NodeInfo]:
        """The files that this user opened last, the latest first."""
        with self._view() as view:
            records = view.load([event.key for event in view.events("view", limit=LOOKED_BACK)])
        return [record.node for record in records if record.node.type == "file"][:limit]

    def search_content(self, query: str, limit: int = 10) -> list[SearchResult]:
        """Files with any of the words, the best first."""
        _check_query(query)
        return self._search(LexicalCollector(fuzzy_limit=0), query, limit)

    def search_by_keywords(self, keywords: Sequence[str], limit: int = 10) -> list[SearchResult]:
        """Files in which all keywords stand in one passage, the best first."""
        words = words_of(" ".join(_names(keywords, "keywords must be several words")))
        return self._search(LexicalCollector(fuzzy_limit=0), requiring(words), limit) if words else []

    def fuzzy_search(self, query: str, limit: int = 5, threshold: float = 0.3) -> list[SearchResult]:
        """Files whose path, title or words look like the query, the most alike first."""
        _check_query(query)
        return self._search(FuzzyCollector(limit=None, threshold=threshold), query, limit)

    def _search(self, collector: Collector, query: str, limit: int) -> list[SearchResult]:
        """The best passage of each file that a collector finds, as the file."""
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidInput(f"limit must be a whole number of at least 1, got {limit!r}")
        recipe = Recipe(
            name="files",
            collectors=(AmongFiles(collector, limit, passages=1),),
            profile=Profile("files", {"found": 1.0}, own={"found": _search_score}),
            hits=limit,
            order=as_scored,
        )
        budget = Budget(total=DEFAULT_BUDGET)
        request = Request(query=query, workspace=self._workspace, user=self._user, budget=budget)
        best: dict[str, SearchResult] = {}
        for candidate in sorted(self._weft.rank(request, recipe).candidates, key=_place):
            node, passage = candidate.node, candidate.passage
            marked = excerpt(passage.text or node.title, query.replace('"', " "))
            name, path = candidate.document or node.id, file_path(node, candidate.trail)
            best.setdefault(name, SearchResult(name, path, passage.text, candidate.score, marked))
        return list(best.values())[:limit]

    def _view(self) -> AbstractContextManager[View]:
        return self._weft.store.view(self._workspace, self._user)

    def _is_at(self, node: NodeInfo, path: str) -> bool:
        return node.type == "file" and node.source == path and node.owner == self._user

    def _name_at(self, view: View, path: str) -> tuple[str, bool]:
        """The id of this user's file at a path and True, or an id for a new one and False.

        Ids are made of user and path, so that nothing hidden has them; a file that moved away keeps its own.
        """
        for node in view.nodes(view.find(path)):
            if self._is_at(node, path):
                return node.id, True
        number = 0
        while True:
            number += 1
            name = "file-" + text_hash("\0".join((self._user, path, str(number))))[:16]
            existing = view.nodes([name])
            if not existing or self._is_at(existing[0], path):
                return name, bool(existing)

    def _permitted(self) -> AbstractContextManager[Permit]:
        return permitted(self._weft.store, self._workspace, self._user, KIND)

    def _own(self, file_id: str) -> Node:
        with self._permitted() as permit:
            return permit.changeable([file_id])[0]

    def _set_text(self, file_id: str, text: str, readers: frozenset[str] | None = None) -> bool:
        """Give a file new content, and readers if any are named; return True if the content is new."""
        node = self._own(file_id)
        changed = [] if node.text == text else [replace(node, text=text, updated_at=self._weft.now())]
        self._rewrite(file_id, changed, readers)
        return bool(changed)

    def _rewrite(self, file_id: str, nodes: Sequence[Node], readers: frozenset[str] | None = None) -> None:
        entries = self._weft.writer.prepare(nodes)
        with self._weft.writer.transaction(self._workspace, entries) as transaction, self._permitted() as permit:
            permit.changeable([file_id])
            transaction.batch.rewrite(entries)
            if readers is not None:
                transaction.batch.set_access(file_id, readers)


def _check_path(path: str) -> None:
    if not isinstance(path, str) or not path.strip() or not path.isprintable():
        raise InvalidInput(f"a file needs a path of printable characters, got {path!r}")


def _check_query(query: str) -> None:
    if not isinstance(query, str):
        raise InvalidInput(f"the query must be text, got {query!r}")


def _names(values: Iterable[str], rule: str) -> list[str]:
    """Several texts: a single one would be taken letter by letter."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        names = list(values)
        if all(isinstance(name, str) for name in names):
            return names
    raise InvalidInput(f"{rule}, got {values!r}: put them into a list")


def _place(candidate: Candidate) -> tuple[float, int]:
    """Sort by score; where that is the same, as the search did."""
    return -candidate.score, min(finding.rank for finding in candidate.findings)


def _search_score(candidate: Candidate, facts: Facts) -> float:
    """The score of the search that found it."""
    return candidate.findings[0].score
