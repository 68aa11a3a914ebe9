"""Random requests about a world, and everything that a user gets to see as the answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from weftwork import Filters, Message, Recipe, Weft, WeftError
from weftwork.collect import AdjacentCollector
from weftwork.pack import PACKERS
from weftwork.recipe import EVERYTHING, SECTION_BUDGETS
from weftwork.render import explain, to_dict
from weftwork.render.builtin import BUILTIN
from weftwork.score.profiles import PROFILES

from .world import COMMON, EDGE_TYPES, marker, name, numbers

QUERIES = {
    "nothing": lambda number: "",
    "common": lambda number: COMMON,
    "word": lambda number: f"{COMMON} {marker('text', number)}",
    "typo": lambda number: marker("title", number)[:-2] + "xq",
    "title": lambda number: f"what is in [[{marker('title', number)}]]?",
    "path": lambda number: f"see notes/{marker('source', number)}.md today",
    "tag": lambda number: f'"{marker("tag", number)}" plank*',
    "overdue": lambda number: f"which {COMMON} tasks are overdue?",
}


@cache
def recipe(packer: str, template: str, profile: str, lines: bool) -> Recipe:
    """A recipe of these parts; the same one each time, since contexts are remembered by it."""
    return Recipe(
        name="drawn",
        collectors=(*EVERYTHING, AdjacentCollector()),
        profile=PROFILES[profile],
        packer=packer,
        template=template,
        sections=SECTION_BUDGETS,
        lines=lines,
    )


@dataclass(frozen=True)
class Ask:
    """A request, whoever makes it."""

    query: str = COMMON
    budget: int = 1200
    focus: int | None = None
    thread: int | None = None
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    tag: int | None = None
    depth: int | None = None
    edge_types: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    packer: str = "overflow"
    template: str = "default"
    profile: str = "balanced"
    lines: bool = True

    @property
    def recipe(self) -> Recipe:
        """The recipe that these parts make."""
        return recipe(self.packer, self.template, self.profile, self.lines)

    def put_to(self, weft: Weft, workspace: str, user: str, **more: Any) -> Any:
        """The context that this user gets, or with `since` what changed."""
        return weft.context(
            self.query,
            user=user,
            workspace=workspace,
            budget=self.budget,
            recipe=self.recipe,
            focus=None if self.focus is None else name(self.focus),
            thread=None if self.thread is None else name(self.thread),
            include=tuple(map(name, self.include)),
            filters=Filters(
                exclude=frozenset(map(name, self.exclude)),
                tags=frozenset() if self.tag is None else frozenset({marker("tag", self.tag)}),
            ),
            history=tuple(Message("user", text) for text in self.said),
            depth=self.depth,
            edge_types=self.edge_types,
            **more,
        )

    def answer(self, weft: Weft, workspace: str, user: str) -> str:
        """Everything that this user gets, as text: the context with its trace and its account, or the error."""
        try:
            context = self.put_to(weft, workspace, user)
        except WeftError as error:
            return f"{type(error).__name__}: {error}"
        return json.dumps(to_dict(context), sort_keys=True) + explain(context)


asks = st.builds(
    Ask,
    query=st.builds(lambda kind, number: QUERIES[kind](number), st.sampled_from(sorted(QUERIES)), numbers),
    budget=st.sampled_from([1, 40, 150, 600, 1200]),
    focus=st.none() | numbers,
    thread=st.none() | numbers,
    include=st.lists(numbers, max_size=2).map(tuple),
    exclude=st.lists(numbers, max_size=1).map(tuple),
    tag=st.one_of(st.none(), st.none(), st.none(), numbers),
    depth=st.sampled_from([None, 1, 3]),
    edge_types=st.sampled_from([(), (), ("reference", "child"), EDGE_TYPES]),
    said=st.sampled_from([(), ("the lantern is lit",)]),
    packer=st.sampled_from(PACKERS),
    template=st.sampled_from(sorted(BUILTIN)),
    profile=st.sampled_from(sorted(PROFILES)),
    lines=st.booleans(),
)
