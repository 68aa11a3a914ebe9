"""Indexes derived from the database: they can be thrown away and made again from it at any time."""
