"""The parts that requests and answers are made of."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, FailFast, Field, model_validator

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


MOST_UNKNOWN = 20
"""Names that do not exist in one object which are told one by one."""
Item = TypeVar("Item")
Several = Annotated[list[Item], FailFast()]
"""A list whose first wrong item ends the check, so that a large wrong body costs no more than a small one."""


class Model(BaseModel):
    """A body; a field that does not exist is an error, so that a typing mistake is not a silent default."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def bounded(cls, data: Any) -> Any:
        """Refuse an object with very many names: an error for each of them would stop the server for seconds."""
        if isinstance(data, dict):
            if len(data) > len(cls.model_fields) + MOST_UNKNOWN:
                raise ValueError(f"{len(data):,} names are given, where {len(cls.model_fields)} are known")
            for name, value in data.items():
                if isinstance(value, dict) and len(value) > MOST_NAMES:
                    raise ValueError(f"{name[:100]!r} has {len(value):,} names: at most {MOST_NAMES:,} are taken")
        return data


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
