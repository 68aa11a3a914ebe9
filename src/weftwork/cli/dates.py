"""Dates on the command line."""

from __future__ import annotations

from datetime import datetime

import click

from weftwork.clock import aware


class Moment(click.ParamType[datetime]):
    """A date or a time in ISO form; one without a zone is in UTC."""

    name = "date"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse a moment."""
        if isinstance(value, datetime):
            return value
        try:
            return aware(datetime.fromisoformat(str(value)))
        except ValueError:
            self.fail(f"{value!r} is not a date: write it like 2026-03-01 or 2026-03-01T09:30", param, ctx)


MOMENT = Moment()
