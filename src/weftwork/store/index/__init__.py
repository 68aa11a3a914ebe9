"""Indexes derived from the database, which can be rebuilt from it at any time."""
