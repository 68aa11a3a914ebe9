"""Reading the memories of a server, which searches and writes contexts with its own model and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Protocol

from weftwork.errors import InvalidInput, UnknownName
from weftwork.faces.memory.formatter import as_template
from weftwork.faces.memory.options import ContextOptions, SearchOptions
from weftwork.faces.memory.reading import Question
from weftwork.faces.memory.recipe import RANKINGS
from weftwork.faces.memory.types import ContextResult, SearchResult
from weftwork.render import Template
from weftwork.wire import decode, encode

NOT_SENT = ("guards", "sections", "titles")
"""Parts of a template that a server takes from its own settings alone: a regular expression may take forever."""


class Server(Protocol):
    """A `Client`, as far as this face needs it."""

    def send(self, method: str, workspace: str, path: str, body: Any = None, user: str | None = None) -> Any:
        """The answer to a call of a route of a workspace."""


class ServerReader:
    """The memories of a server. Thread-safe."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._templates: dict[str, Template] = {}

    def register(self, template: Template) -> None:
        """Make a template known by its name."""
        self._templates[template.name] = template

    def search(self, question: Question, workspace: str, options: SearchOptions) -> tuple[SearchResult, ...]:
        """The memories that answer a question, the most similar first."""
        body = _body(question, options, SearchOptions)
        answer = self._server.send("POST", workspace, "memories-search", body, options.user)
        return tuple(decode(SearchResult, result) for result in answer["results"])

    def build(self, question: Question, workspace: str, options: ContextOptions) -> ContextResult:
        """The memories that answer a question, ranked and written within the token budget."""
        if callable(options.ranker):
            raise InvalidInput(
                "a server cannot be handed a ranker: rank the results of search() and write them with "
                "ContextFormatter(), or name one of " + ", ".join(RANKINGS)
            )
        template = options.template
        if isinstance(template, str):
            template = self._templates.get(template, template)
        if template is not None and not isinstance(template, str):
            options = replace(options, template=_sent(as_template(template)))
        body = _body(question, options, ContextOptions)
        try:
            answer = self._server.send("POST", workspace, "memories-context", body, options.user)
        except UnknownName as error:
            own = self._templates if error.kind == "template" else ()
            raise UnknownName(error.kind, error.name, {*error.available, *own}) from error
        return decode(ContextResult, answer)


def _body(question: Question, options: SearchOptions, kind: type[SearchOptions]) -> dict[str, Any]:
    """The question with the options that are not left as they are."""
    usual = kind()
    changed = {
        field.name: getattr(options, field.name)
        for field in fields(kind)
        if field.name != "user" and getattr(options, field.name) != getattr(usual, field.name)
    }
    asked = {"query": question.query} if question.vector is None else {"vector": list(question.vector)}
    return {**asked, **{name: encode(_listed(value)) for name, value in changed.items()}}


def _listed(value: Any) -> Any:
    return sorted(value) if isinstance(value, set | frozenset) else value


def _sent(template: Template) -> Mapping[str, object]:
    """The parts of a template, all of which a server takes."""
    for name in NOT_SENT:
        if getattr(template, name):
            raise InvalidInput(f"template {template.name!r} has {name}, which a server cannot be sent: leave them out")
    return {field.name: getattr(template, field.name) for field in fields(Template) if field.name not in NOT_SENT}
