"""Scoring: signals in [0, 1], and profiles that weigh them."""

from __future__ import annotations

from weftwork.score.facts import Facts, FactsOnDemand
from weftwork.score.profiles import PROFILES, Profile, get_profile
from weftwork.score.scoring import score

__all__ = ["PROFILES", "Facts", "FactsOnDemand", "Profile", "get_profile", "score"]
