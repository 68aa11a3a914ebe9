"""Weftwork in the places of other frameworks: one module each, behind the extra of its name."""
