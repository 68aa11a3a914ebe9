"""Opening an engine by `weftwork.toml`, so that every surface has the same settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from weftwork.clock import Clock, aware, system_clock
from weftwork.compose.ordering import WithoutFolders
from weftwork.config import Config, load_config
from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.lens import Lens
from weftwork.pack import check_budget
from weftwork.recipe import Recipe
from weftwork.render import Template, Templates
from weftwork.score.rerank import Reranker
from weftwork.store.open import with_replica
from weftwork.types import Budget


def open_configured(config: Config | Path | str = ".", *, create: bool = False) -> Weft:
    """Open the store that the settings name, those of a folder if one is given, as the settings want it."""
    if not isinstance(config, Config):
        config = load_config(Path(config).absolute())
    check_budget(Budget(total=config.budget))
    decay = _configured_decay(config)
    lenses = own_lenses(config)
    weft = Weft.open(
        with_replica(config.store, config.read_url),
        embedder=config.embedder,
        visual=config.visual,
        tokenizer=config.tokenizer,
        templates=Templates(Template.from_mapping(name, values) for name, values in config.templates.items()),
        create=create,
        clock=get_configured_clock(config.clock),
    )
    try:
        weft.tools = replace(
            weft.tools, budget=config.budget, decay=decay, reranker=get_configured_reranker(config.reranker)
        )
        if config.receipts < 0:
            raise InvalidInput(f"receipts must be 0 or more, got {config.receipts}: 0 keeps none")
        weft.receipts.most = config.receipts
        for lens in lenses:
            weft.tools.lenses.register(lens)
        _configure_workspace(weft, config)
        _configure_graph(weft, config)
        _configure_research(weft, config)
    except BaseException:
        weft.close()
        raise
    return weft


def get_configured_clock(text: str) -> Clock:
    """The clock that the settings name: one that stands still, or else the system's."""
    if not text:
        return system_clock
    try:
        moment = aware(datetime.fromisoformat(text))
    except ValueError:
        raise InvalidInput(f"clock = {text!r} is no moment: write one such as 2026-03-16T09:00:00Z") from None
    return lambda: moment


def get_configured_reranker(name: str) -> Reranker | None:
    """The reranker that the settings name."""
    if name == "none":
        return None
    from weftwork.score.cross_encoder import get_reranker  # noqa: PLC0415 - only who has chosen one loads it

    return get_reranker(name)


def own_lenses(config: Config) -> list[Lens]:
    """The lenses that the settings define."""
    return [Lens.from_mapping(name, values) for name, values in config.lenses.items()]


# Each face is imported by whoever has a table for it, or uses it: to load all of them takes a command 100 ms.


def _configured_decay(config: Config) -> Mapping[str, float]:
    """Days until a memory's freshness has halved, by type, of the memory face's table."""
    if "memory" not in config.recipes:
        return {}
    from weftwork.faces.memory.options import memory_settings  # noqa: PLC0415

    return memory_settings(config.recipes["memory"])


def _configure_workspace(weft: Weft, config: Config) -> None:
    """Register the workspace recipe of its table, with its own budget if that names one."""
    table = config.recipes.get("workspace", {})
    model = "" if weft.tools.embedder is None else weft.tools.embedder.model

    def recipe() -> Recipe:
        from weftwork.faces.workspace.recipe import configured_recipe  # noqa: PLC0415
        from weftwork.faces.workspace.settings import WorkspaceConfig  # noqa: PLC0415

        settings = WorkspaceConfig.from_mapping(table)
        made = configured_recipe(settings, model)
        named = {"total", "system"} & set(table.get("token_budget", ()))
        return replace(made, tokens=settings.token_budget.room) if named else made

    weft.tools.recipes.register_later("workspace", recipe)
    if table:
        from weftwork.faces.workspace.settings import WorkspaceConfig  # noqa: PLC0415

        settings = WorkspaceConfig.from_mapping(table)
        weft.tools = replace(weft.tools, settings={**weft.tools.settings, "workspace": settings})


def _configure_research(weft: Weft, config: Config) -> None:
    """Let the research face know its table."""
    table = config.recipes.get("research")
    if table:
        from weftwork.faces.research.settings import ResearchSettings  # noqa: PLC0415

        settings = ResearchSettings.from_mapping(table, workspace=config.workspace, embedder=config.embedder)
        weft.tools = replace(weft.tools, settings={**weft.tools.settings, "research": settings})


def _configure_graph(weft: Weft, config: Config) -> None:
    """Register the graph recipe without the folders that its table leaves out."""
    table = config.recipes.get("graph", {})
    for name, value in table.items():
        if name != "exclude" or not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InvalidInput(
                f"unknown setting recipes.graph.{name} = {value!r}: use exclude with a list of folders, "
                'such as exclude = ["Templates"]'
            )
    if table:
        order = WithoutFolders(tuple(table["exclude"]))
        weft.tools.recipes.register(replace(weft.tools.recipes.get("graph"), order=order))
