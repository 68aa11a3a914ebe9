"""Candidates and outlines for the tests of composing."""

from weftwork.compose.reading import Reading
from weftwork.types import Candidate, Finding, NodeInfo, Outline, OutlineNode, Passage


def candidate(name, text="some words that say a thing", *, key=1, score=0.5, section="semantic", kind="words", **more):
    """A candidate of its own document, unless told otherwise."""
    info = {each: more.pop(each) for each in list(more) if each in NodeInfo.__slots__}
    passage = Passage(more.pop("ordinal", 0), 0, len(text), text, len(text.split()), text, f"c{key}", key)
    return Candidate(
        NodeInfo(id=name, **info), passage, section, (Finding("f", 1, score, kind=kind),), score=score, **more
    )


def reading(*lines):
    """A document from lines of (id, type, depth, tokens of its passages); keys count from 1 in reading order."""
    nodes, key = [], 0
    for name, kind, depth, tokens in lines:
        keys = tuple(range(key + 1, key + 1 + len(tokens)))
        key += len(tokens)
        nodes.append(OutlineNode(name, kind, name.title(), depth, keys, tuple(tokens)))
    return Reading(Outline(NodeInfo(id=lines[0][0], type=lines[0][1], title=lines[0][0].title()), (), tuple(nodes)))
