"""Settings: defaults, overridden by `weftwork.toml`, overridden by the environment."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weftwork.errors import InvalidInput
from weftwork.trust import refuse_untrusted, secret, trust

FILE = "weftwork.toml"
ENVIRONMENT = {
    "WEFTWORK_STORE": "store",
    "WEFTWORK_READ_URL": "read_url",
    "WEFTWORK_WORKSPACE": "workspace",
    "WEFTWORK_USER": "user",
    "WEFTWORK_EMBEDDER": "embedder",
    "WEFTWORK_RERANKER": "reranker",
    "WEFTWORK_VISUAL": "visual",
    "WEFTWORK_TOKENIZER": "tokenizer",
}
TABLES = ("templates", "lenses", "recipes")
"""Settings that hold one table for each name."""
RECIPES = ("graph", "memory", "research", "workspace")
"""Recipes that have settings of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of a command, unless its options say otherwise."""

    store: str = "notes.weft"
    read_url: str = ""
    """A replica of the store that reads go to; only for PostgreSQL."""
    workspace: str = "main"
    user: str = "me"
    embedder: str = "static"
    reranker: str = "none"
    """An installed model that reads the question and each of the best passages together."""
    visual: str = "lines"
    """The visual embedder for pages of documents."""
    tokenizer: str = "o200k_base"
    budget: int = 4000
    mentions: bool = True
    """True makes edges of titles that occur in other texts when something is added."""
    receipts: int = 1_000
    """Receipts that are kept for each workspace; 0 keeps none."""
    max_output_tokens: int = 10_000
    """Most tokens in one answer of the MCP server."""
    clock: str = ""
    """The moment at which everything is read, such as 2026-03-16T09:00:00Z; empty for the present. For samples."""
    server: Mapping[str, Any] = field(default_factory=dict)
    """The table `[server]`: defaults of `weftwork serve`."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """The table `[model]`: the language model that answers questions."""
    retention: Mapping[str, int] = field(default_factory=dict)
    """The table `[retention]`: days by type of node or kind of record, for `weftwork erase --expired`."""
    templates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Tables `[templates.NAME]`, each with the slots of a template."""
    lenses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Tables `[lenses.NAME]`, each with the settings of a lens."""
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Tables `[recipes.NAME]`, each with the settings of a recipe that has some."""


def load_config(folder: Path, environment: Mapping[str, str] = os.environ) -> Config:
    """The settings that hold in a folder: the nearest `weftwork.toml` upwards, under the environment's."""
    path = nearest_file(folder)
    config = Config() if path is None else _from_file(path, environment)
    overrides = {name: value for variable, name in ENVIRONMENT.items() if (value := secret(variable, environment))}
    return replace(config, **overrides)  # type: ignore[arg-type]


def nearest_file(folder: Path) -> Path | None:
    """The `weftwork.toml` that holds in a folder."""
    return next((place / FILE for place in (folder, *folder.parents) if (place / FILE).is_file()), None)


def set_setting(folder: Path, name: str, value: str | int | bool) -> Path:
    """Write one setting into the `weftwork.toml` that holds in a folder, or a new one there, and return its path."""
    path = nearest_file(folder) or folder / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    before = tomllib.loads("\n".join(lines)) if path.is_file() and _from_file(path, os.environ) else {}
    setting = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    tables = next((place for place, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    there = [place for place, line in enumerate(lines[:tables]) if line.partition("=")[0].strip() == name]
    if there:
        lines[there[0]] = setting
    else:
        end = max((place + 1 for place, line in enumerate(lines[:tables]) if line.strip()), default=0)
        lines.insert(end, setting)
    text = "\n".join(lines) + "\n"
    try:
        right = tomllib.loads(text) == {**before, name: value}
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        raise InvalidInput(f"{name} cannot be set in {path}: write  {setting}  there yourself")
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)
    trust(path)  # it was before, or this program has just made it
    return path


def _from_file(path: Path, environment: Mapping[str, str]) -> Config:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not valid TOML ({error}): correct it or remove it") from error
    kinds = {name: type(getattr(Config(), name)) for name in Config.__slots__}
    for name, value in values.items():
        if name not in kinds:
            raise InvalidInput(f"{path} has an unknown setting {name!r}: use {', '.join(kinds)}")
        if type(value) is not kinds[name]:
            raise InvalidInput(f"{name} in {path} must be of type {kinds[name].__name__}, got {value!r}")
    tables = [(group, name, value) for group in TABLES for name, value in values.get(group, {}).items()]
    for group, name, value in tables:
        if not isinstance(value, dict):
            raise InvalidInput(f"{group}.{name} in {path} must be a table [{group}.{name}], got {value!r}")
        if group == "recipes" and name not in RECIPES:
            raise InvalidInput(f"{path} has settings for an unknown recipe {name!r}: use {', '.join(RECIPES)}")
    chroma = values.get("recipes", {}).get("research", {}).get("chroma")
    if isinstance(chroma, str) and "://" not in chroma:
        values["recipes"]["research"]["chroma"] = str(path.parent / chroma)
    if "store" in values and "://" not in values["store"]:
        values["store"] = str(path.parent / values["store"])
    refuse_untrusted(path, values, environment)
    return Config(**values)
