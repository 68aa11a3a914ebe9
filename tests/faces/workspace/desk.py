"""Asking the context builder, on a real store."""

import asyncio

from weftwork import Weft
from weftwork.faces.workspace import ContextBuilder, ContextPayload, ContextRequest, User, WorkspaceConfig


class Desk:
    """A builder with one user who asks it."""

    def __init__(self, weft: Weft, user: str = "ana", workspace: str = "main", config=None) -> None:
        self.weft = weft
        self.user = User(user, workspace)
        self.builder = ContextBuilder(weft, config) if config else ContextBuilder(weft)

    def build(self, query="", **request) -> ContextPayload:
        """The payload for a request."""
        return asyncio.run(self.builder.build(ContextRequest(query=query, user=self.user, **request)))

    def as_user(self, user):
        """The same builder, asked by somebody else."""
        return Desk(self.weft, user, self.user.workspace)

    def with_settings(self, **table):
        """The same with settings as they stand in `weftwork.toml`."""
        return Desk(self.weft, self.user.id, self.user.workspace, WorkspaceConfig.from_mapping(table))


def section(payload, name):
    """A section of a payload."""
    return next(each for each in payload.sections if each.type == name)


def blocks(payload, name):
    """Ids of the blocks that the items of a section are shown for, in their order."""
    return [item.block_id for item in section(payload, name).items]


def shown(payload, name):
    """Ids of all blocks in a section, in the order of its text."""
    return [block for item in section(payload, name).items for block in item.block_ids]


def found_by(payload, collector):
    """What a collector found, as node to score, whatever became of it."""
    return {
        decision.node: round(finding.score, 6)
        for decision in payload.context.trace
        for finding in decision.findings
        if finding.collector == collector
    }


def scores(payload):
    """The composite score of each candidate."""
    return {decision.node: decision.score for decision in payload.context.trace}
