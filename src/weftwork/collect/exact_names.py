"""Topics that are exact names: a node's id, a passage's citation, a title, an alias or a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from weftwork.query import read_query
from weftwork.store.protocol import View
from weftwork.types import FieldValue, Record

SCHEMES = ("tana", "logseq", "roam")
"""Exports whose sources are named by the ids that their owners know: `tana:` and the id."""
LONGEST_NAME = 8
"""Words of a text that may still be a name in another spelling: a question is none."""
MOST_SIMILAR = 20
_HOLDERS = frozenset({"folder", "workspace"})
_BREAKS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class Named:
    """Visible nodes that a topic names, and the text that says what it is about."""

    nodes: tuple[str, ...]
    meaning: str
    whole: bool = True
    """The text is their name and nothing else; False for a question that names them among other words."""


def named(view: View, text: str, now: datetime) -> Named | None:
    """The nodes that a topic names; None if it has to be searched for."""
    name = text.strip()
    by_id = view.nodes([name])
    if by_id:
        # An id means nothing to an embedding: the node's own words do.
        return Named((by_id[0].id,), by_id[0].title or by_id[0].text)
    cited = view.cited([name.strip("[]")])
    if cited:
        return Named((cited[0].node.id,), cited[0].passage.text or cited[0].node.title)
    titles = read_query(text, now).titles
    whole = [record.node.id for record in called(view, name)]
    by_title = tuple(dict.fromkeys([*whole, *(node for title in titles for node in view.find(title))]))
    return Named(by_title, text, bool(whole) or name.strip("[]") in titles) if by_title else None


def called(view: View, name: str) -> list[Record]:
    """The nodes of this name: documents if there are any, and no folders beside them.

    A name is a title or an alias in any case, with spaces, hyphens or underscores between its words, the path of a
    file or the end of one, with its suffix or without, or the id that a node has in the export that it comes from.
    """
    names = [name, *(f"{scheme}:{name}" for scheme in SCHEMES if " " not in name)]
    exact = view.passages(list(dict.fromkeys(node for each in names for node in view.find(each))))
    records = view.load([keys[0] for keys in exact.values()])
    known = {record.node.id for record in records}
    others = {record.node.id: record for record in (*similar(view, name), *_with_words(view, name))}
    records += [record for node, record in others.items() if node not in known and _is_called(record, name)]
    ids = {record.node.id for record in records}
    outermost = [record for record in records if record.document not in ids - {record.node.id}]
    documents = [record for record in outermost if record.document in ("", record.node.id)]
    return [record for record in documents if record.node.type not in _HOLDERS] or documents or outermost


def similar(view: View, name: str) -> list[Record]:
    """The nodes whose titles and paths are most like a name, each by its first passage, best first."""
    return _once(view, [hit.key for hit in view.search_fuzzy(name, limit=MOST_SIMILAR)]) if _may_be_name(name) else []


def _with_words(view: View, name: str) -> list[Record]:
    """The nodes that hold the words of a name, as those with this alias do."""
    return _once(view, [hit.key for hit in view.search_words(name, limit=MOST_SIMILAR)]) if _may_be_name(name) else []


def _may_be_name(text: str) -> bool:
    return 1 <= len(text.split()) <= LONGEST_NAME and not text.rstrip().endswith("?")


def _once(view: View, keys: Sequence[int]) -> list[Record]:
    """The passages with these keys, one for each node."""
    records: dict[str, Record] = {}
    for record in view.load(keys):
        records.setdefault(record.node.id, record)
    return list(records.values())


def _is_called(record: Record, name: str) -> bool:
    fields = record.node.fields
    aliases = [value for field in ("aliases", "alias") for value in _texts(fields.get(field))]
    if _spelled(name) in map(_spelled, (record.node.title, *aliases)):
        return True
    path = record.node.source.replace("\\", "/")
    if record.document != record.node.id or not path:
        return False
    wanted = "/" + name.strip().strip("/").casefold()
    folder, _, file = path.casefold().rpartition("/")
    return any(f"/{folder}/{each}".endswith(wanted) for each in (file, file.rpartition(".")[0]) if each)


def _texts(value: FieldValue) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()


def _spelled(name: str) -> str:
    """A name without regard to case and to what stands between its words."""
    return _BREAKS.sub(" ", name.casefold()).strip()
