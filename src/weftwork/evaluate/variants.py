"""Variants to compare: every combination of recipes, lenses, packers, weights and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from weftwork.errors import InvalidInput
from weftwork.pack import get_packer
from weftwork.recipe import Recipe, Recipes
from weftwork.score import Profile

MOST = 64


@dataclass(frozen=True, slots=True)
class Variant:
    """A combination of settings, named by what sets it apart from the others."""

    name: str
    recipe: Recipe
    budget: int | None
    """None for the recipe's or the engine's own."""
    lens: str | None = None


def combine(
    *,
    known: Recipes | None = None,
    recipes: Sequence[str] = ("default",),
    lenses: Sequence[str | None] = (None,),
    packers: Sequence[str | None] = (None,),
    weights: Sequence[Mapping[str, float] | None] = (None,),
    budgets: Sequence[int | None] = (None,),
) -> list[Variant]:
    """Return all combinations; a name holds the recipe, and of the other settings those that differ."""
    chosen = list(product(recipes, lenses, packers, weights, budgets))
    if len(chosen) > MOST:
        raise InvalidInput(f"{len(chosen)} combinations are more than {MOST}: leave some settings out")
    variants = []
    for name, lens, packer, weighting, budget in chosen:
        words = [name]
        words += [f"lens {lens}"] if lens else []
        words += [f"packer {packer}"] if packer else []
        words += (
            ["weights " + ",".join(f"{signal}={value:g}" for signal, value in weighting.items())] if weighting else []
        )
        words += [f"{budget:,} tokens"] if len(budgets) > 1 else []
        variants.append(Variant(" · ".join(words), _recipe(known or Recipes(), name, packer, weighting), budget, lens))
    if len({variant.name for variant in variants}) < len(variants):
        raise InvalidInput("the same settings are given twice: leave one of them out")
    return variants


def _recipe(available: Recipes, name: str, packer: str | None, weights: Mapping[str, float] | None) -> Recipe:
    if packer is not None:
        get_packer(packer)
    recipe = available.get(name, packer=packer)
    if weights is not None:
        recipe = replace(recipe, profile=Profile(f"{recipe.profile.name} (own)", weights))
    return recipe
