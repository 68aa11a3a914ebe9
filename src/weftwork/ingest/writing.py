"""Writing sources: each in one transaction with the record of it, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from weftwork.engine import Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.ingest.bundles import Progress, write_bundle
from weftwork.ingest.connectors.protocol import Source
from weftwork.ingest.events import Bundle, Refused, Skipped
from weftwork.ingest.import_log import Details, ImportLog, Kept
from weftwork.ingest.links import whole
from weftwork.ingest.read import Draft
from weftwork.ingest.report import Followed, Options
from weftwork.types import Node

PENDING = "pending"
"""The mark that links are still to be resolved: set with the first source that is written, and gone with the links."""
UNSETTLED: dict[str, str | None] = {PENDING: "1"}


@dataclass(slots=True)
class SourceWriter:
    """Writes what one run over one path read, and counts it."""

    weft: Weft
    log: ImportLog
    options: Options
    edition: str
    """Of the connector: what another one read is read again."""
    report: Followed
    renamed: dict[str, str]
    """New keys, each with the old one."""
    details: dict[str, Details]
    """The long records, kept in step with what is written."""
    written: set[str] = field(default_factory=set)

    def known(self, key: str) -> Kept | None:
        """The record of a source, also if it is called otherwise since."""
        return self.log.kept.get(self.renamed.get(key, key))

    def before(self, key: str) -> Details | None:
        """The long record, likewise."""
        return self.details.get(self.renamed.get(key, key))

    def skip(self, source: Source, why: str) -> None:
        """Report a source that was not added."""
        self.report.skipped.append(Skipped(source.what, why))

    def write_each(self, drafts: list[Draft]) -> None:
        """Write drafts together, or one by one, so that what is wrong with one does not keep the others out."""
        try:
            self._write(drafts)
        except (InvalidInput, NotFound) as error:
            if len(drafts) == 1:
                self.skip(drafts[0].source, str(error))
                return
            for draft in drafts:
                self.write_each([draft])

    def _write(self, drafts: list[Draft]) -> None:
        """Write nodes, remove what they replace and note it, in one transaction."""
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
        """The nodes to write, with the tags that somebody gave them beside those that their source had."""
        told: dict[str, list[str]] = {}
        for draft in drafts:
            before = self.before(draft.source.key)
            if before is not None:
                told |= {whole(draft.id, local): before.tags.get(local, []) for local in before.nodes.values()}
        with self.weft.store.view(self.options.workspace, self.options.user) as view:
            stored = {node.id: node.tags for node in view.nodes(list(told))}
        nodes = []
        for node in (node for draft in drafts for node in draft.nodes):
            more = [tag for tag in stored.get(node.id, ()) if tag not in told[node.id] and tag not in node.tags]
            nodes.append(replace(node, tags=(*node.tags, *more)) if more else node)
        return nodes

    def write_document(self, draft: Draft, bundle: Bundle, place: tuple[str | None, int] | None) -> None:
        """Write a document, which brings its own transaction; one that was renamed is hung elsewhere."""
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
        self.report.notes += written.notes
        self.report.nodes += written.changed
        with self.weft.atomic(self.options.workspace) as batch:
            if renamed and place is not None:
                batch.move(draft.id, *place)
            self.log.note(batch, self._records(draft), self._details_of(draft), UNSETTLED)
        self._count(draft)

    def refuse_document(self, draft: Draft, why: str, *, again: bool = False) -> None:
        """Report a document that cannot be read; an earlier version of it stays. It may be worth trying again."""
        self.skip(draft.source, why)
        if self.options.dry_run or again:
            return
        known = self.known(draft.source.key)
        record = self._records(draft)
        record[draft.source.key] = Kept(
            known.id if known else "", self.edition + draft.fingerprint, draft.source.stamp, why
        )
        with self.weft.atomic(self.options.workspace) as batch:
            self.log.note(batch, record, {}, {})

    def forget(self, source: Source, fingerprint: str, why: str) -> None:
        """Report that a source holds nothing, remember that, and remove what is stored of it."""
        self.skip(source, why)
        known = self.known(source.key)
        stored = [known.id] if known is not None and known.id else []
        self.report.removed += len(stored)
        self.details.pop(self.renamed.get(source.key, source.key), None)
        if self.options.dry_run:
            return
        records: dict[str, Kept | None] = {self.renamed.get(source.key, source.key): None}
        records[source.key] = Kept("", fingerprint, source.stamp, why)
        with self.weft.atomic(self.options.workspace) as batch:
            batch.remove(stored)
            self.log.note(batch, records, dict.fromkeys(records), UNSETTLED if stored else {})

    def remove(self, gone: list[str]) -> None:
        """Take out what is gone, after all that was renamed hangs elsewhere."""
        stored = [self.log.kept[key].id for key in gone if self.log.kept[key].id]
        self.report.removed += len(stored)
        for key in gone:
            self.details.pop(key, None)
        if gone and not self.options.dry_run:
            with self.weft.atomic(self.options.workspace) as batch:
                batch.remove(stored)
                self.log.note(batch, dict.fromkeys(gone), dict.fromkeys(gone), UNSETTLED)

    def restamp(self, restamped: dict[str, Kept]) -> None:
        """Note the new times of files with the same content."""
        stamped: dict[str, Kept | None] = {key: kept for key, kept in restamped.items() if key not in self.written}
        if stamped and not self.options.dry_run:
            with self.weft.atomic(self.options.workspace) as batch:
                self.log.note(batch, stamped, {}, {})

    def _records(self, draft: Draft) -> dict[str, Kept | None]:
        key = draft.source.key
        records: dict[str, Kept | None] = {self.renamed.get(key, key): None}
        records[key] = Kept(draft.id, self.edition + draft.fingerprint, draft.source.stamp)
        return records

    def _details_of(self, draft: Draft) -> dict[str, Details | None]:
        """The long record of a draft, with the edges that are in the store because of the one before it."""
        key = draft.source.key
        before = self.before(key)
        if before is not None:
            draft.details.edges, draft.details.mentions = before.edges, before.mentions
        records: dict[str, Details | None] = {self.renamed.get(key, key): None}
        records[key] = draft.details
        return records

    def _count(self, draft: Draft) -> None:
        key = draft.source.key
        known = self.log.kept.get(key)
        self.details |= {name: record for name, record in self._details_of(draft).items() if record is not None}
        if key in self.renamed:
            self.details.pop(self.renamed[key], None)
            self.report.moved += 1
        elif known is not None and known.id:
            self.report.changed += 1
        else:
            self.report.added += 1
        self.written.add(key)
        self.report.skipped += draft.skipped
        self.report.notes += draft.notes
