"""The search by vector: exact where it is, and near enough to it where a shortlist is compared."""

import numpy as np
import pytest

from weftwork.store.contract.kit import WORKSPACE, node, opened
from weftwork.store.index.nearest import Effort
from weftwork.store.postgres import embeddings
from weftwork.text.tokens import CharacterCounter
from weftwork.write.prepare import prepare

COUNT, WIDTH, LIMIT = 1200, 256, 20


@pytest.fixture
def cloud(store):
    """Vectors in clusters, one in twenty of which ben may see, and every other one cleo."""
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((12, WIDTH))
    vectors = centres[rng.integers(0, 12, COUNT)] + rng.standard_normal((COUNT, WIDTH))
    readers = [{"ana", *(["ben"] if n % 20 == 0 else []), *(["cleo"] if n % 2 else [])} for n in range(COUNT)]
    entries = [
        prepare(node(f"n{n}", f"text {n}", access=frozenset(readers[n])), CharacterCounter()) for n in range(COUNT)
    ]
    opened(store, "ben", "cleo")
    with store.atomic(WORKSPACE) as batch:
        batch.put(entries)
        digests = [entry.passages[0].digest for entry in entries]
        batch.put_vectors("cloud", dict(zip(digests, vectors.astype(np.float32), strict=True)))
    queries = centres[rng.integers(0, 12, 10)] + rng.standard_normal((10, WIDTH))
    return store, queries.astype(np.float64), vectors


EFFORT = Effort(exact=100, shortlist=300, per_result=2)
"""A fraction of what is usual, so that something could be lost."""


@pytest.mark.parametrize(("user", "allowed"), [("ben", 60), ("cleo", 600), ("ana", 1200)])
def test_a_shortlist_by_signs_loses_next_to_nothing(cloud, user, allowed, monkeypatch):
    store, queries, vectors = cloud
    found = wanted = 0
    with store.view(WORKSPACE, user) as view:
        keys = {keys[0]: int(name[1:]) for name, keys in view.passages([f"n{n}" for n in range(COUNT)]).items()}
        assert view.counts()["passages"] == len(keys) == allowed
        for query in queries:
            cosine = {key: _cosine(vectors[n], query) for key, n in keys.items()}
            best = sorted(cosine, key=lambda key: (-cosine[key], key))[:LIMIT]
            exact = view.search_vector(query, model="cloud", limit=LIMIT, threshold=-1.0)
            assert [hit.key for hit in exact] == best
            with monkeypatch.context() as patch:
                patch.setattr(embeddings, "EFFORT", EFFORT)
                near = view.search_vector(query, model="cloud", limit=LIMIT, threshold=-1.0)
            found += len({hit.key for hit in near} & set(best))
            wanted += LIMIT
    assert found / wanted >= 0.98


def _cosine(a, b):
    return round(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)), 6)


def test_vectors_without_a_direction_are_kept_and_never_found(store):
    opened(store)
    entry = prepare(node("zero", "text"), CharacterCounter())
    digest = entry.passages[0].digest
    with store.atomic(WORKSPACE) as batch:
        batch.put([entry])
        batch.put_vectors("m", {digest: np.zeros(8, dtype=np.float32)})
    assert store.unchecked_vectors(WORKSPACE, "m", [digest]) == {digest}
    with store.view(WORKSPACE, "ana") as view:
        for query in (np.ones(8, dtype=np.float32), np.zeros(8, dtype=np.float32)):
            assert view.search_vector(query, model="m", limit=5, threshold=-1.0) == []


def test_a_text_that_stands_twice_has_its_vector_as_long_as_one_of_them_is_there(store):
    opened(store)
    entries = [prepare(node(name, "the same", title="t"), CharacterCounter()) for name in "ab"]
    digest = entries[0].passages[0].digest
    vector = np.arange(1, 9, dtype=np.float32)
    with store.atomic(WORKSPACE) as batch:
        batch.put(entries[:1])
        batch.put_vectors("m", {digest: vector})
        batch.put(entries[1:])
        batch.remove(["a"])
    with store.view(WORKSPACE, "ana") as view:
        assert len(view.search_vector(vector, model="m", limit=5)) == 1
        assert view.vectors([digest], model="m")[digest].tolist() == vector.tolist()
