"""The change to another embedding model."""

from __future__ import annotations

from pathlib import Path

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.write.embed import embed_waiting

NOTES = [
    Node(id="harbour", title="Harbour", text="Boats are moored at the quay."),
    Node(id="garden", title="Garden", text="Roses grow along the wall."),
    Node(id="kitchen", title="Kitchen", text="Soup simmers on the stove."),
]


def found(weft: Weft, query: str) -> list[str]:
    return [result.node.id for result in weft.search(query, mode="vector", limit=1)]


def test_old_vectors_are_searched_until_there_are_as_many_new_ones(tmp_path: Path) -> None:
    store = tmp_path / "notes.weft"
    with Weft.open(store, embedder="static") as weft:
        weft.add(NOTES)
        assert weft.changeover() is None
    new = HashingEmbedder(4096)
    with Weft.open(store, embedder=new) as weft:
        assert found(weft, "blossoming flowers") == ["garden"]  # no word in common: only the old model knows
        progress = weft.changeover()
        assert progress is not None
        assert (progress.done, progress.of, progress.searched) == (0, 3, "wordllama-l2-supercat-256")
        context = weft.context("Where are the boats?")
        assert any("0 of 3 texts have a vector of hashing-4096" in warning for warning in context.warnings)

        embed_waiting(weft.store, new, "main", limit=2)
        again = weft.changeover()
        assert again is not None and again.done == 2
        assert found(weft, "blossoming flowers") == ["garden"]

        embed_waiting(weft.store, new, "main")
        assert weft.changeover() is None
        assert found(weft, "blossoming flowers") != ["garden"]
        assert found(weft, "soup stove") == ["kitchen"]
        assert not any("have a vector" in warning for warning in weft.context("Where are the boats?").warnings)


def test_texts_that_only_an_unknown_model_embedded_are_searched_by_the_chosen_one(tmp_path: Path) -> None:
    store = tmp_path / "notes.weft"
    elsewhere = HashingEmbedder(32)
    elsewhere.model = "onnx:nowhere:0123@256"
    with Weft.open(store, embedder=elsewhere) as weft:
        weft.add(NOTES)
    with Weft.open(store, embedder="static") as weft:
        assert weft.changeover() is None
        assert found(weft, "blossoming flowers") == []
        weft.add([Node(id="yard", title="Yard", text="Flowers blossoming in pots.")])
        assert found(weft, "blossoming flowers") == ["yard"]
