"""Rows and vectors for the tests of the vector index."""

import math

import numpy as np

from weftwork.store.index.rows import Row, Scope

DIMENSIONS = 24
PUBLIC, SECRET = 1, 2
SEES_PUBLIC = Scope(frozenset({PUBLIC}))


def row(key, **changes):
    """A public row whose node and digest follow from its key."""
    plain = {
        "node": key,
        "acl": PUBLIC,
        "ordinal": 0,
        "type": "note",
        "title": "",
        "source": "",
        "text": "",
        "tags": (),
        "fields": "",
        "updated": 0,
        "confidence": None,
        "conversation": None,
        "digest": f"digest {key}",
    }
    return Row(key=key, **{**plain, **changes})


def vectors(rows, seed=0, dimensions=DIMENSIONS):
    """A vector for each row, which depends on its key and the seed only."""
    return {
        each.digest: np.random.default_rng([seed, each.key]).standard_normal(dimensions).astype(np.float32)
        for each in rows
    }


def query(seed=0, dimensions=DIMENSIONS):
    """A vector that is none of the rows'."""
    return np.random.default_rng([seed, 0, 99]).standard_normal(dimensions).astype(np.float32)


def brute_force(asked, rows, found, limit=10, threshold=0.0):
    """Keys and cosines as the definition has them, without any of the index's arithmetic."""
    scored = [(-cosine(asked, found[each.digest]), each.key) for each in rows]
    best = sorted((score, key) for score, key in scored if -score >= threshold)[:limit]
    return [(key, -score) for score, key in best]


def cosine(one, other):
    """The cosine of two vectors, with exact sums."""
    one, other = one.tolist(), other.tolist()
    lengths = math.sqrt(math.fsum(x * x for x in one)) * math.sqrt(math.fsum(x * x for x in other))
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / lengths
