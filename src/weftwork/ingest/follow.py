"""Following a path: making a workspace agree with all sources that a connector finds there, again and again.

What changed replaces what it was, in one transaction with the record of it; links and mentions follow when all nodes
are there. A process that is killed in between leaves whole sources and a mark that links are still to be resolved.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.ingest.connect import connect
from weftwork.ingest.connectors.protocol import Connector, Document, Source
from weftwork.ingest.diff import Survey, survey
from weftwork.ingest.documents.formats import missing_packages
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.reader import Place, read_document
from weftwork.ingest.events import Bundle, Refused, Skipped
from weftwork.ingest.files import FOLDER, check_path
from weftwork.ingest.import_log import ImportLog
from weftwork.ingest.links import Unresolved
from weftwork.ingest.mentions import EDITION
from weftwork.ingest.read import Draft, Unsettled, read_source
from weftwork.ingest.report import Followed, Options
from weftwork.ingest.writing import PENDING, SourceWriter
from weftwork.types import Node
from weftwork.write.prepare import check_node

BATCH = 500
"""Nodes from which on a transaction is committed; a source is never divided."""


def follow(weft: Weft, path: Path, connector: Connector, options: Options | None = None) -> Followed:
    """Make the workspace agree with what a connector finds at a path."""
    options = options or Options()
    check_path(path)
    found = list(connector.sources(path))
    top = next((each for each in found if isinstance(each, Source)), None)
    if top is None:
        skipped = [Skipped(each.what, each.why) for each in found if not isinstance(each, Source)]
        return Followed(connector.name, skipped=skipped)
    _refuse_another(weft, top, options.workspace)
    log = ImportLog(weft.store, options.workspace, top.id)
    place = os.fsencode(os.path.realpath(path)).decode("utf-8", "backslashreplace")
    if log.whole.get("place", place) != place:  # what nodes say of where they come from is to be written again
        log.kept = {key: replace(kept, fingerprint="", stamp="") for key, kept in log.kept.items()}
    present = weft.store.unchecked_nodes(options.workspace, [kept.id for kept in log.kept.values() if kept.id])
    plan = survey(found, connector, log.kept, present)
    with ExitStack() as stack:
        parser = options.parser or stack.enter_context(Parser())
        return _Follower(weft, log, options, plan, parser).run(connector, place)


def _refuse_another(weft: Weft, top: Source, workspace: str) -> None:
    """Refuse a folder whose name, which its files are known by, belongs to another one that is still there."""
    for node in top.read(top.id) if top.key.endswith("/") else ():
        here = node.fields.get(FOLDER) if isinstance(node, Node) else None
        other = (weft.store.unchecked_fields(workspace, top.id) or {}).get(FOLDER)
        if here is not None and isinstance(other, str) and here != other and Path(other).is_dir():
            raise InvalidInput(
                f"another folder {Path(other).name!r} is in this workspace already, {other}: rename one of them, add "
                "the folder above both, or use another workspace"
            )


class _Follower:
    """One run over one path."""

    def __init__(self, weft: Weft, log: ImportLog, options: Options, plan: Survey, parser: Parser) -> None:
        self._weft = weft
        self._account = log
        self._options = options
        self._plan = plan
        self._parser = parser
        self._ids: dict[str, str] = {}
        """The ids that sources propose, and those that they have."""
        self._pending: list[Draft] = []

    def run(self, connector: Connector, place: str) -> Followed:
        """Read, write, remove, connect; where nothing changed, only say so."""
        report = Followed(connector.name, unchanged=self._plan.unchanged, skipped=self._plan.skipped)
        edition = f"{connector.name}/{connector.version}:"
        writer = SourceWriter(self._weft, self._account, self._options, edition, report, self._plan.renamed, {})
        whole = {"place": place, "mentions": f"on {EDITION}" if self._options.mentions else "off"}
        settled = PENDING not in self._account.whole and whole.items() <= self._account.whole.items()
        if settled and not self._plan.read and not self._plan.gone:
            writer.restamp(self._plan.restamped)
            return self._as_before(report)
        writer.details = self._account.details()
        self._assign()
        self._options.expected(len(self._plan.read))
        for key in self._plan.read:
            self._take(self._plan.sources[key], writer)
            self._options.progress(1)
        self._flush(writer)
        writer.remove(self._plan.gone)
        writer.restamp(self._plan.restamped)
        self._connect(writer, whole, everything=not settled)
        if not self._options.dry_run:
            self._weft.catch_up(self._options.workspace)
        return report

    def _as_before(self, report: Followed) -> Followed:
        """What the last run found out about links, where nothing changed since."""
        links, mentions = self._account.whole.get("links", "0 0").split()
        report.links, report.mentions = int(links), int(mentions)
        for line in self._account.whole.get("unresolved", "").splitlines():
            key, _, target = line.partition("\t")
            report.unresolved.append(Unresolved(key, target))
        report.unresolved = self._called(report.unresolved)
        return report

    def _called(self, unresolved: list[Unresolved]) -> list[Unresolved]:
        """Links that point nowhere, with what their sources are called: paths from the top on, or titles."""

        def what(key: str) -> str:
            source = self._plan.sources.get(key)
            return source.what if source and not source.what.endswith(key) else key

        return [replace(each, what=what(each.key)) for each in unresolved]

    def _assign(self) -> None:
        """Give each source its id: the one it had, that of the one it was renamed from, or a free one."""
        kept = self._account.kept
        owned = {key: kept[key].id for key in self._plan.sources if key in kept and kept[key].id}
        owned |= {key: kept[old].id for key, old in self._plan.renamed.items()}
        taken = set(owned.values())
        for key, source in self._plan.sources.items():
            name = owned.get(key) or _free(source.id, taken)
            taken.add(name)
            self._ids[source.id] = name

    def _take(self, source: Source, writer: SourceWriter) -> None:
        """Read a source; what cannot be read is reported, and goes if there is nothing in it any more."""
        fingerprint = self._plan.read[source.key]
        try:
            known = fingerprint.removeprefix(writer.edition)
            draft = read_source(source, self._ids[source.id], writer.before(source.key), known)
            for node in draft.nodes:
                check_node(node)
        except OSError as error:
            writer.skip(source, f"cannot be read ({error.strerror or error})")
        except (Unsettled, InvalidInput) as error:
            writer.skip(source, str(error))
        except Refused as error:
            self._flush(writer)
            writer.forget(source, fingerprint, str(error))
        else:
            self._put(draft, writer)

    def _put(self, draft: Draft, writer: SourceWriter) -> None:
        """Write a document at once, and nodes when there are enough of them."""
        if draft.document is not None:
            self._flush(writer)
            self._put_document(draft, draft.document, writer)
            return
        draft.nodes = [self._placed(node, draft.id) for node in draft.nodes]
        self._pending.append(draft)
        if sum(len(each.nodes) for each in self._pending) >= BATCH:
            self._flush(writer)

    def _placed(self, node: Node, top: str) -> Node:
        """A top node below the node that its folder really is."""
        if node.id != top or node.parent is None:
            return node
        return replace(node, parent=self._ids.get(node.parent, node.parent))

    def _put_document(self, draft: Draft, document: Document | Bundle, writer: SourceWriter) -> None:
        if isinstance(document, Bundle):
            writer.write_document(draft, document, None)
            return
        parent = document.parent if document.parent is None else self._ids.get(document.parent, document.parent)
        place = Place(draft.id, document.title, document.where, parent, document.position)
        bundle = read_document(document.path, place, self._parser)
        if isinstance(bundle, Skipped):
            writer.refuse_document(draft, bundle.why, again=bool(missing_packages()))
        else:
            writer.write_document(draft, bundle, (parent, document.position))

    def _flush(self, writer: SourceWriter) -> None:
        drafts, self._pending = self._pending, []
        writer.write_each(drafts)

    def _connect(self, writer: SourceWriter, whole: dict[str, str], *, everything: bool) -> None:
        """Resolve links and find mentions, and note that this is done."""
        tops = {key: kept.id for key, kept in self._account.kept.items() if kept.id}
        tops |= {key: self._ids[source.id] for key, source in self._plan.sources.items()}
        details = {key: record for key, record in sorted(writer.details.items()) if key in tops}
        fresh = set(details) if everything else writer.written
        made = connect(self._weft, details, tops, self._options, fresh, self._account.whole.get("titles", ""))
        report = writer.report
        report.links, report.mentions, report.unresolved = made.links, made.mentions, self._called(made.unresolved)
        if self._options.dry_run:
            return
        whole |= {
            "links": f"{made.links} {made.mentions}",
            "titles": made.titles,
            "unresolved": "\n".join(f"{each.key}\t{each.target}" for each in made.unresolved),
        }
        with self._weft.atomic(self._options.workspace) as batch:
            batch.unlink(made.unlinked)
            batch.link(made.linked)
            self._account.note(batch, {}, made.details, {**whole, PENDING: None})


def _free(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free in taken:
        free, number = f"{name}#{number}", number + 1
    return free
