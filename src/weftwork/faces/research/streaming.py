"""Streamed answers of a language model: server-sent events of `/chat/completions`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from weftwork.errors import ModelError

if TYPE_CHECKING:
    import httpx

LARGEST_ANSWER = 4_000_000
"""Characters: more is no answer to a question."""
LONGEST_ANSWER = 600.0
"""Seconds that an answer may trickle in; the timeout is for each piece of it."""
END = "[DONE]"


def pieces_of(client: httpx.Client, body: Mapping[str, Any], host: str) -> Iterator[str]:
    """The answer of the model as it comes; the request ends when the iterator is closed."""
    import httpx  # noqa: PLC0415  (an optional extra)

    taken, end = 0, time.monotonic() + LONGEST_ANSWER
    try:
        with client.stream("POST", "chat/completions", json=body) as response:
            if not response.is_success:
                raise ModelError(
                    f"{host} answered HTTP {response.status_code}: check the model's settings, or try again"
                )
            for piece in _contents(response.iter_lines(), host):
                taken += len(piece)
                if taken > LARGEST_ANSWER or time.monotonic() > end:
                    raise ModelError(f"{host} does not come to an end: check the model's url")
                yield piece
    except (httpx.RequestError, httpx.InvalidURL) as error:
        raise ModelError(f"{host} broke off ({type(error).__name__}): check the model's url and the network") from error
    if not taken:
        raise ModelError(f"{host} sent no answer: check that the url is of a chat completions endpoint")


def _contents(lines: Iterator[str], host: str) -> Iterator[str]:
    for line in lines:
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == END:
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise ModelError(f"{host} did not answer in JSON: check the model's url") from None
        match event:
            case {"choices": [{"delta": {"content": str(content)}}, *_]} if content:
                yield content
