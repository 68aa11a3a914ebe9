"""The parts of an engine that every request uses."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

from weftwork.embed.protocol import EmbeddingProvider
from weftwork.embed.visual import VisualEmbedder
from weftwork.lens import Lenses
from weftwork.recipe import Recipes
from weftwork.render import Templates
from weftwork.score.rerank import Reranker
from weftwork.text.tokens import TokenCounter
from weftwork.text.truncate import Summarise

DEFAULT_BUDGET = 4000


@dataclass(frozen=True, slots=True)
class Tools:
    """The parts that the pipeline uses for every request."""

    counter: TokenCounter
    embedder: EmbeddingProvider | None = None
    templates: Templates = field(default_factory=Templates)
    summarise: Summarise | None = None
    lenses: Lenses = field(default_factory=Lenses)
    pool: Executor = field(default_factory=lambda: ThreadPoolExecutor(2, "weftwork"))
    """Threads for parallel searches; none starts before it is needed."""
    visual: VisualEmbedder | None = None
    """Looks at the pages of documents."""
    reranker: Reranker | None = None
    """Reorders the best hits where a recipe names no reranker of its own."""
    recipes: Recipes = field(default_factory=Recipes)
    budget: int = DEFAULT_BUDGET
    """The tokens of a context where neither the request nor the recipe names any."""
    decay: Mapping[str, float] = field(default_factory=dict)
    """Days until a memory's freshness has halved, by type, where a request does not say."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings of faces, by the name of their table in `weftwork.toml`."""
