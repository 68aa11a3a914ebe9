"""Importing a path: make a workspace agree with all sources that a connector finds there. Idempotent.

A changed source is replaced in one transaction with its recorded state; links and mentions are resolved when all nodes
are written. A process that is killed in between leaves whole sources and a mark that links are pending.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.ingest.connect import connect
from weftwork.ingest.connectors.protocol import Connector, Document, Source
from weftwork.ingest.diff import Diff, diff_sources
from weftwork.ingest.documents.formats import missing_packages
from weftwork.ingest.documents.libreoffice import libreoffice
from weftwork.ingest.documents.ocr import ocr_is_installed
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.reader import UNDRAWN, UNREAD, Place, read_document
from weftwork.ingest.events import Attachment, Bundle, Expected, Note, Refused, Skipped
from weftwork.ingest.files import FOLDER, check_path
from weftwork.ingest.garbage import collected_rarely
from weftwork.ingest.import_log import ImportLog
from weftwork.ingest.links import Unresolved, whole
from weftwork.ingest.mentions import EDITION
from weftwork.ingest.read import Draft, Unsettled, free_name, read_source
from weftwork.ingest.renames import Lines, edited_renames, text_lines
from weftwork.ingest.report import Followed, Options, Outcome
from weftwork.ingest.writing import PENDING, SourceWriter
from weftwork.types import FieldValue, Node
from weftwork.write.prepare import check_node

BATCH = 500
"""Nodes after which a transaction is committed; a source is never divided."""


def follow(weft: Weft, path: Path, connector: Connector, options: Options | None = None) -> Followed:
    """Make the workspace agree with the sources that a connector finds at a path."""
    options = options or Options()
    check_path(path)
    listed = list(connector.sources(path))
    top = next((item for item in listed if isinstance(item, Source)), None)
    if top is None:
        skipped = [Skipped(item.what, item.why) for item in listed if not isinstance(item, Source)]
        return Followed(connector.name, skipped=skipped)
    name = _free_top(weft, top, options.workspace)
    ids = {item.id: _moved(item.id, top.id, name) for item in listed if isinstance(item, Source)}
    log = ImportLog(weft.store, options.workspace, name)
    place = place_of(path)
    log.origin = json.dumps({"place": place, "connector": connector.name}, ensure_ascii=False)
    # What nodes say of where they come from is to be written again.
    if options.again or log.whole.get("place", place) != place:
        log.states = {key: replace(state, fingerprint="", stamp="") for key, state in log.states.items()}
    present = weft.store.unchecked_nodes(options.workspace, [state.id for state in log.states.values() if state.id])
    plan = diff_sources(listed, connector, log.states, present, _possible(options))
    _find_edited_renames(weft, plan, log, options)
    with ExitStack() as stack:
        stack.enter_context(collected_rarely())
        parser = options.parser or stack.enter_context(Parser())
        return _Follower(weft, log, options, plan, parser, ids).run(connector, place)


def place_of(path: Path) -> str:
    """A path as it is recorded: absolute, without links, and as text."""
    return os.fsencode(os.path.realpath(path)).decode("utf-8", "backslashreplace")


def _free_top(weft: Weft, top: Source, workspace: str) -> str:
    """The id of a top folder, the prefix of its files' ids; with a number if another existing folder has its name."""
    if not top.key.endswith("/"):
        return top.id
    here = next((node.fields.get(FOLDER) for node in top.read(top.id) if isinstance(node, Node)), None)
    taken: dict[str, FieldValue] = {}
    while True:
        name = free_name(top.id, taken, "-")
        folder = (weft.store.unchecked_fields(workspace, name) or {}).get(FOLDER)
        if here is None or folder == here:
            return name
        if not isinstance(folder, str):  # no folder has this name: one that is gone may lend its own
            gone = [other for other, place in taken.items() if not Path(str(place)).is_dir()]
            return gone[0] if gone else name
        taken[name] = folder


def _moved(name: str, top: str, new_top: str) -> str:
    """The id of what lies below a top folder, after its id was changed; `file:notes/a.md` lies below `folder:notes`."""
    kind, _, path = name.partition(":")
    folder, new_folder = top.partition(":")[2], new_top.partition(":")[2]
    if top == new_top:
        return name
    if path != folder and not path.startswith(f"{folder}/"):
        raise InvalidInput(
            f"another folder {folder!r} is in this workspace already: rename one of them, add the folder above both, "
            "or use another workspace"
        )
    return f"{kind}:{new_folder}{path.removeprefix(folder)}"


def _possible(options: Options) -> list[str]:
    """Parts of documents that can be read now and may have been missing before."""
    reads = (options.parser.reads_pictures if options.parser else ocr_is_installed()) and options.pictures == "now"
    return [*([UNREAD] if reads else []), *([UNDRAWN] if libreoffice() else [])]


def _find_edited_renames(weft: Weft, plan: Diff, log: ImportLog, options: Options) -> None:
    """Add sources that were renamed and edited to those that were renamed."""
    if not plan.gone or not plan.read:
        return
    details = log.details()

    def stored(key: str) -> Lines:
        record = details.get(key)
        ids = [whole(log.states[key].id, local) for local in record.nodes.values()] if record else []
        with weft.store.view(options.workspace, options.user) as view:
            return text_lines(view.nodes(ids))

    plan.renamed |= edited_renames(plan, log.states, stored)
    renamed = set(plan.renamed.values())
    plan.gone = [key for key in plan.gone if key not in renamed]


class _Follower:
    """A run of the import of a path."""

    def __init__(
        self, weft: Weft, log: ImportLog, options: Options, plan: Diff, parser: Parser, ids: Mapping[str, str]
    ) -> None:
        """`ids` are what sources may be called, by the ids that they propose."""
        self._weft = weft
        self._log = log
        self._options = options
        self._plan = plan
        self._parser = parser
        self._proposed = ids
        self._ids: dict[str, str] = {}
        """Stored ids by the ids that sources propose."""
        self._pending: list[Draft] = []

    def run(self, connector: Connector, place: str) -> Followed:
        """Read, write, remove and connect; if nothing changed, return the recorded counts."""
        report = Followed(connector.name, unchanged=self._plan.unchanged, skipped=self._plan.skipped)
        edition = f"{connector.name}/{connector.version}:"
        writer = SourceWriter(self._weft, self._log, self._options, edition, report, self._plan.renamed, {})
        mentions = f"on {EDITION}" if self._options.mentions else "off"
        whole = {"place": place, "connector": connector.name, "mentions": mentions}
        settled = PENDING not in self._log.whole and whole.items() <= self._log.whole.items()
        if settled and not self._plan.read and not self._plan.gone:
            writer.restamp(self._plan.restamped)
            self._share()
            report.outcomes = self._outcomes(writer)
            return self._as_before(report)
        writer.details = self._log.details()
        self._assign()
        self._options.expected(len(self._plan.read))
        writer.pictures_follow = self._parser.reads_pictures and self._options.pictures == "now"
        with self._parser.text_first():
            for key in self._plan.read:
                self._take(self._plan.sources[key], writer)
                self._options.progress(1)
            self._flush(writer)
        self._read_pictures(writer)
        writer.remove(self._plan.gone)
        writer.restamp(self._plan.restamped)
        self._share()
        self._connect(writer, whole, everything=not settled)
        if not self._options.dry_run:
            self._weft.catch_up(self._options.workspace)
        report.outcomes = self._outcomes(writer)
        return report

    def _read_pictures(self, writer: SourceWriter) -> None:
        """Read the documents again of which pictures are still to be read: all other texts are there by now."""
        drafts, writer.unread, writer.pictures_follow = writer.unread, [], False
        for draft in drafts:
            if draft.document is not None:
                self._put_document(draft, draft.document, writer)

    def _outcomes(self, writer: SourceWriter) -> list[Outcome]:
        """List the outcome of each source."""
        listed = {skipped.what: Outcome(skipped.what, "skipped", skipped.why) for skipped in self._plan.skipped}
        for key, source in self._plan.sources.items():
            known = writer.outcomes.pop(key, None) or listed.pop(source.what, None)
            listed[f"{key}\n"] = known or Outcome(source.what, "unchanged")
        return [*listed.values(), *writer.outcomes.values()]

    def _share(self) -> None:
        """Give what stands at the top the access list of the options, where it has another."""
        access = self._options.access
        if access is None or self._options.dry_run:
            return
        workspace, store = self._options.workspace, self._weft.store
        names = dict.fromkeys([*(state.id for state in self._log.states.values()), *self._ids.values()])
        with self._weft.atomic(workspace) as batch:
            for name in store.unchecked_nodes(workspace, [name for name in names if name]):
                if store.unchecked_parent(workspace, name) is None:
                    batch.set_access(name, access)

    def _as_before(self, report: Followed) -> Followed:
        """Fill in the recorded counts of links and mentions."""
        links, mentions = self._log.whole.get("links", "0 0").split()
        report.links, report.mentions = int(links), int(mentions)
        for line in self._log.whole.get("unresolved", "").splitlines():
            key, _, target = line.partition("\t")
            report.unresolved.append(Unresolved(key, target))
        report.unresolved = self._called(report.unresolved)
        return report

    def _called(self, unresolved: list[Unresolved]) -> list[Unresolved]:
        """Unresolved links with the display names of their sources: a path from the top on, or a title."""

        def what(key: str) -> str:
            source = self._plan.sources.get(key)
            return source.what if source and not source.what.endswith(key) else key

        return [replace(link, what=what(link.key)) for link in unresolved]

    def _assign(self) -> None:
        """Assign each source its id: the one it had, that of its old key after a rename, or a free one."""
        states = self._log.states
        owned = {key: states[key].id for key in self._plan.sources if key in states and states[key].id}
        owned |= {key: states[old].id for key, old in self._plan.renamed.items()}
        taken = set(owned.values())
        for key, source in self._plan.sources.items():
            name = owned.get(key) or free_name(self._proposed[source.id], taken, "#")
            taken.add(name)
            self._ids[source.id] = name

    def _take(self, source: Source, writer: SourceWriter) -> None:
        """Read a source; report one that cannot be read, and remove one that is empty now."""
        fingerprint = self._plan.read[source.key]
        try:
            content_hash = fingerprint.removeprefix(writer.edition)
            draft = read_source(source, self._ids[source.id], writer.before(source.key), content_hash)
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
        """Write a document at once, and nodes in batches."""
        if draft.document is not None:
            self._flush(writer)
            self._put_document(draft, draft.document, writer)
            return
        draft.nodes = [self._placed(node, draft.id) for node in draft.nodes]
        self._pending.append(draft)
        if sum(len(pending.nodes) for pending in self._pending) >= BATCH:
            self._flush(writer)

    def _placed(self, node: Node, top: str) -> Node:
        """Replace the proposed parent of a top node by its stored id, and a path by what it is a copy of."""
        if node.source and self._options.origin is not str:
            node = replace(node, source=self._options.origin(node.source))
        if node.parent is None:
            return node if self._options.access is None else replace(node, access=self._options.access)
        if node.id != top:
            return node
        return replace(node, parent=self._ids.get(node.parent, node.parent))

    def _put_document(self, draft: Draft, document: Document | Bundle, writer: SourceWriter) -> None:
        if isinstance(document, Bundle):
            writer.write_document(draft, self._shared(document), None)
            return
        parent = document.parent if document.parent is None else self._ids.get(document.parent, document.parent)
        place = Place(draft.id, document.title, self._options.origin(document.where), parent, document.position)
        bundle = read_document(document.path, place, self._parser)
        if isinstance(bundle, Skipped):
            writer.refuse_document(draft, bundle.why, again=bool(missing_packages()))
        else:
            writer.write_document(draft, self._shared(bundle), (parent, document.position))

    def _shared(self, bundle: Bundle) -> Bundle:
        """The bundle, whose top node has the access list of the options if it stands at the top."""
        access = self._options.access
        if access is None:
            return bundle

        def read() -> Iterator[Node | Attachment | Expected | Note]:
            for part in bundle.read():
                yield replace(part, access=access) if isinstance(part, Node) and part.parent is None else part

        return replace(bundle, read=read)

    def _flush(self, writer: SourceWriter) -> None:
        drafts, self._pending = self._pending, []
        writer.write_each(drafts)

    def _connect(self, writer: SourceWriter, whole: dict[str, str], *, everything: bool) -> None:
        """Resolve links, find mentions, and clear the pending mark."""
        tops = {key: state.id for key, state in self._log.states.items() if state.id}
        tops |= {key: self._ids[source.id] for key, source in self._plan.sources.items()}
        details = {key: record for key, record in sorted(writer.details.items()) if key in tops}
        fresh = set(details) if everything else writer.written
        connected = connect(self._weft, details, tops, self._options, fresh, self._log.whole.get("titles", ""))
        report = writer.report
        report.links, report.mentions, report.unresolved = (
            connected.links,
            connected.mentions,
            self._called(connected.unresolved),
        )
        if self._options.dry_run:
            return
        whole |= {
            "links": f"{connected.links} {connected.mentions}",
            "titles": connected.titles,
            "unresolved": "\n".join(f"{link.key}\t{link.target}" for link in connected.unresolved),
        }
        with self._weft.atomic(self._options.workspace) as batch:
            batch.unlink(connected.unlinked)
            batch.link(connected.linked)
            self._log.note(batch, {}, connected.details, {**whole, PENDING: None})
