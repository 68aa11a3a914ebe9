"""No key keeps all others waiting: shares of threads, turns of uploads, and the size of headers."""

import anyio
import pytest

from weftwork.server.http import fairness
from weftwork.server.http.fairness import ONE_THREAD, Shares
from weftwork.server.http.jobs import Jobs
from weftwork.server.http.options import Options
from weftwork.server.http.problems import Problem

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
