"""The Markdown of a page of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weftwork.ingest.documents.layout.blocks import Style, to_markdown
from weftwork.ingest.documents.layout.columns import downwards, reading_order
from weftwork.ingest.documents.layout.hyphens import words_of
from weftwork.ingest.documents.layout.running import Sampled, without_running
from weftwork.ingest.documents.layout.tables import Rule, with_aligned_tables, with_ruled_tables


def page_markdown(page: Sampled, style: Style, rules: Sequence[Rule] = ()) -> str:
    """Convert a page in reading order; sideways text comes last."""
    style = replace(style, words=style.words | words_of(page.runs))
    body = without_running(page, style.running, style.body)
    upright = [run for run in body if not run.sideways]
    columns = reading_order(with_ruled_tables(upright, rules), style.body)
    groups = [downwards(with_aligned_tables(column, style.body)) for column in columns]
    sideways = [run for run in body if run.sideways]
    return to_markdown([*groups, *([run] for run in sideways)], style)
