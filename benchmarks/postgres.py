"""The other store of the latency benchmark: the same workspace in PostgreSQL, and its bare queries.

The workspace is moved from the file, so that both hold the same nodes. The floor has the same parts as that of the
embedded store, as single SQL statements with the same access lists and the same limits:
  search words           the postings of the query's stems, summed up by passage, top 20: no phrases, no statistics
  search vectors         all of them where they are few; else a shortlist by the HNSW index that `weftwork tune` made,
                         and the exact order of it, top 20
  read candidates        two SELECTs by key
  read around the focus  SELECTs by key
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg

from benchmarks.floor import TOP, Work
from benchmarks.timing import Laps, say
from benchmarks.workspace import NOW, WORKSPACE, Built
from weftwork import Context, Weft
from weftwork.embed import get_embedder
from weftwork.store.index.nearest import Effort
from weftwork.store.open import open_store
from weftwork.store.postgres import embeddings
from weftwork.store.postgres.codec import vector_text
from weftwork.store.postgres.embeddings import EFFORT, MOST, NEAR, STEPS
from weftwork.store.postgres.hnsw import tune
from weftwork.store.postgres.read_queries import VISIBLE
from weftwork.store.postgres.session import Reader
from weftwork.store.postgres.words import FREQUENCY, KEY, LENGTH
from weftwork.store.transfer import move
from weftwork.text.analysis import parse
from weftwork.types import Filters

SETTINGS = {
    "shared_buffers": "512MB",
    "max_connections": "40",
    "max_wal_size": "4GB",
    "effective_cache_size": "2GB",
    "checkpoint_timeout": "30min",
}
"""Durable, as a server should be; caches as on a small machine."""
SHARES = (0.05, 0.5)
"""Shares of the passages that a viewer may see when recall is measured."""
RECALL_QUERIES = 50
EXACT = Effort(exact=10**9)

WORDS = f"""SELECT {KEY} AS key,
        sum({FREQUENCY}::float8 / ({FREQUENCY} + 1.2 * (0.25 + 0.75 * {LENGTH} / 80.0))) AS score
    FROM words w CROSS JOIN unnest(w.postings) AS o (posting)
    WHERE w.workspace = %(ws)s AND w.term = ANY (%(terms)s::text[]) AND w.acl = ANY (%(acls)s::bigint[])
    GROUP BY 1 ORDER BY score DESC, 1 LIMIT %(top)s"""
EVERY = """SELECT key FROM embeddings WHERE workspace = %(ws)s AND model = %(model)s AND acl = ANY (%(acls)s::bigint[])
    ORDER BY vector <=> %(query)s::vector, key LIMIT %(top)s"""
GRAPH = """WITH near AS MATERIALIZED (SELECT key FROM embeddings
        WHERE workspace = %(ws)s AND model = %(model)s AND acl = ANY (%(acls)s::bigint[])
          AND bits IS NOT NULL AND vector_dims(vector) = {dimensions}
        ORDER BY l2_normalize(vector)::halfvec({dimensions}) <=> %(query)s::halfvec({dimensions}) LIMIT %(near)s)
    SELECT e.key FROM near JOIN embeddings e ON e.workspace = %(ws)s AND e.model = %(model)s AND e.key = near.key
    ORDER BY e.vector <=> %(query)s::vector, e.key LIMIT %(top)s"""
THOROUGH = (
    f"SET hnsw.ef_search TO {STEPS}; SET hnsw.iterative_scan TO relaxed_order; SET hnsw.max_scan_tuples TO {MOST}"
)
PASSAGES = "SELECT * FROM passages WHERE workspace = %(ws)s AND key = ANY (%(keys)s::bigint[])"
NODES = "SELECT * FROM nodes WHERE workspace = %(ws)s AND pk = ANY (%(nodes)s::bigint[])"
ANCESTORS = """WITH RECURSIVE up (pk, level) AS (
        SELECT parent, 1 FROM nodes WHERE workspace = %(ws)s AND pk = %(focus)s
        UNION ALL SELECT n.parent, up.level + 1 FROM nodes n JOIN up ON n.pk = up.pk
        WHERE n.workspace = %(ws)s AND up.level < 3
    ) SELECT n.* FROM up JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.pk"""
BEFORE = """SELECT n.* FROM nodes f JOIN nodes n ON n.workspace = %(ws)s AND n.parent = f.parent
        AND (n.position, n.pk) < (f.position, f.pk)
    WHERE f.workspace = %(ws)s AND f.pk = %(focus)s ORDER BY n.position DESC, n.pk DESC LIMIT 2"""
AFTER = """SELECT n.* FROM nodes f JOIN nodes n ON n.workspace = %(ws)s AND n.parent = f.parent
        AND (n.position, n.pk) > (f.position, f.pk)
    WHERE f.workspace = %(ws)s AND f.pk = %(focus)s ORDER BY n.position, n.pk LIMIT 2"""
CHILDREN = "SELECT * FROM nodes WHERE workspace = %(ws)s AND parent = %(focus)s ORDER BY position, pk LIMIT 5"
OUTGOING = "SELECT * FROM edges WHERE workspace = %(ws)s AND source = %(focus)s LIMIT 40"
INCOMING = "SELECT * FROM edges WHERE workspace = %(ws)s AND target = %(focus)s LIMIT 40"
AROUND = (ANCESTORS, BEFORE, AFTER, CHILDREN, OUTGOING, INCOMING)


class PostgresFloor:
    """The tables of one workspace, asked without Weftwork around them, by the owner, to whom no policy applies."""

    def __init__(self, weft: Weft, url: str, user: str) -> None:
        self._connection = psycopg.connect(url.partition("?weftwork")[0].partition("&weftwork")[0], autocommit=True)
        self._connection.execute("SET search_path TO weftwork, public; SET jit TO off")
        self._connection.execute(THOROUGH)
        self._connection.prepare_threshold = 2
        self._ws = self._scalar("SELECT id FROM directory WHERE name = %s", WORKSPACE)
        with weft.store.view(WORKSPACE, user) as view:
            self._acls = sorted(view.fingerprint[-1])  # type: ignore[call-overload]
        embedder = get_embedder("static")
        assert embedder is not None
        self._embedder = embedder
        self._model = self._scalar(
            "SELECT model FROM models WHERE workspace = %s AND name = %s", self._ws, embedder.model
        )
        self.visible = self._scalar(
            "SELECT sum(passages) FROM acls WHERE workspace = %s AND id = ANY (%s::bigint[])", self._ws, self._acls
        )
        self._counter = weft.tools.counter

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def work_of(self, context: Context, focus: str | None) -> Work:
        """What the floor of this context consists of."""
        rows = self._connection.execute(
            """SELECT p.key, n.pk FROM unnest(%s::text[], %s::text[]) AS w (citation, id)
               JOIN nodes n ON n.workspace = %s AND n.id = w.id
               JOIN passages p ON p.workspace = n.workspace AND p.citation = w.citation AND p.node = n.pk""",
            ([each.citation for each in context.trace], [each.node for each in context.trace], self._ws),
        ).fetchall()
        found = "SELECT pk FROM nodes WHERE workspace = %s AND id = %s"
        return Work(
            query=context.query,
            words=parse(context.query),
            passages=sorted({row[0] for row in rows}),  # type: ignore[arg-type]
            nodes=sorted({row[1] for row in rows}),  # type: ignore[arg-type]
            focus=None if focus is None else self._scalar(found, self._ws, focus),
            text=context.text,
        )

    def run(self, work: Work, laps: Laps) -> None:
        """Do it, with one lap for each part."""
        with laps("embed the query"):
            vector = self._embedder.embed(work.query)
        with laps("search words"):
            terms = [term for term in work.words.terms if not term.endswith("*")]
            self._rows(WORDS, terms=terms, acls=self._acls, top=TOP)
        with laps("search vectors"):
            self._nearest(vector)
        with laps("read candidates"):
            self._rows(PASSAGES, keys=work.passages)
            self._rows(NODES, nodes=work.nodes)
        with laps("read around the focus"):
            if work.focus is not None:
                for query in AROUND:
                    self._rows(query, focus=work.focus)
        with laps("count the text"):
            self._counter.count(work.text)

    def _nearest(self, vector: Any) -> None:
        few = EFFORT.compared(self.visible, TOP) >= self.visible
        query = EVERY if few else GRAPH.replace("{dimensions}", str(len(vector)))
        self._rows(query, model=self._model, acls=self._acls, query=vector_text(vector), near=NEAR, top=TOP)

    def bytes_of(self) -> dict[str, int]:
        """Size of each table with its indexes."""
        rows = self._connection.execute(
            """SELECT relname, pg_total_relation_size(oid) FROM pg_class
               WHERE relkind = 'r' AND relnamespace = 'weftwork'::regnamespace ORDER BY 2 DESC"""
        )
        return {name: int(size) for name, size in rows}

    def _rows(self, query: str, /, **values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode(), {"ws": self._ws, **values}).fetchall()

    def _scalar(self, query: str, *values: object) -> int:
        row = self._connection.execute(query.encode(), values).fetchone()
        assert row is not None
        return int(row[0])


@contextmanager
def database(url: str | None) -> Iterator[str]:
    """The address of an empty database: the one that was given, or one on a server of our own."""
    if url is not None:
        yield url
        return
    from tests.store.postgres.server import Server  # noqa: PLC0415  (needs the packages of the tests)

    server = Server(SETTINGS)
    try:
        yield server.start().url(weftwork_timeout=600)
    finally:
        server.close()


def filled(built: Built, url: str) -> float:
    """Move the workspace into the database, unless it is there; seconds that it took."""
    source, target = open_store(built.store, clock=lambda: NOW), open_store(url, clock=lambda: NOW)
    started = time.perf_counter()
    say(f"moving {built.passages:,} passages into the database …")
    move(source, target, WORKSPACE)
    spent = time.perf_counter() - started
    source.close()
    target.close()
    with psycopg.connect(url.partition("?weftwork")[0].partition("&weftwork")[0], autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE")
    say(f"  moved and compared in {spent:.0f} s")
    return spent


def tuned(url: str) -> float:
    """Make the indexes that large parts are searched by; seconds that it took."""
    say("making indexes of nearest vectors …")
    spent = sum(each.seconds for each in tune(url, memory="1GB"))
    say(f"  made in {spent:.0f} s")
    return spent


def recalls(weft: Weft, user: str, total: int, queries: Sequence[str]) -> dict[str, dict[str, float]]:
    """Recall of the ten nearest against exact search, among access lists that hold a share of all passages."""
    embedder = get_embedder("static")
    assert embedder is not None
    found = {}
    with weft.store.view(WORKSPACE, user) as view:
        whole: Reader = view._reader  # type: ignore[attr-defined]
        for share in SHARES:
            reader = _narrowed(whole, round(share * total))
            asked: dict[str, Any] = {"model": embedder.model, "limit": 10, "filters": Filters(), "threshold": 0.0}
            kept, laps = [], Laps()
            for query in queries[:RECALL_QUERIES]:
                vector = embedder.embed(query)
                exact = {hit.key for hit in embeddings.search(reader, vector, **asked, effort=EXACT)}
                with laps("search"):
                    near = {hit.key for hit in embeddings.search(reader, vector, **asked, effort=EFFORT)}
                kept.append(len(exact & near) / len(exact))
            found[f"{round(100 * share)} %"] = {
                "recall": round(float(np.mean(kept)), 4),
                "visible": reader.passages,
                "compared": EFFORT.compared(reader.passages, 10),
                "p50_ms": laps.summary()["search"]["p50_ms"],
            }
    return found


def _narrowed(reader: Reader, passages: int) -> Reader:
    """The reader of someone who may see about so many passages: some of the lists, the largest first."""
    rows = reader.rows(f"SELECT id, passages FROM acls WHERE workspace = %(ws)s AND id = {VISIBLE} ORDER BY 2 DESC, 1")
    lists, count = [], 0
    for number, size in rows:
        if count + size <= passages * 1.1:
            lists.append(number)
            count += size
    return replace(reader, acls=frozenset(lists), passages=count)
