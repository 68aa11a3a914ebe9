"""The contracts' own interfaces, each a thin face on the one pipeline."""
