"""Scoring: signals in [0, 1], profiles that weigh them, and the collapse of near-duplicates."""

from __future__ import annotations

from weftwork.score.duplicates import Collapsed, collapse
from weftwork.score.facts import Facts, gather_facts
from weftwork.score.profiles import PROFILES, Profile, get_profile
from weftwork.score.scoring import score

__all__ = ["PROFILES", "Collapsed", "Facts", "Profile", "collapse", "gather_facts", "get_profile", "score"]
