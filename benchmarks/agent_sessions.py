"""Three sessions of agents, each with the outputs of tools of some 20,000 tokens.

The outputs are made line by line from numbers, so that a fact stands in one line among hundreds that look like it. A
step is a message, the tool that the agent calls for it if any, and the phrases that the answer needs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from weftwork import Node

TOKENS_A_LINE = 25


@dataclass(frozen=True, slots=True)
class Step:
    """A message of the user, the output of a tool that is called for it, and what the answer needs."""

    message: str
    needs: tuple[str, ...] = ()
    tool: str = ""
    output: str = ""
    answer: str = "I have looked at it."


@dataclass(frozen=True, slots=True)
class Session:
    """An agent at work: the notes of the workspace, and the steps."""

    name: str
    notes: tuple[Node, ...]
    steps: tuple[Step, ...]


def sessions(seed: int) -> list[Session]:
    """The three sessions."""
    return [_incident(random.Random(seed)), _orders(random.Random(seed + 1)), _migration(random.Random(seed + 2))]


def _notes(prefix: str, texts: Sequence[tuple[str, str]]) -> tuple[Node, ...]:
    return tuple(
        Node(id=f"{prefix}-{place}", type="page", title=title, text=text) for place, (title, text) in enumerate(texts)
    )


def _incident(draw: random.Random) -> Session:
    """Somebody is on call: logs, metrics and a runbook."""
    services = ("checkout", "ledger", "search", "mailer", "gateway")
    lines = [
        f"2026-03-14T0{draw.randrange(2, 6)}:{draw.randrange(60):02}:{draw.randrange(60):02}Z {draw.choice(services)}-"
        f"{draw.randrange(8)} {draw.choice(('INFO', 'INFO', 'WARN'))} request {draw.randrange(10**6):06} took "
        f"{draw.randrange(4, 900)} ms, pool {draw.randrange(10, 60)}/64"
        for _ in range(480)
    ]
    lines[311] = "2026-03-14T03:42:07Z ledger-3 ERROR deadlock between transactions 88213 and 88217 on table postings"
    lines[312] = "2026-03-14T03:42:09Z ledger-3 ERROR replica lag 214 s exceeds the limit, failover to ledger-5 started"
    lines[402] = "2026-03-14T04:10:55Z gateway-1 WARN certificate of api.partner.example expires in 41 hours"
    metrics = [
        f"{service},{minute // 60:02}:{minute % 60:02},{draw.randrange(10, 900)},{draw.random():.3f},"
        f"{draw.randrange(40, 95)}"
        for service in services
        for minute in range(120, 320)
    ]
    metrics[731] = "mailer,04:11,12,0.412,98"
    notes = _notes(
        "runbook",
        [
            ("Ledger failover", "After a failover, compare the posting totals of both replicas before writes resume."),
            ("Certificates", "Certificates of partners are renewed by the platform team, with the form CERT-7."),
            ("Mailer", "If the error rate of the mailer is above 0.3, pause the newsletter queue first."),
            ("On call", "Hand over at nine. The incident channel is #inc-ledger, the secretary rotates weekly."),
            *(
                (f"Dashboard {n}", f"Panel {n} shows latency of service {n} over the last {n} hours.")
                for n in range(60)
            ),
        ],
    )
    steps = (
        Step("Read the log of the night.", (), "read_log", "\n".join(lines)),
        Step("What deadlocked, and on which table?", ("deadlock between transactions 88213 and 88217",)),
        Step("And what happened right after it?", ("failover to ledger-5 started",)),
        Step("thanks!"),
        Step("What does the runbook say to do after a failover of the ledger?", ("compare the posting totals",)),
        Step("Did any certificate come up in the log?", ("certificate of api.partner.example expires",)),
        Step("Who renews certificates of partners?", ("renewed by the platform team",)),
        Step(
            "Get the metrics of that night.",
            (),
            "get_metrics",
            "service,minute,requests,errors,cpu\n" + "\n".join(metrics),
        ),
        Step("What was the error rate of the mailer at 04:11?", ("mailer,04:11,12,0.412",)),
        Step("What do we do about the mailer at such a rate?", ("pause the newsletter queue",)),
        Step("ok, great"),
        Step("Which replica had the lag, and how large was it?", ("replica lag 214 s",)),
        Step("Where do I report this incident?", ("#inc-ledger",)),
    )
    return Session("incident", notes, steps)


def _orders(draw: random.Random) -> Session:
    """Somebody in customer care: two exports of a shop as JSON."""
    towns = ("Aarhus", "Brno", "Cork", "Dijon", "Evora", "Faro", "Ghent", "Hasselt")
    goods = ("teapot", "lamp", "kettle", "clock", "basket", "mirror", "bowl", "tray")

    def order(number: int) -> dict[str, object]:
        return {"order": f"SO-{number:05}", "town": draw.choice(towns), "item": draw.choice(goods),
                "paid": draw.randrange(20, 400), "state": draw.choice(("sent", "sent", "packed"))}  # fmt: skip

    orders = [order(number) for number in range(41_000, 41_420)]
    orders[288] |= {"state": "returned", "reason": "cracked spout", "carrier": "Nordlinje"}
    orders[97] |= {"state": "held", "reason": "address without a house number"}
    stock = [
        {"item": f"{draw.choice(goods)}-{number:04}", "shelf": f"{draw.choice('ABCDEF')}{draw.randrange(90):02}",
         "left": draw.randrange(0, 300), "supplier": draw.choice(("Moravec", "Olsen", "Quay & Sons"))}
        for number in range(440)
    ]  # fmt: skip
    stock[205] = {"item": "teapot-spout-guard", "shelf": "F17", "left": 3, "supplier": "Moravec"}
    notes = _notes(
        "policy",
        [
            ("Returns", "A broken item is replaced without a return if a photograph shows the damage."),
            ("Carriers", "Claims against Nordlinje are made within seven days by the form NL-2."),
            ("Addresses", "An order without a house number is held; the customer is asked once, then refunded."),
            ("Suppliers", "Moravec delivers on Tuesdays; an order has to be in by Friday noon."),
            *((f"Letter {n}", f"Dear customer, thank you for your letter of day {n}. We are glad.") for n in range(60)),
        ],
    )
    held, returned = orders[97]["order"], orders[288]["order"]
    steps = (
        Step("hello"),
        Step("Fetch the orders of last week.", (), "list_orders", "\n".join(json.dumps(each) for each in orders)),
        Step("Which order was returned with a cracked spout?", (f"{returned}", "cracked spout")),
        Step("Who carried it?", ("Nordlinje",)),
        Step("How do I make a claim against Nordlinje?", ("by the form NL-2",)),
        Step("Which order is held because of its address?", (f"{held}", "address without a house number")),
        Step("What do we do about such an address?", ("asked once, then refunded",)),
        Step("Fetch the stock list.", (), "list_stock", "\n".join(json.dumps(each) for each in stock)),
        Step("How many teapot spout guards are left, and on which shelf?", ("teapot-spout-guard", "F17")),
        Step("When does Moravec deliver?", ("Moravec delivers on Tuesdays",)),
        Step("Thank you so much!"),
        Step("Do we need the broken teapot back?", ("replaced without a return",)),
    )
    return Session("orders", notes, steps)


def _migration(draw: random.Random) -> Session:
    """A programmer: a test run, a search in the code, and decisions on the way."""
    modules = ("billing", "users", "search", "exports", "mail", "queue")
    tests = [
        f"tests/{draw.choice(modules)}/test_{draw.choice(modules)}_{number}.py::test_case_{draw.randrange(99)} "
        f"{draw.choice(('PASSED', 'PASSED', 'SKIPPED'))} [{number * 100 // 520:3}%] in {draw.random():.3f}s"
        for number in range(520)
    ]
    tests[377] = (
        "tests/exports/test_csv.py::test_dates_keep_their_zone FAILED: naive datetime 2026-03-29 02:30 in export"
    )
    tests[141] = "tests/queue/test_retry.py::test_back_off FAILED: slept 0.8 s, expected at most 0.5 s"
    code = [
        f"src/{draw.choice(modules)}/{draw.choice(modules)}.py:{draw.randrange(400)}: value_{number} = "
        f"convert(row[{draw.randrange(30)}], kind={draw.choice(('str', 'int', 'float'))!r})"
        for number in range(520)
    ]
    code[260] = "src/exports/writer.py:88: stamp = datetime.strptime(cell, FORMAT)  # no zone here"
    notes = _notes(
        "decision",
        [
            ("Time zones", "All moments are stored in UTC, and converted with zoneinfo where people read them."),
            ("Retries", "Back-off doubles from 50 ms and never waits longer than half a second."),
            ("Releases", "A release needs two approvals and a green run on the main branch."),
            ("Exports", "CSV exports use ISO 8601 with an offset; the column is named moment."),
            *(
                (f"Meeting {n}", f"Present were team {n}. We spoke about the office plants and lunch.")
                for n in range(60)
            ),
        ],
    )
    steps = (
        Step("Run the tests.", (), "run_tests", "\n".join(tests)),
        Step("Which test of the exports failed, and why?", ("test_dates_keep_their_zone", "naive datetime")),
        Step("What did we decide about time zones?", ("stored in UTC",)),
        Step("Search the code for conversions of rows.", (), "search_code", "\n".join(code)),
        Step("Where is a date parsed without a zone?", ("src/exports/writer.py:88",)),
        Step("cool, thanks"),
        Step("How do our CSV exports write moments?", ("ISO 8601 with an offset",)),
        Step("Was there another failure, in the queue?", ("test_back_off FAILED", "slept 0.8 s")),
        Step("What is our rule for back-off?", ("never waits longer than half a second",)),
        Step("What does a release need?", ("two approvals",)),
        Step("Remind me which line of the writer we have to change.", ("src/exports/writer.py:88",)),
    )
    return Session("migration", notes, steps)
