"""Names to choose from."""

from __future__ import annotations

from weftwork.server.http.schemas.values import Reply


class NamedList(Reply):
    """Names to choose from."""

    names: list[str]


class LensOut(Reply):
    """A lens: the preferences of a walk of the graph."""

    name: str
    description: str
    priority_types: list[str]
    boost_tags: list[str]
    include_fields: list[str]
    max_depth: int


class LensList(Reply):
    """The lenses that can be asked for."""

    lenses: list[LensOut]


class RecipeOut(Reply):
    """A recipe, by which a context is made."""

    name: str
    packer: str
    template: str
    collectors: list[str]
    sections: dict[str, int]
    """Shares of the sections in a budget of 4,000 tokens."""
    share: bool


class RecipeList(Reply):
    """The recipes that can be asked for."""

    recipes: list[RecipeOut]
