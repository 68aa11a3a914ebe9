"""What others do with the same texts, the same embeddings and the same questions, each in an environment of its own.

A module here is one of them: `PACKAGES` is what its environment holds, and `build(documents, embedder)` says how it is
asked. `contestant.py` runs one of them in a process of its own.
"""

from __future__ import annotations

NAMES = ("weftwork", "bm25s", "vectors", "llamaindex", "langchain", "haystack", "txtai")
BY_WORDS = "words"
"""Weftwork's search by words alone, to be compared with bm25s."""
