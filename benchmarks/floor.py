"""The floor of a context: the bare look-ups and reads that no implementation could avoid."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tantivy
from tantivy import Occur, Query

from benchmarks.timing import Laps
from weftwork import Context, Weft
from weftwork.embed import get_embedder
from weftwork.store.index.rows import Scope
from weftwork.store.sqlite.connection import Connections
from weftwork.store.sqlite.database import opened
from weftwork.store.sqlite.index_sync import DerivedIndexes
from weftwork.text.analysis import WordQuery, parse

TOP = 20
FEW = 16
"""Up to so many access lists, a union of terms is the faster filter."""

PASSAGES = "SELECT * FROM passages WHERE key IN (SELECT value FROM json_each(?))"
NODES = "SELECT * FROM nodes WHERE pk IN (SELECT value FROM json_each(?))"
ANCESTORS = """WITH RECURSIVE up (pk, level) AS (
        SELECT parent, 1 FROM nodes WHERE pk = ?
        UNION ALL SELECT n.parent, up.level + 1 FROM nodes n JOIN up ON n.pk = up.pk WHERE up.level < 3
    ) SELECT n.* FROM up JOIN nodes n ON n.pk = up.pk"""
BEFORE = """SELECT n.* FROM nodes f JOIN nodes n ON n.parent = f.parent AND (n.position, n.pk) < (f.position, f.pk)
    WHERE f.pk = ? ORDER BY n.position DESC, n.pk DESC LIMIT 2"""
AFTER = """SELECT n.* FROM nodes f JOIN nodes n ON n.parent = f.parent AND (n.position, n.pk) > (f.position, f.pk)
    WHERE f.pk = ? ORDER BY n.position, n.pk LIMIT 2"""
CHILDREN = "SELECT * FROM nodes WHERE parent = ? ORDER BY position, pk LIMIT 5"
OUTGOING = "SELECT * FROM edges WHERE source = ? LIMIT 40"
INCOMING = "SELECT * FROM edges WHERE target = ? LIMIT 40"
AROUND = (ANCESTORS, BEFORE, AFTER, CHILDREN, OUTGOING, INCOMING)


@dataclass(frozen=True, slots=True)
class Work:
    """What one request cannot do without, worked out before the clock starts."""

    query: str
    words: WordQuery
    passages: str
    nodes: str
    focus: int | None
    text: str


class Floor:
    """The indexes and tables of one workspace, opened without Weftwork around them."""

    def __init__(self, weft: Weft, store: Path, workspace: str, user: str) -> None:
        self._connections = Connections(store)
        self._reading = self._connections.read()
        self._connection = self._reading.__enter__()
        number = self._scalar("SELECT id FROM workspaces WHERE name = ?", workspace)
        self._acls = opened(self._connection, workspace, user).acls
        folder = store.with_name(store.name + ".index") / str(number)
        index = tantivy.Index.open(str(folder / "words"))
        self._schema, self._searcher = index.schema, index.searcher()
        embedder = get_embedder("static")
        assert embedder is not None
        self._embedder = embedder
        self._vectors = DerivedIndexes(folder, number, self._connections.read).vectors(
            self._connection, embedder.model, embedder.dimensions
        )
        self._scope = Scope(self._acls)
        self._counter = weft.tools.counter
        self._workspace = number

    def close(self) -> None:
        """Release the connections."""
        self._reading.__exit__(None, None, None)
        self._connections.close()

    def work_of(self, context: Context, focus: str | None) -> Work:
        """What the floor of this context consists of."""
        pairs = json.dumps([[decision.citation, decision.node] for decision in context.trace])
        rows = self._connection.execute(
            """SELECT p.key, n.pk FROM json_each(?) j CROSS JOIN passages p ON p.citation = j.value ->> 0
               CROSS JOIN nodes n ON n.pk = p.node AND n.id = j.value ->> 1 AND n.workspace = ?""",
            (pairs, self._workspace),
        ).fetchall()
        found = "SELECT pk FROM nodes WHERE workspace = ? AND id = ?"
        return Work(
            query=context.query,
            words=parse(context.query),
            passages=json.dumps(sorted({key for key, _ in rows})),
            nodes=json.dumps(sorted({pk for _, pk in rows})),
            focus=None if focus is None else self._scalar(found, self._workspace, focus),
            text=context.text,
        )

    def run(self, work: Work, laps: Laps) -> None:
        """Do it, with one lap for each part."""
        with laps("embed the query"):
            vector = self._embedder.embed(work.query)
        with laps("search words"):
            self._search(work.words)
        with laps("search vectors"):
            self._vectors.search(vector, self._scope, limit=TOP)
        with laps("read candidates"):
            self._fetch(PASSAGES, work.passages)
            self._fetch(NODES, work.nodes)
        with laps("read around the focus"):
            if work.focus is not None:
                for query in AROUND:
                    self._fetch(query, work.focus)
        with laps("count the text"):
            self._counter.count(work.text)

    def _search(self, words: WordQuery) -> Sequence[object]:
        body = [
            *((Occur.Should, self._term(term)) for term in words.terms if not term.endswith("*")),
            *((Occur.Must, self._phrase(phrase[0])) for phrase in words.phrases),
            *((Occur.Must, Query.regex_query(self._schema, "body", f"{start}.*")) for start in words.prefixes),
        ]
        if not body:
            return []
        query = Query.boolean_query([(Occur.Must, Query.boolean_query(body)), (Occur.Must, self._allowed())])
        hits = self._searcher.search(query, limit=TOP, count=False).hits
        return self._searcher.fast_field_values("key", [address for _, address in hits])

    def _phrase(self, words: Sequence[str]) -> Query:
        return Query.phrase_query(self._schema, "body", list(words)) if len(words) > 1 else self._term(words[0])

    def _term(self, word: str) -> Query:
        return Query.term_query(self._schema, "body", word)

    def _allowed(self) -> Query:
        acls = sorted(self._acls)
        if len(acls) > FEW:
            return Query.const_score_query(Query.term_set_query(self._schema, "acl", acls), 0.0)
        terms = [(Occur.Should, Query.term_query(self._schema, "acl", acl)) for acl in acls]
        return Query.const_score_query(Query.boolean_query(terms), 0.0)

    def _fetch(self, query: str, value: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, (value,)).fetchall()

    def _scalar(self, query: str, *values: object) -> int:
        row: sqlite3.Row = self._connection.execute(query, values).fetchone()
        return int(row[0])
