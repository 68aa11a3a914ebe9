"""Weftwork over HTTP: one process for a team, each of whom sees through their key what they may see and no more."""

from weftwork.errors import MissingExtra

try:
    import fastapi  # noqa: F401 - everything in this package needs it
    import prometheus_client  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra("The HTTP server", "server") from error
