import os

DEEP = "WEFTWORK_DEEP" in os.environ
"""Whether there is time for all there is (`make test-deep`)."""


def some(count, part=3):
    """So many examples, rounds or seconds where there is time, a third or a smaller part of them otherwise."""
    return count if DEEP else count // part
