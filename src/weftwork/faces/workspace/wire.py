"""Values of the contract as JSON in its spelling, camelCase, and back."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from weftwork.clock import aware

_CAPITAL = re.compile("[A-Z]")


def to_json(value: Any) -> Any:
    """The value in types that JSON has, under the names of the contract; None is left out."""
    if is_dataclass(value):
        values = {member.name: getattr(value, member.name) for member in fields(value)}
        return {camel_case(name): to_json(part) for name, part in values.items() if part is not None}
    if isinstance(value, Collection) and not isinstance(value, str):
        return [to_json(part) for part in value]
    return aware(value).isoformat() if isinstance(value, datetime) else value


def to_snake_case(data: Any) -> Any:
    """The data with the names of the contract as Python spells them."""
    if isinstance(data, Mapping):
        return {_snake_case(str(name)): to_snake_case(part) for name, part in data.items()}
    return [to_snake_case(part) for part in data] if isinstance(data, list) else data


def camel_case(name: str) -> str:
    """A name as the contract spells it."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _snake_case(name: str) -> str:
    return _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)
