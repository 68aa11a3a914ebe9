"""A log that says what happened where, and never what people wrote."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import TypeAlias

Failure: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being answered; empty outside of one."""

log = logging.getLogger("weftwork.http")


def log_failure(error: BaseException) -> None:
    """Say how a request failed and where."""
    log.error("request %s failed with %s", REQUEST_ID.get() or "-", described(error))


def described(error: BaseException) -> str:
    """The kind of an error and the places that it came through, without its message, which may quote anything."""
    places = traceback.format_list(traceback.extract_tb(error.__traceback__))
    return "\n".join((type(error).__name__, "".join(places).rstrip())).rstrip()


class Discreet(logging.Formatter):
    """Writes lines with their time in UTC, and errors without their messages, whichever library logs them."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """The time of a line."""
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def formatException(self, ei: Failure) -> str:
        """The kind of an error and its places."""
        return described(ei[1]) if ei[1] is not None else ""


class JsonLines(Discreet):
    """Writes each line as a JSON object, for what collects logs."""

    def format(self, record: logging.LogRecord) -> str:
        """The object: of a request its parts, of anything else its message."""
        told = getattr(record, "told", None) or {"message": super().format(record)}
        head = {"time": self.formatTime(record), "level": record.levelname, "logger": record.name}
        return json.dumps({**head, **told}, ensure_ascii=False)


def set_up_logging(form: str = "text") -> None:
    """Log to standard error, one line for each request, as text or as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    line = "%(message)s" if form == "json" else "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler.setFormatter((JsonLines if form == "json" else Discreet)(line))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for talkative in ("asyncio", "httpx", "httpx2", "mcp", "uvicorn"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
