"""Scoring: signals in [0, 1], profiles that weigh them, and the collapse of near-duplicates."""

from __future__ import annotations

from weft.score.duplicates import collapse
from weft.score.facts import Facts, gather_facts
from weft.score.profiles import PROFILES, Profile, get_profile
from weft.score.scoring import score

__all__ = ["PROFILES", "Facts", "Profile", "collapse", "gather_facts", "get_profile", "score"]
