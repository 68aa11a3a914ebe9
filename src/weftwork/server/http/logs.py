"""A log that says what happened where, and never what people wrote."""

from __future__ import annotations

import logging
import sys
import traceback
from types import TracebackType
from typing import TypeAlias

Failure: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

log = logging.getLogger("weftwork.http")


def log_failure(error: BaseException) -> None:
    """Say how a request failed and where."""
    log.error("a request failed with %s", described(error))


def described(error: BaseException) -> str:
    """The kind of an error and the places that it came through, without its message, which may quote anything."""
    places = traceback.format_list(traceback.extract_tb(error.__traceback__))
    return "\n".join((type(error).__name__, "".join(places).rstrip())).rstrip()


class Discreet(logging.Formatter):
    """Writes errors without their messages, whichever library logs them."""

    def formatException(self, ei: Failure) -> str:
        """The kind of an error and its places."""
        return described(ei[1]) if ei[1] is not None else ""


def set_up_logging() -> None:
    """Log to standard error, one line for each request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Discreet("%(asctime)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for talkative in ("asyncio", "httpx", "httpx2", "mcp", "uvicorn"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
