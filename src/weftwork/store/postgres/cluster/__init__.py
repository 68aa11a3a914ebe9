"""Sharding: partitions of the tables are foreign tables on several servers, and can be moved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from weftwork.errors import InvalidInput, StoreError
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.cluster import foreign, layout, moving
from weftwork.store.postgres.cluster.servers import Servers, read_node, translated_errors

__all__ = ["Cluster", "opened"]


@dataclass(frozen=True, slots=True)
class Status:
    """A server, its problem if any, and its partitions; the coordinator has no name."""

    name: str
    problem: str
    parts: tuple[int, ...]
    workspaces: int

    def as_dict(self) -> dict[str, object]:
        """Return the values for JSON."""
        return asdict(self)


class Cluster:
    """The operations on a cluster."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    def plan(self, nodes: Mapping[str, str], without: Collection[str] = ()) -> dict[int, tuple[str, str]]:
        """The partitions that would move to balance the servers after adding `nodes` and removing `without`."""
        for name, url in nodes.items():
            read_node(name, url)
        servers = {*self._servers.names(), *nodes}
        for name in without:
            if name not in servers:
                raise InvalidInput(f"{name!r} is no server of the cluster: use one of {', '.join(sorted(servers))}")
        parts = self._servers.parts()
        return layout.moves(parts, layout.spread(parts, servers - set(without)))

    def apply(self, nodes: Mapping[str, str], without: Collection[str], say: moving.Report) -> None:
        """Add and drain servers, and move partitions until they are balanced; resumable."""
        with moving.alone(self._servers.here):
            steps = self.plan(nodes, without)
            self._servers.bring_up_to_date()
            foreign.prepare(self._servers.here)
            for name, url in nodes.items():
                self._servers.add(name, url)
            for part, (_, to) in steps.items():
                moving.move_part(self._servers, part, to, say)
            for name in without:
                self._servers.remove(name)

    def move(self, workspace: str, to: str, say: moving.Report) -> None:
        """Move a workspace to a server."""
        with moving.alone(self._servers.here):
            moving.move_workspace(self._servers, workspace, to, say)

    def status(self) -> list[Status]:
        """The status of each server."""
        parts = self._servers.parts()
        statuses = []
        for name in sorted({*self._servers.names(), *parts.values()}):
            server_parts = [part for part, node in parts.items() if node == name]
            count, problem = 0, ""
            try:
                with translated_errors(name):
                    count = sum(len(moving.numbers_in(self._servers.to(name), part)) for part in server_parts)
            except StoreError as error:
                problem = str(error)
            statuses.append(Status(name, problem, tuple(server_parts), count))
        return statuses


@contextmanager
def opened(url: str) -> Iterator[Cluster]:
    """The cluster behind a coordinator."""
    with Servers(parse(url)) as servers, translated_errors(servers.address.place):
        yield Cluster(servers)
