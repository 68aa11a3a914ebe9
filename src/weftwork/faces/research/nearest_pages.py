"""The pages of a ChromaDB collection whose records are nearest to a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np

from weftwork.embed.protocol import Matrix
from weftwork.errors import InvalidInput
from weftwork.faces.research.sources import page_filter, page_key

WIDE = 2_000
"""Records near each part of a query whose ids are read at first."""
CROWDED = 6
"""Records of a page among those read from which it crowds the others out."""
EXTRA_ROUNDS = 4
"""Rounds of reading within which more pages come at little cost."""

Page = tuple[str, int]
ChromaCollection: TypeAlias = Any
"""Chroma's own type, which is there only with the extra."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The record of a page that is nearest to a query."""

    record: str
    page: Page
    metadata: Mapping[str, Any]
    rows: Matrix | None = None
    """All vectors of the page, where they were read."""


def nearest_pages(
    collection: ChromaCollection, asked: Matrix, limit: int, *, more: int = 0, vectors: int = 0
) -> dict[Page, Hit]:
    """The pages of the records nearest to the parts of a query: `limit`, and up to `more` that come at little cost.

    Ids of near records cost next to nothing, and a filter costs much. Each round reads the metadata of few records,
    since each may hold the Markdown of a whole document. Where pages have hundreds of `vectors`, one that crowds the
    others out is read once; so many vectors are kept.
    """
    hits: dict[Page, Hit] = {}
    known: set[str] = set()
    seen, strays = Counter[Page](), 0
    total = collection.count()
    near, rounds = _near_records(collection, asked, min(WIDE, total)), 0
    while near and (len(hits) < limit or (len(hits) < limit + more and rounds < EXTRA_ROUNDS)):
        batch = [record for record in near if record not in known][:limit]
        if batch:
            read = _pages_of(collection, batch)
            for hit in read:
                hits.setdefault(hit.page, hit)
            seen.update(hit.page for hit in read)
            known.update(batch)
            strays += len(batch) - len(read)
            rounds += 1
        elif len(hits) < limit and len(known) < total:
            near = _near_records(collection, asked, min(limit + strays, total), hits.values())
            near = [record for record in near if record not in known]
        else:
            break
        for page in [page for page, count in seen.items() if count >= CROWDED] if vectors else ():
            rows, records = _whole(collection, page, keep=vectors > sum(_kept(hit) for hit in hits.values()))
            hits[page] = replace(hits[page], rows=rows)
            known.update(records)
            del seen[page]
    return hits


def _kept(hit: Hit) -> int:
    return 0 if hit.rows is None else len(hit.rows)


def _whole(collection: ChromaCollection, page: Page, *, keep: bool) -> tuple[Matrix | None, list[str]]:
    """The vectors of a page if they are to be kept, and the ids of its records."""
    answer = collection.get(where=of_page(*page), include=["embeddings"] if keep else [])
    return np.asarray(answer["embeddings"]) if keep else None, answer["ids"]


def _near_records(collection: ChromaCollection, asked: Matrix, count: int, found: Iterable[Hit] = ()) -> list[str]:
    """The ids of the records nearest to each part of a query, in turn; those of pages that were found are left out."""
    from chromadb.errors import InvalidArgumentError, InvalidDimensionException  # noqa: PLC0415

    others = [
        {"$or": [{"doc_id": {"$ne": hit.metadata["doc_id"]}}, {"page": {"$ne": hit.metadata["page"]}}]} for hit in found
    ]
    where = {"$and": others} if len(others) > 1 else next(iter(others), None)
    if not count or not len(asked):
        return []
    try:
        answer = collection.query(query_embeddings=list(asked), n_results=count, where=where, include=[])
    except (InvalidArgumentError, InvalidDimensionException) as error:
        raise InvalidInput(
            f"collection {collection.name!r} cannot be asked with vectors of {asked.shape[1]} dimensions ({error}): "
            "name the embedder that it was made with"
        ) from error
    in_turn = (record for records in zip_longest(*answer["ids"]) for record in records if record is not None)
    return list(dict.fromkeys(in_turn))


def _pages_of(collection: ChromaCollection, records: Sequence[str]) -> list[Hit]:
    """The pages that these records name, in their order."""
    answer = collection.get(ids=list(records), include=["metadatas"])
    of_record = dict(zip(answer["ids"], answer["metadatas"] or (), strict=True))
    named = ((record, _named_page(of_record.get(record) or {})) for record in records)
    return [Hit(record, page, of_record[record]) for record, page in named if page is not None]


def _named_page(metadata: Mapping[str, Any]) -> Page | None:
    """The page that a record names; None if it was written by something else."""
    try:
        return page_key(metadata.get("doc_id") or None, metadata.get("page"))
    except InvalidInput:
        return None


def vectors_of(collection: ChromaCollection, records: Sequence[str]) -> dict[str, Matrix]:
    """The vectors of these records."""
    if not records:
        return {}
    answer = collection.get(ids=list(records), include=["embeddings"])
    return dict(zip(answer["ids"], answer["embeddings"], strict=True))


def of_page(doc_id: str, page: int) -> dict[str, Any]:
    """The condition for the records of a page, whose number may have been written as text."""
    return dict(any_kind(page_filter(doc_id, page)))


def any_kind(where: Any) -> Any:
    """The condition of `page_filter` for numbers of any kind: ChromaDB compares values of one kind only."""
    match where:
        case {"$and": [document, {"page": {"$eq": int(page)}}]}:
            return {"$and": [document, {"$or": [{"page": {"$eq": kind(page)}} for kind in (int, float, str)]}]}
    return where
