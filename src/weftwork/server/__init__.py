"""Weftwork for programs that are not written in Python."""
