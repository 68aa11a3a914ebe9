"""No key keeps all others waiting: shares of threads, turns of uploads, and the size of headers."""

import anyio
import pytest

from weftwork.server.http import fairness
from weftwork.server.http.fairness import ONE_THREAD, FairShare, Load, Shares
from weftwork.server.http.jobs import Jobs
from weftwork.server.http.options import Options
from weftwork.server.http.problems import Problem
from weftwork.server.http.request_log import CALLER

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
        began = await shares.enter(b"a")
        assert shares.most(b"a") == 16
        shares.leave(b"b", await shares.enter(b"b"))
        assert (shares.most(b"a"), shares.most(b"b")) == (4, 4)
        clock.now = fairness.PRESENT_SECONDS
        assert shares.most(b"a") == 16
        shares.leave(b"a", began)

    anyio.run(check)


def test_a_key_that_takes_more_than_a_thread_has_one_request_at_a_time_until_it_has_calmed_down():
    async def check():
        clock = Clock()
        shares = Shares(16, clock)
        held = [await shares.enter(b"hostile") for _ in range(16)]
        clock.now = ONE_THREAD / 8
        for began in held:
            shares.leave(b"hostile", began)
        shares.leave(b"other", await shares.enter(b"other"))
        assert (shares.most(b"hostile"), shares.most(b"other")) == (1, 4)
        clock.now += 3 * fairness.HALF_LIFE_SECONDS
        shares.leave(b"other", await shares.enter(b"other"))
        assert shares.most(b"hostile") == 4

    anyio.run(check)


def test_what_is_over_a_share_waits_its_turn_in_order_and_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(fairness, "MOST_WAITING", 2)

    async def check():
        shares, order = Shares(4, Clock()), []
        shares.leave(b"other", await shares.enter(b"other"))
        began = await shares.enter(b"a")

        async def work(name):
            turn = await shares.enter(b"a")
            order.append(name)
            shares.leave(b"a", turn)

        async with anyio.create_task_group() as group:
            group.start_soon(work, "first")
            await anyio.wait_all_tasks_blocked()
            group.start_soon(work, "second")
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(Problem, match="waiting"):
                await shares.enter(b"a")
            assert order == []
            shares.leave(b"a", began)
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
                scope[CALLER] = "the caller"

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
            await share({**scope, "query_string": b""}, None, send)

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
