"""Who is in the measured workspace, and the twenty access lists of its folders."""

from __future__ import annotations

ME = "mia"
"""The user whose requests are measured."""

GROUPS = {ME: ("design", "research", "sales")}

OTHERS = {
    "ana": ("design",),
    "ben": ("research", "legal"),
    "cem": ("finance",),
    "dora": ("people", "legal"),
    "eli": ("sales", "support"),
    "fay": ("platform", "security"),
    "gus": ("platform",),
}

ACCESS = tuple(
    frozenset(names.split())
    for names in (
        "*", "group:design", "group:finance", "group:research", "group:research group:legal",
        "group:legal", "mia ana", "group:sales", "cem dora", "group:design group:platform",
        "group:sales group:support", "group:people", "mia", "group:research gus", "group:platform",
        "group:design group:sales", "mia group:finance", "group:security fay", "* group:support", "group:support ben",
    )
)  # fmt: skip
"""Given to folders in turn; thirteen of the twenty let the measured user in."""


def may_see(access: frozenset[str]) -> bool:
    """Whether the measured user is on a list."""
    return bool(access & {"*", ME, *(f"group:{name}" for name in GROUPS[ME])})
