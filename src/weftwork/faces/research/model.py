"""A language model behind any server with OpenAI's `/chat/completions` endpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from weftwork.embed.retry import seconds_to_wait
from weftwork.errors import InvalidInput, MissingExtra, ModelError
from weftwork.faces.research.streaming import pieces_of
from weftwork.trust import secret

if TYPE_CHECKING:
    import httpx

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY = "OPENAI_API_KEY"
LONGEST_WAIT = 60.0
LARGEST_ANSWER = 4_000_000
"""Bytes: more is no answer to a question."""
LONGEST_ANSWER = 600.0
"""Seconds that an answer may trickle in; the timeout is for each piece of it."""

_FIXES = {
    400: "the question and its sources may be too long for the model: lower --max-tokens",
    401: "check the API key",
    403: "the API key may not use this model",
    404: "check the model's name and the url in [model] of weftwork.toml",
    413: "lower --max-tokens",
    429: "wait, or check the quota",
}

Messages = Sequence[Mapping[str, str]]


class LanguageModel(Protocol):
    """Answers messages."""

    @property
    def name(self) -> str:
        """The name of the model."""

    def complete(self, messages: Messages) -> str:
        """The answer to a conversation; raises ModelError if there is none."""


@runtime_checkable
class StreamingModel(LanguageModel, Protocol):
    """A model whose answer can be read while it is being made."""

    def stream(self, messages: Messages) -> Iterator[str]:
        """The answer piece by piece; raises ModelError if it breaks off.

        Closing the iterator ends the request.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """The model to ask, and its address; the key comes from the environment and is never shown."""

    name: str
    url: str = DEFAULT_URL
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    max_retries: int = 3

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            sound = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        except ValueError:  # a port that is no number, or half of an IPv6 address
            sound = False
        if not sound:
            raise InvalidInput("the model's url must start with http:// or https:// and name a host")
        if self.timeout <= 0 or self.max_retries < 0:
            raise InvalidInput("the model's timeout must be above 0 seconds, and max_retries 0 or more")

    @property
    def host(self) -> str:
        """The host to name in an error: neither a path nor a password in the address."""
        return urlsplit(self.url).hostname or ""

    @classmethod
    def from_mapping(
        cls, table: Mapping[str, Any], environment: Mapping[str, str] = os.environ
    ) -> ModelSettings | None:
        """Read `[model]` of weftwork.toml, overridden by the environment; None if no model is named.

        The variables are WEFTWORK_MODEL_NAME, _URL and _KEY, or _KEY_FILE with the path of a file that holds the key.
        """
        types = {"name": str, "url": str, "key_env": str, "timeout": (int, float), "max_retries": int}
        for setting, value in table.items():
            if setting not in types:
                hint = "name an environment variable in key_env instead" if "key" in setting else ""
                raise InvalidInput(f"[model] has an unknown setting {setting!r}: {hint or 'use ' + ', '.join(types)}")
            if isinstance(value, bool) or not isinstance(value, types[setting]):  # type: ignore[arg-type]
                raise InvalidInput(f"{setting} in [model] cannot be {value!r}")
        values = {setting: value for setting, value in table.items() if setting != "key_env"}
        for setting in ("name", "url"):
            override = environment.get(f"WEFTWORK_MODEL_{setting.upper()}")
            values |= {setting: override} if override else {}
        if not values.get("name"):
            return None
        key = secret("WEFTWORK_MODEL_KEY", environment) or _named_key(table, environment)
        settings = cls(**values, key=key or None)
        if not key and settings.host in _key_hosts(environment):
            settings = replace(settings, key=environment.get(DEFAULT_KEY) or None)
        return settings


def _named_key(table: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """The key in the variable that `key_env` names, which must be one made for this program."""
    variable = table.get("key_env", DEFAULT_KEY)
    if variable != DEFAULT_KEY and not variable.startswith("WEFTWORK_"):
        raise InvalidInput(
            f"key_env in [model] names {variable!r}: a settings file may name variables that begin with WEFTWORK_, "
            "so that none can send another secret away; set the key in such a one"
        )
    return None if variable == DEFAULT_KEY else secret(variable, environment)


def _key_hosts(environment: Mapping[str, str]) -> set[str | None]:
    """Hosts that OPENAI_API_KEY is for: OpenAI's, and that of OPENAI_BASE_URL."""
    return {urlsplit(url).hostname for url in (DEFAULT_URL, environment.get("OPENAI_BASE_URL", ""))} - {None}


class ChatModel:
    """Asks the server, and again when it is busy."""

    def __init__(self, settings: ModelSettings, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._settings = settings
        self._sleep = sleep

    @property
    def name(self) -> str:
        """The model's name."""
        return self._settings.name

    def complete(self, messages: Messages) -> str:
        """The first answer to a conversation."""
        body = {"model": self.name, "messages": list(messages), "temperature": 0}
        with _client(self._settings) as client:
            return _content(self._post(client, body), self._settings.host)

    def stream(self, messages: Messages) -> Iterator[str]:
        """The first answer, piece by piece; no retries."""
        body = {"model": self.name, "messages": list(messages), "temperature": 0, "stream": True}
        with _client(self._settings) as client:
            yield from pieces_of(client, body, self._settings.host)

    def _post(self, client: httpx.Client, body: Mapping[str, Any]) -> httpx.Response:
        retries = self._settings.max_retries
        for attempt in range(retries + 1):
            outcome = _send(client, body)
            if not isinstance(outcome, str) and outcome.is_success:
                return outcome
            wait = seconds_to_wait(attempt, {} if isinstance(outcome, str) else outcome.headers)
            if attempt == retries or wait > LONGEST_WAIT or not _may_pass(outcome):
                break
            self._sleep(wait)
        raise ModelError(self._failure(outcome, attempt + 1, wait))

    def _failure(self, outcome: httpx.Response | str, attempts: int, wait: float) -> str:
        host, tries = self._settings.host, f" after {attempts} attempts" if attempts > 1 else ""
        if isinstance(outcome, str):
            return f"{host} could not be reached ({outcome}){tries}: check the model's url and the network"
        fix = _FIXES.get(outcome.status_code, "try again later")
        if _may_pass(outcome) and wait > LONGEST_WAIT:
            fix = f"it asks to wait {wait:.0f} seconds"
        return f"{host} answered HTTP {outcome.status_code} for {self.name}{tries}: {fix}"


def _client(settings: ModelSettings) -> httpx.Client:
    try:
        import httpx  # noqa: PLC0415  (an optional extra)
    except ImportError as error:
        raise MissingExtra("httpx", "openai") from error
    headers = {}
    if settings.key is not None:
        key = settings.key.strip()
        if not (key.isascii() and key.isprintable()):
            raise ModelError("the API key has characters that a header cannot carry: check its environment variable")
        headers["Authorization"] = f"Bearer {key}"
    return httpx.Client(base_url=settings.url, headers=headers, timeout=settings.timeout)


def _send(client: httpx.Client, body: Mapping[str, Any]) -> httpx.Response | str:
    """The response, or the kind of failure that prevented one."""
    import httpx  # noqa: PLC0415

    end = time.monotonic() + LONGEST_ANSWER
    try:
        with client.stream("POST", "chat/completions", json=body) as response:
            content = b""
            for piece in response.iter_bytes():
                content += piece
                if len(content) > LARGEST_ANSWER or time.monotonic() > end:
                    break
    except (httpx.RequestError, httpx.InvalidURL) as error:
        return type(error).__name__
    if len(content) <= LARGEST_ANSWER and time.monotonic() > end:
        return "it took too long"
    # Other headers do not hold for a body that is decompressed already.
    headers = {name: response.headers[name] for name in ("content-type", "retry-after") if name in response.headers}
    return httpx.Response(response.status_code, headers=headers, content=content, request=response.request)


def _may_pass(outcome: httpx.Response | str) -> bool:
    return isinstance(outcome, str) or outcome.status_code == 429 or outcome.status_code >= 500


def _content(response: httpx.Response, host: str) -> str:
    if len(response.content) > LARGEST_ANSWER:
        raise ModelError(f"{host} sent more than {LARGEST_ANSWER // 1_000_000} MB: check the model's url")
    try:
        payload = response.json()
    except (ValueError, RecursionError):
        raise ModelError(f"{host} did not answer in JSON: check the model's url") from None
    match payload:
        case {"choices": [{"message": {"content": str(content)}}, *_]} if content.strip():
            return content.strip()
    raise ModelError(f"{host} sent no answer: check that the url is of a chat completions endpoint")
