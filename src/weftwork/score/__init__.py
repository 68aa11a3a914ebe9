"""Scoring: signals in [0, 1], and profiles that weigh them."""

from __future__ import annotations

from weftwork.score.facts import Facts, gather_facts
from weftwork.score.profiles import PROFILES, Profile, get_profile
from weftwork.score.scoring import score

__all__ = ["PROFILES", "Facts", "Profile", "gather_facts", "get_profile", "score"]
