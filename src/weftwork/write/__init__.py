"""The one write path: prepare → permit → embed → commit, for every surface.

`prepare.py` checks nodes and cuts them into passages, `permit.py` decides who may change what, `embed.py` computes the
missing vectors, and `commit.py` puts it together. No provider is ever called within a transaction.
"""
