"""The one way in: prepare → permit → embed → commit, for the library, the server, memories and connectors alike.

`prepare.py` checks nodes and cuts them into passages, `permit.py` decides who may change what, `embed.py` makes the
vectors that are missing, and `commit.py` puts it together: no provider is ever asked within a transaction.
"""
