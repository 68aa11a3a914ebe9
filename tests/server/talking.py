"""A client that plain tests can talk to, and the sample workspace to talk about."""

import json
from contextlib import contextmanager
from dataclasses import replace

from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError
from mcp_types import ResourceTemplateReference

from weftwork import Edge, Filters, Node, Weft, sample
from weftwork.ingest.jsonlines import read_json_lines
from weftwork.ingest.load import load as load_pieces
from weftwork.server.address import TEMPLATE


class Talk:
    """The official client, called from a test that is not asynchronous."""

    def __init__(self, portal, client):
        self.portal = portal
        self.client = client

    def call(self, tool, /, **arguments):
        return self.portal.call(lambda: self.client.call_tool(tool, arguments))

    def text(self, tool, /, **arguments):
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content[0].text
        assert 1 <= len(result.content) <= 2
        return result.content[0].text

    def notes(self, tool, /, **arguments):
        """What stands beside the answer, or instead of it where there is none."""
        return self.call(tool, **arguments).content[-1].text

    def error(self, tool, /, **arguments):
        result = self.call(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        return result.content[0].text

    def tools(self):
        return {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def resources(self):
        """All pages of the list."""
        found, cursor = [], None
        while True:
            page = self.portal.call(lambda: self.client.list_resources(cursor=cursor))  # noqa: B023 - called at once
            found += page.resources
            cursor = page.next_cursor
            if cursor is None:
                return found

    def read(self, uri):
        (content,) = self.portal.call(lambda: self.client.read_resource(uri)).contents
        assert (content.uri, content.mime_type) == (uri, "text/markdown")
        return content.text

    def complete(self, name, value, **chosen):
        reference = ResourceTemplateReference(uri=TEMPLATE)
        answer = self.portal.call(
            lambda: self.client.complete(reference, {"name": name, "value": value}, chosen or None)
        )
        return answer.completion.values

    def outcome(self, ask):
        """What a call gives, or how it fails, as text that can be compared."""
        try:
            answer = ask(self)
        except MCPError as error:
            return f"{error.code}: {error.message}"
        if isinstance(answer, list):
            return json.dumps([each if isinstance(each, str) else each.model_dump() for each in answer])
        return answer if isinstance(answer, str) else answer.model_dump_json(exclude={"meta"})


@contextmanager
def talking(server, mode="auto"):
    """A conversation with a server: one in this process, or one to be started."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=mode, cache=None)) as client,
    ):
        yield Talk(portal, client)


def open_sample(path):
    weft = Weft.open(path, embedder="hashing", clock=lambda: sample.NOW)
    sample.load(weft)
    return weft


def sight(weft, user):
    """Ids of the nodes of the sample that a user may see, and of those that are hidden from them."""
    with weft.store.view(sample.WORKSPACE, sample.OWNER) as view:  # she may see all of it
        everything = [node.id for node in view.select(Filters(), limit=10_000)]
    with weft.store.view(sample.WORKSPACE, user) as view:
        seen = {node.id for node in view.nodes(everything)}
    return seen, set(everything) - seen


def open_reduced(path, source, keep):
    """The sample as if nothing had ever been in it but these nodes."""
    weft = Weft.open(path, embedder="hashing", clock=lambda: sample.NOW)
    weft.create_workspace(sample.WORKSPACE, owner=sample.OWNER)

    def pieces():
        for piece in read_json_lines(source):
            match piece:
                case Node():
                    if piece.id in keep:
                        yield piece if piece.parent in keep else replace(piece, parent=None)
                case Edge():
                    if {piece.source, piece.target} <= keep:
                        yield piece
                case _:
                    yield piece

    load_pieces(weft, pieces(), workspace=sample.WORKSPACE)
    with weft.atomic(sample.WORKSPACE) as batch:
        sample.record(batch, keep)
    return weft
