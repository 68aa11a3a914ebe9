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
"""Words of a text that similar names are looked for: a question is none."""
LONGEST_SPELLED = 4
"""Words of a text that may be a name in another spelling."""
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
    name = bare(text)
    by_id = view.nodes([text.strip()])
    if by_id:
        # An id means nothing to an embedding: the node's own words do.
        return Named((by_id[0].id,), by_id[0].title or by_id[0].text)
    cited = view.cited([name])
    if cited:
        return Named((cited[0].node.id,), cited[0].passage.text or cited[0].node.title)
    titles = read_query(text, now).titles
    whole = called(view, name)
    by_title = tuple(
        dict.fromkeys([*(record.node.id for record in whole), *(node for title in titles for node in view.find(title))])
    )
    if not by_title:
        return None
    meaning = text if not whole or _is_called(whole[0], name) else whole[0].node.title or whole[0].passage.text
    return Named(by_title, meaning, bool(whole) or name in titles)


def bare(text: str) -> str:
    """A name without what people copy with it: `[[title]]`, `[citation]`, `((block))`, `id:: block`."""
    name = text.strip().removeprefix("id::").strip().strip("[]").strip()
    return name[2:-2].strip() if name.startswith("((") and name.endswith("))") else name


def called(view: View, name: str) -> list[Record]:
    """The nodes of this name: documents if there are any, and no folders beside them.

    A name is a title or an alias in any case, with spaces, hyphens or underscores between its words, the path of a
    file or the end of one, with its suffix or without, or the id that a node, or a block that its text holds, has in
    the export that it comes from. Other spellings are searched for only where no document has just this name.
    """
    names = [name, *(f"{scheme}:{name}" for scheme in SCHEMES if " " not in name)]
    exact = view.passages(list(dict.fromkeys(node for each in names for node in view.find(each))))
    records = view.load([keys[0] for keys in exact.values()])
    if not any(_is_document(record) for record in records) and len(name.split()) <= LONGEST_SPELLED:
        known = {record.node.id for record in records}
        records += [each for each in similar(view, name) if each.node.id not in known and _is_called(each, name)]
    ids = {record.node.id for record in records}
    outermost = [record for record in records if record.document not in ids - {record.node.id}]
    documents = [record for record in outermost if _is_document(record)]
    return [record for record in documents if record.node.type not in _HOLDERS] or documents or outermost


def similar(view: View, name: str) -> list[Record]:
    """The nodes whose titles and paths are most like a name, each by its first passage, best first."""
    return _once(view, [hit.key for hit in view.search_fuzzy(name, limit=MOST_SIMILAR)]) if _may_be_name(name) else []


def _is_document(record: Record) -> bool:
    return record.document in ("", record.node.id)


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
