"""Measurements of Weftwork beside the bare cost of the same work: `python -m benchmarks --help`."""
