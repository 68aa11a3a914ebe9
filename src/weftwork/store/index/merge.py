"""Merging segments into one, without dead rows and in the order of keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weftwork.embed.protocol import Matrix
from weftwork.store.index.columns import LABELLED, Columns, Ints
from weftwork.store.index.labels import Vocabulary
from weftwork.store.index.scan import Words
from weftwork.store.index.segments import Segment

_BLOCK = 8_192


@dataclass(frozen=True, slots=True)
class Merged:
    """A segment without its vectors, which are read in blocks: they may exceed the memory."""

    columns: Columns
    codes: tuple[Words, ...]
    by_node: Ints
    vocabulary: Vocabulary
    sources: tuple[Segment, ...]
    origin: Ints
    """The position of each row in the concatenation of the sources."""

    def __len__(self) -> int:
        return len(self.origin)

    def vectors(self) -> Iterator[Matrix]:
        """The vectors of all rows, in blocks."""
        for start in range(0, len(self), _BLOCK):
            yield _vectors_at(self.sources, self.origin[start : start + _BLOCK])

    def segment(self) -> Segment:
        """The segment in memory, with the vectors."""
        vectors = np.empty((len(self), self.sources[0].vectors.shape[1]), dtype=np.float32)
        for number, block in enumerate(self.vectors()):
            vectors[number * _BLOCK : number * _BLOCK + len(block)] = block
        alive = np.ones(len(self), dtype=np.bool_)
        return Segment(self.columns, vectors, self.codes, alive, self.by_node)


def merged(segments: Sequence[Segment], vocabulary: Vocabulary) -> Merged:
    """The live rows of all segments, and the part of the vocabulary that they use."""
    alive = np.flatnonzero(np.concatenate([segment.alive for segment in segments]))
    keys = np.concatenate([segment.columns.key for segment in segments])
    origin = alive[np.argsort(keys[alive], kind="stable")]
    columns = Columns.joined([segment.columns for segment in segments], origin)
    columns, vocabulary = _compacted(columns, vocabulary)
    return Merged(
        columns=columns,
        codes=tuple(np.concatenate(words)[origin] for words in zip(*(s.codes for s in segments), strict=True)),
        by_node=np.argsort(columns.node, kind="stable"),
        vocabulary=vocabulary,
        sources=tuple(segments),
        origin=origin,
    )


def _compacted(columns: Columns, vocabulary: Vocabulary) -> tuple[Columns, Vocabulary]:
    pairs = {name: getattr(vocabulary, name).compacted(getattr(columns, name)) for name in LABELLED}
    labels = {name: labels for name, (labels, _) in pairs.items()}
    return replace(columns, **{name: codes for name, (_, codes) in pairs.items()}), Vocabulary(**labels)


def _vectors_at(sources: Sequence[Segment], origin: Ints) -> Matrix:
    vectors = np.empty((len(origin), sources[0].vectors.shape[1]), dtype=np.float32)
    start = 0
    for source in sources:
        inside = (origin >= start) & (origin < start + len(source))
        vectors[inside] = source.vectors[origin[inside] - start]
        start += len(source)
    return vectors
