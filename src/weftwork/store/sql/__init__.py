"""The Python that both SQL stores share; every statement is written whole in the store that runs it."""
