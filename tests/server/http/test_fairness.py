"""No key keeps all others waiting: shares of threads, turns of uploads, and the size of headers."""

from types import SimpleNamespace

import anyio
import pytest

from weftwork.server.http import fairness
from weftwork.server.http.fairness import SHARE, FairShare, Load, MeteredRoute, Shares
from weftwork.server.http.gone_clients import GONE
from weftwork.server.http.jobs import Jobs
from weftwork.server.http.options import Options
from weftwork.server.http.problems import Problem
from weftwork.server.http.request_log import CALLER
from weftwork.server.http.routes import ROUTERS
from weftwork.server.http.routes.nodes import FEW_PASSAGES

from .serving import STUDIO as LOCAL
from .serving import calling


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_key_that_is_alone_has_all_threads_and_one_among_others_a_quarter():
    async def check():
        clock = Clock()
        shares = Shares(16, clock)
        await shares.enter(b"a")
        assert shares.most(b"a") == 16
        await shares.enter(b"b")
        shares.leave(b"b", 0.0)
        assert (shares.most(b"a"), shares.most(b"b")) == (4, 4)
        clock.now = fairness.PRESENT_SECONDS
        assert shares.most(b"a") == 16
        shares.leave(b"a", 0.0)

    anyio.run(check)


def test_a_key_that_takes_more_than_a_tenth_of_a_processor_has_one_request_at_a_time_until_it_has_calmed_down():
    async def check():
        clock = Clock()
        shares = Shares(16, clock)
        for _ in range(16):
            await shares.enter(b"hostile")
        for _ in range(16):
            shares.leave(b"hostile", SHARE / 8)
        await shares.enter(b"other")
        shares.leave(b"other", fairness.LITTLE)
        assert (shares.most(b"hostile"), shares.most(b"other")) == (1, 4)
        clock.now += 3 * fairness.HALF_LIFE_SECONDS
        await shares.enter(b"other")
        shares.leave(b"other", 0.0)
        assert shares.most(b"hostile") == 4

    anyio.run(check)


def test_what_is_over_a_share_waits_its_turn_in_order_and_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(fairness, "MOST_WAITING", 2)

    async def check():
        shares, order = Shares(4, Clock()), []
        await shares.enter(b"other")
        shares.leave(b"other", 0.0)
        await shares.enter(b"a")

        async def work(name):
            await shares.enter(b"a")
            order.append(name)
            shares.leave(b"a", 0.0)

        async with anyio.create_task_group() as group:
            group.start_soon(work, "first")
            await anyio.wait_all_tasks_blocked()
            group.start_soon(work, "second")
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(Problem, match="waiting"):
                await shares.enter(b"a")
            assert order == []
            shares.leave(b"a", 0.0)
        assert order == ["first", "second"]

    anyio.run(check)


def test_uploads_are_taken_in_turns_of_their_users(weft):
    jobs = Jobs(weft, Options(local=LOCAL), on_end=lambda state: None)
    for number in range(4):
        with jobs.folder.arriving() as incoming:
            incoming.write(f"text {number}".encode())
            jobs.submit(incoming, workspace="studio", user="ana", name=f"{number}.txt")
    with jobs.folder.arriving() as incoming:
        incoming.write(b"a line")
        jobs.submit(incoming, workspace="studio", user="ben", name="ben.txt")
    with jobs._changed:
        assert [jobs._next().user for _ in range(5)] == ["ana", "ben", "ana", "ana", "ana"]


def test_a_page_that_posts_by_navigating_is_kept_out_of_a_server_without_keys(weft):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with calling(weft) as client:
        assert client.get("/healthz", headers=headers).status_code == 200
        assert client.post("/v1/workspaces/studio/search", json={"query": "x"}, headers=headers).status_code == 403


def test_load_is_shed_once_a_request_would_wait_longer_than_a_second():
    clock = Clock()
    load = Load(2, clock)
    for _ in range(66):
        load.enter(b"a")
    assert load.wait(b"a") == 0.0, "nothing is known of the pace yet"
    for _ in range(60):  # one answer each half second
        clock.now += 0.5
        load.leave(b"a")
    assert load.wait(b"a") == pytest.approx(3.0, abs=0.05)
    with pytest.raises(Problem) as refused:
        load.enter(b"a")
    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "3"})
    for _ in range(5):
        clock.now += 0.5
        load.leave(b"a")
    load.enter(b"a")  # fewer than there are threads: it need not wait at all


def test_a_key_that_sends_very_much_is_refused_and_the_others_are_not():
    clock = Clock()
    load = Load(2, clock)
    for _ in range(100):
        load.enter(b"hostile")
    for _ in range(60):
        clock.now += 0.2
        load.leave(b"hostile")
    with pytest.raises(Problem):
        load.enter(b"hostile")
    load.enter(b"other")


def test_requests_without_a_key_that_holds_share_what_one_key_has():
    async def check():
        async def answer(scope, receive, send):
            if scope["headers"][0][1] == b"Bearer good":
                scope[CALLER] = SimpleNamespace(key="k1")

        async def send(message):
            raise AssertionError(message)

        share = FairShare(answer, 4)
        for token in (b"Bearer good", b"Bearer bad", b"Bearer worse", b"Bearer good"):
            scope = {"type": "http", "method": "POST", "path": "/", "client": ("10.1.2.3", 1)}
            await share({**scope, "headers": [(b"authorization", token)]}, None, send)
        return share.shares

    shares = anyio.run(check)
    assert len(shares._shares) == 2, "the good key, once it is known, and the address"


def test_who_is_refused_hears_so_at_once_and_the_others_are_answered():
    async def check():
        gate, statuses = anyio.Event(), []

        async def slow(scope, receive, send):
            await gate.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})

        async def ask(share):
            async def send(message):
                if message["type"] == "http.response.start":
                    statuses.append(message["status"])

            scope = {"type": "http", "method": "GET", "path": "/v1/x", "headers": []}
            await share({**scope, "query_string": b""}, anyio.sleep_forever, send)

        share = FairShare(slow, threads=2)
        share.load._interval = 0.4
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask, share)
            await anyio.wait_all_tasks_blocked()
            assert statuses == [503, 503], "three in flight take more than a second"
            gate.set()
        assert sorted(statuses) == [200, 200, 200, 503, 503]

    anyio.run(check)


def test_who_took_much_more_of_the_processor_than_others_pauses_and_more_than_one_that_would_is_refused():
    async def check():
        clock = Clock()
        shares = Shares(16, clock)

        async def ask(key, spent):
            await shares.enter(key)
            shares.leave(key, spent)

        await ask(b"hostile", 100.0)
        assert shares.delay(b"hostile") == 0.0, "nobody else is there"
        for key in (b"ana", b"ben"):
            await ask(key, SHARE)
        assert shares.delay(b"hostile") == pytest.approx(fairness.HALF_LIFE_SECONDS)
        assert shares.delay(b"ana") == 0.0
        async with anyio.create_task_group() as group:
            group.start_soon(ask, b"hostile", fairness.MOST_SPENT)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(Problem) as refused:
                await shares.enter(b"hostile")
            assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "10"})
            clock.now += fairness.PRESENT_SECONDS
        for key in (b"ana", b"ben"):
            await ask(key, 0.0)
        with pytest.raises(Problem, match=r"too much of the server's time while others ask: try again in 20 s"):
            await shares.enter(b"hostile")

    anyio.run(check)


def test_who_looks_in_now_and_then_holds_no_key_up():
    async def check():
        shares = Shares(16, Clock())
        for key, spent in ((b"application", 100.0), (b"admin", fairness.LITTLE / 2)):
            await shares.enter(key)
            shares.leave(key, spent)
        assert shares.delay(b"application") == 0.0
        await shares.enter(b"admin")
        shares.leave(b"admin", fairness.LITTLE)
        assert shares.delay(b"application") > 0.0

    anyio.run(check)


def test_strangers_whose_requests_do_nothing_hold_no_key_up():
    async def check():
        shares = Shares(16, Clock())
        await shares.enter(b"importer")
        shares.leave(b"importer", 100.0)
        await shares.enter(b"10.1.2.3")
        assert shares.delay(b"importer") == 0.0
        shares.leave(b"10.1.2.3", 0.0)
        assert shares.delay(b"importer") == 0.0

    anyio.run(check)


def test_the_processor_time_of_requests_is_counted(weft, monkeypatch):
    left, leave = [], Shares.leave
    monkeypatch.setattr(Shares, "leave", lambda self, key, spent: left.append(spent) or leave(self, key, spent))
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    asked["params"] = {"name": "search", "arguments": {"query": "rollers"}}
    with calling(weft) as client:
        client.post("/v1/workspaces/studio/context/build", json={"query": "rollers"}).raise_for_status()
        headers = {"Accept": "application/json, text/event-stream"}
        client.post("/mcp", json=asked, headers=headers).raise_for_status()
    assert len(left) == 2 and min(left) > 0


def test_who_writes_very_much_indexes_it_and_not_who_searches_next(weft, monkeypatch):
    caught = []
    monkeypatch.setattr(weft.store, "catch_up", lambda workspace, models: caught.append(workspace))
    with calling(weft) as client:
        for count in (FEW_PASSAGES, FEW_PASSAGES + 1):
            nodes = [{"text": f"note {number} of {count}"} for number in range(count)]
            client.post("/v1/workspaces/studio/nodes", json={"nodes": nodes}).raise_for_status()
    assert caught == ["studio"]


def test_every_route_of_the_api_counts_its_cost():
    routes = [route for router in ROUTERS for route in router.routes]
    assert len(routes) > 50 and {type(route) for route in routes} == {MeteredRoute}


class Client:
    """A client that sends a request and may go away; what the server told it."""

    def __init__(self, body=b"{}"):
        self.gone, self.told, self._body = anyio.Event(), [], [body]
        length = str(len(body)).encode()
        self._scope = {
            "type": "http", "method": "POST", "path": "/v1/x", "headers": [(b"content-length", length)],
            "query_string": b"",
        }  # fmt: skip

    async def ask(self, app):
        await app(self._scope, self._receive, self._send)

    async def _receive(self):
        if self._body:
            return {"type": "http.request", "body": self._body.pop(), "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.told.append(message["status"])


def test_a_request_whose_client_goes_away_while_it_waits_is_not_begun_and_the_next_one_is():
    async def check():
        begun, gate = [], anyio.Event()

        async def slow(scope, receive, send):
            begun.append((await receive())["body"])
            await gate.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})

        share = FairShare(slow, threads=1)
        first, second, third = (Client(body) for body in (b"first", b"second", b"third"))
        async with anyio.create_task_group() as tasks:
            for client in (first, second, third):
                tasks.start_soon(client.ask, share)
                await anyio.wait_all_tasks_blocked()
            second.gone.set()
            await anyio.wait_all_tasks_blocked()
            assert (begun, second.told) == ([b"first"], [GONE])
            gate.set()
        assert begun == [b"first", b"third"], "what was read ahead is there for the application"
        assert (first.told, third.told) == ([200], [200])
        assert not share.load._in_flight

    anyio.run(check)


def test_a_turn_that_comes_as_its_client_goes_is_the_next_ones(monkeypatch):
    monkeypatch.setattr(fairness, "LOOK_SECONDS", 1_000)

    async def check():
        shares, order = Shares(1, Clock()), []
        await shares.enter(b"a")

        async def work(name, scope):
            with scope:
                await shares.enter(b"a")
                order.append(name)
                shares.leave(b"a", 0.0)

        async with anyio.create_task_group() as group:
            going = anyio.CancelScope()
            for name, scope in (("going", going), ("next", anyio.CancelScope())):
                group.start_soon(work, name, scope)
                await anyio.wait_all_tasks_blocked()
            going.cancel()
            shares.leave(b"a", 0.0)
        assert order == ["next"]

    anyio.run(check)


def test_a_request_that_waits_is_refused_as_any_other_when_too_many_wait(monkeypatch):
    monkeypatch.setattr(fairness, "MOST_WAITING", 0)

    async def check():
        gate = anyio.Event()

        async def slow(scope, receive, send):
            await gate.wait()

        share = FairShare(slow, threads=1)
        refused = Client()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Client().ask, share)
            await anyio.wait_all_tasks_blocked()
            await refused.ask(share)
            gate.set()
        assert refused.told == [429]

    anyio.run(check)
