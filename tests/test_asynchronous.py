"""The engine and the client for asyncio."""

import asyncio

import pytest

from weftwork import AsyncClient, AsyncWeft, Node
from weftwork.asynchronous import AsyncClientThreads, AsyncThreads
from weftwork.client.threads import ClientThreads
from weftwork.errors import InvalidInput, NotFound
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Local, Options
from weftwork.write.threads import Threads

from .server.http.serving import running


def test_calls_run_side_by_side_and_errors_arrive(tmp_path):
    async def work():
        async with await AsyncWeft.open(tmp_path / "a.weft", embedder="hashing") as weft:
            await weft.add([Node(id=f"n{number}", text=f"Roller number {number}") for number in range(20)])
            contexts = await asyncio.gather(*(weft.context(f"roller {number}", budget=200) for number in range(20)))
            assert [context.text for context in contexts] == [
                weft.weft.context(f"roller {number}", budget=200).text for number in range(20)
            ]
            thread = await weft.threads.create("Maintenance")
            await weft.threads.post(thread.id, "Who greases the rollers?")
            assert [each.text for each in await weft.threads.messages(thread.id)] == ["Who greases the rollers?"]
            with pytest.raises(NotFound):
                await weft.read("nothing")
            with pytest.raises(TypeError, match="did you mean 'focus'"):
                await weft.context("x", focsu="y")  # type: ignore[call-overload]
            assert (await weft.stats())["nodes"] == 22

    asyncio.run(work())


def test_a_server_is_asked_in_the_same_way(tmp_path):
    async def work():
        async with await AsyncWeft.open(tmp_path / "a.weft", embedder="hashing") as weft:
            await weft.add([Node(id="dome", type="page", title="Dome", text="The dome turns on rollers.")])
            options = Options(local=Local(user="me", workspace="main"), limits=Limits(requests_per_minute=0))
            with running(make_app(weft.weft, options)) as url:
                async with AsyncClient(url, timeout=20) as client:
                    here, there = await asyncio.gather(weft.context("rollers"), client.context("rollers"))
                    assert here.text == there.text
                    assert await client.workspaces() == ["main"]
                    with pytest.raises(InvalidInput):
                        await client.context("rollers", budget=0)
                    events = [event async for event in client.ask_events("What turns on rollers?")]
                    assert events[0][0] == "sources"

    asyncio.run(work())


@pytest.mark.parametrize(("blocking", "later"), [(Threads, AsyncThreads), (ClientThreads, AsyncClientThreads)])
def test_threads_have_the_same_methods(blocking, later):
    def named(kind):
        return {name for name in dir(kind) if not name.startswith("_")}

    assert named(blocking) == named(later) - {"close"}
