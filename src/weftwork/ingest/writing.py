"""Writing sources: each in one transaction with its recorded state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weftwork.engine import Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.ingest.bundles import Progress, write_bundle
from weftwork.ingest.connectors.protocol import Source
from weftwork.ingest.documents.reader import UNREAD, missing_in
from weftwork.ingest.events import Bundle, Refused, Skipped
from weftwork.ingest.import_log import LACKS, ImportLog, SourceDetails, SourceState
from weftwork.ingest.links import whole
from weftwork.ingest.read import Draft
from weftwork.ingest.report import Followed, Options, Outcome
from weftwork.types import Node

PENDING = "pending"
"""The mark that links are unresolved: set with the first source that is written, removed with the links."""
UNSETTLED: dict[str, str | None] = {PENDING: "1"}


@dataclass(slots=True)
class SourceWriter:
    """Writes the sources of one import, and counts them."""

    weft: Weft
    log: ImportLog
    options: Options
    edition: str
    """The connector and its version: what another one read is read again."""
    report: Followed
    renamed: dict[str, str]
    """Old keys by new ones."""
    details: dict[str, SourceDetails]
    """The long records, in sync with what is written."""
    written: set[str] = field(default_factory=set)
    pictures_follow: bool = False
    """Documents with pictures to read are read again at the end."""
    unread: list[Draft] = field(default_factory=list)
    """The documents whose pictures are still to be read."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """What became of each source, by key."""

    def known(self, key: str) -> SourceState | None:
        """The recorded state of a source, also after a rename."""
        return self.log.states.get(self.renamed.get(key, key))

    def before(self, key: str) -> SourceDetails | None:
        """The long record of a source, also after a rename."""
        return self.details.get(self.renamed.get(key, key))

    def skip(self, source: Source, why: str) -> None:
        """Report a source that was not added."""
        self.report.skipped.append(Skipped(source.what, why))
        self.outcomes[source.key] = Outcome(source.what, "skipped", why)

    def write_each(self, drafts: list[Draft]) -> None:
        """Write drafts together; if that fails, one by one, so that a bad one does not keep out the others."""
        try:
            self._write(drafts)
        except (InvalidInput, NotFound) as error:
            if len(drafts) == 1:
                self.skip(drafts[0].source, str(error))
                return
            for draft in drafts:
                self.write_each([draft])

    def _write(self, drafts: list[Draft]) -> None:
        """Write nodes, remove stale ones and record the sources, in one transaction."""
        if drafts and not self.options.dry_run:
            entries = self.weft.writer.prepare(self._with_tags(drafts))
            with self.weft.writer.transaction(self.options.workspace, entries) as transaction:
                changed = transaction.batch.put(entries, keep_access=True)
                transaction.batch.remove(name for draft in drafts for name in draft.gone)
                for draft in drafts:
                    self.log.note(transaction.batch, self._records(draft), self._details_of(draft), UNSETTLED)
            self.report.nodes += changed
        for draft in drafts:
            self._count(draft)

    def _with_tags(self, drafts: list[Draft]) -> list[Node]:
        """The nodes to write, with the tags that users added to them since."""
        source_tags: dict[str, list[str]] = {}
        for draft in drafts:
            before = self.before(draft.source.key)
            if before is not None:
                source_tags |= {whole(draft.id, local): before.tags.get(local, []) for local in before.nodes.values()}
        with self.weft.store.view(self.options.workspace, self.options.user) as view:
            stored = {node.id: node.tags for node in view.nodes(list(source_tags))}
        nodes = []
        for node in (node for draft in drafts for node in draft.nodes):
            more = [tag for tag in stored.get(node.id, ()) if tag not in source_tags[node.id] and tag not in node.tags]
            nodes.append(replace(node, tags=(*node.tags, *more), origin="connector", writer=self.options.user))
        return nodes

    def write_document(self, draft: Draft, bundle: Bundle, place: tuple[str | None, int] | None) -> None:
        """Write a document, which has its own transaction; reparent a renamed one."""
        renamed = draft.source.key in self.renamed
        if self.options.dry_run:
            self._count(draft)
            return
        try:
            written = write_bundle(
                self.weft, replace(bundle, versions=()) if renamed else bundle, self.options.workspace, Progress()
            )
        except (Refused, InvalidInput, NotFound) as error:
            self.refuse_document(draft, str(error))
            return
        lacks = missing_in(written.version)
        if UNREAD in lacks and self.pictures_follow:
            self.unread.append(draft)
        else:
            self.report.notes += written.notes
        self.report.nodes += written.changed
        with self.weft.atomic(self.options.workspace) as batch:
            if renamed and place is not None:
                batch.move(draft.id, *place)
            self.log.note(batch, self._records(draft, lacks), self._details_of(draft), UNSETTLED)
        if draft.source.key not in self.written:
            self._count(draft)

    def refuse_document(self, draft: Draft, why: str, *, again: bool = False) -> None:
        """Report an unreadable document and keep its earlier version; `again` lets the next import retry it."""
        self.skip(draft.source, why)
        if self.options.dry_run or again:
            return
        state = self.known(draft.source.key)
        record = self._records(draft)
        record[draft.source.key] = SourceState(
            state.id if state else "", self.edition + draft.fingerprint, draft.source.stamp, why
        )
        with self.weft.atomic(self.options.workspace) as batch:
            self.log.note(batch, record, {}, {})

    def forget(self, source: Source, fingerprint: str, why: str) -> None:
        """Report an empty source, record that, and remove its stored nodes."""
        self.skip(source, why)
        state = self.known(source.key)
        stored = [state.id] if state is not None and state.id else []
        self.report.removed += len(stored)
        self.details.pop(self.renamed.get(source.key, source.key), None)
        if self.options.dry_run:
            return
        records: dict[str, SourceState | None] = {self.renamed.get(source.key, source.key): None}
        records[source.key] = SourceState("", fingerprint, source.stamp, why)
        with self.weft.atomic(self.options.workspace) as batch:
            batch.remove(stored)
            self.log.note(batch, records, dict.fromkeys(records), UNSETTLED if stored else {})

    def remove(self, gone: list[str]) -> None:
        """Remove the sources that are gone; call it after renamed ones are reparented."""
        stored = [self.log.states[key].id for key in gone if self.log.states[key].id]
        self.report.removed += len(stored)
        for key in gone:
            self.details.pop(key, None)
            if self.log.states[key].id:
                self.outcomes[key] = Outcome(key, "removed")
        if gone and not self.options.dry_run:
            with self.weft.atomic(self.options.workspace) as batch:
                batch.remove(stored)
                self.log.note(batch, dict.fromkeys(gone), dict.fromkeys(gone), UNSETTLED)

    def restamp(self, restamped: dict[str, SourceState]) -> None:
        """Record the new timestamps of files with unchanged content."""
        stamped: dict[str, SourceState | None] = {
            key: state for key, state in restamped.items() if key not in self.written
        }
        if stamped and not self.options.dry_run:
            with self.weft.atomic(self.options.workspace) as batch:
                self.log.note(batch, stamped, {}, {})

    def _records(self, draft: Draft, lacks: Sequence[str] = ()) -> dict[str, SourceState | None]:
        key = draft.source.key
        records: dict[str, SourceState | None] = {self.renamed.get(key, key): None}
        records[key] = SourceState(
            draft.id,
            "".join([self.edition + draft.fingerprint, *(f"{LACKS}{part}" for part in lacks)]),
            draft.source.stamp,
        )
        return records

    def _details_of(self, draft: Draft) -> dict[str, SourceDetails | None]:
        """The long record of a draft, with the stored edges of its predecessor."""
        key = draft.source.key
        before = self.before(key)
        if before is not None:
            draft.details.edges, draft.details.mentions = before.edges, before.mentions
        records: dict[str, SourceDetails | None] = {self.renamed.get(key, key): None}
        records[key] = draft.details
        return records

    def _count(self, draft: Draft) -> None:
        key = draft.source.key
        state = self.log.states.get(key)
        self.details |= {name: record for name, record in self._details_of(draft).items() if record is not None}
        if key in self.renamed:
            self.details.pop(self.renamed[key], None)
            self.report.moved += 1
            self.outcomes[key] = Outcome(draft.source.what, "moved", f"from {self.renamed[key]}")
        elif state is not None and state.id:
            self.report.changed += 1
            self.outcomes[key] = Outcome(draft.source.what, "changed")
        else:
            self.report.added += 1
            self.outcomes[key] = Outcome(draft.source.what, "added")
        self.written.add(key)
        self.report.skipped += draft.skipped
        self.report.notes += draft.notes
