"""The parts that requests and answers are made of."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from weftwork.clock import aware

LONGEST_NAME = 500
LONGEST_TITLE = 2_000
LONGEST_QUERY = 20_000
LONGEST_TEXT = 10_000_000
MOST_LISTED = 1_000
MOST_IN_A_BATCH = 1_000
MOST_NAMES = 1_000
LARGEST_BUDGET = 1_000_000
LARGEST_NUMBER = 2**53
DEEPEST = 5
FIRST_YEAR, LAST_YEAR = 1000, 9000


class Model(BaseModel):
    """A body; a field that does not exist is an error, so that a typing mistake is not a silent default."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Reply(BaseModel):
    """An answer."""

    model_config = ConfigDict(use_attribute_docstrings=True)


def _moment(value: object) -> object:
    if not isinstance(value, str | datetime):
        raise ValueError("a time is written as text, such as 2026-03-01T12:00:00Z")
    return value


def _within_reason(value: datetime) -> datetime:
    """A time that can be counted from and to, in every zone."""
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise ValueError(f"a time lies between the years {FIRST_YEAR} and {LAST_YEAR}")
    return aware(value)


Truth = Annotated[bool, Field(strict=True)]
Whole = Annotated[int, Field(strict=True, ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
Text = Annotated[str, Field(strict=True, max_length=LONGEST_TEXT)]
Title = Annotated[str, Field(strict=True, max_length=LONGEST_TITLE)]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_NAME)]
Query = Annotated[str, Field(strict=True, max_length=LONGEST_QUERY)]
Names = Annotated[list[Name], Field(max_length=MOST_NAMES)]
Share = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Moment = Annotated[datetime, BeforeValidator(_moment), AfterValidator(_within_reason)]
Limit = Annotated[int, Field(strict=True, ge=1, le=MOST_LISTED)]
Fields = Annotated[dict[Name, Text | Truth | Whole | Number | list[Text] | None], Field(max_length=MOST_NAMES)]
FieldValues = dict[str, str | bool | int | float | list[str] | None]
"""Fields of a node, as they are sent."""
Json = dict[str, Any]
