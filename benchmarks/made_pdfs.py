"""PDFs that are made to be read wrongly, with checks of what they say.

Their operators are written by hand, so that nothing but the layout decides: what a person sees at once, and what a text
layer does not say.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

Operators = list[str]

LEFT = ("Harbour masters keep a log of every", "ship that enters, with her name, her",
        "flag and the hour at which she made",
        "fast, so that dues can be reckoned", "when she sails again on the tide.")  # fmt: skip
RIGHT = ("Pilots, in turn, write down the depth", "of the channel and the set of the cur-",
         "rent, which changes after each gale",
         "and makes old charts useless within", "a single winter of hard weather.")  # fmt: skip
PROSE = ("The lamp on the outer mole burns all night and is trimmed twice by the keeper, who lives",
         "with his family in the low white house at its foot and grows beans behind a wall of stones.",
         "In fog a bell is rung by clockwork every twelve seconds until the sun has eaten the mist.")  # fmt: skip
FERRIES = (("Ferry", "Pier", "Leaves", "Fare"), ("Tern", "A", "08:15", "4.20"), ("Gull", "B", "09:30", "5.00"),
           ("Petrel", "C", "11:45", "6.80"), ("Heron", "D", "14:10", "7.10"))  # fmt: skip


def made(folder: Path) -> Iterator[dict[str, Any]]:
    """Write the PDFs into a folder, and yield the checks."""
    making: Any = import_module("tests.ingest.documents.making")  # the tests make such files, too
    lines, pdf, rule, text = making.lines, making.pdf, making.rule, making.text

    def write(name: str, *pages: Operators) -> None:
        (folder / name).write_bytes(pdf(*pages))

    def check(name: str, kind: str, **more: Any) -> dict[str, Any]:
        return {"file": f"made/{name}", "group": f"made: {name.removesuffix('.pdf')}", "kind": kind, **more}

    crossed = [each for pair in zip(lines(60, 120, LEFT), lines(320, 120, RIGHT), strict=True) for each in pair]
    write("columns.pdf", [text(60, 80, "Notes on the Keeping of Harbours", 18), *crossed, text(300, 760, "12")])
    yield check("columns.pdf", "present", text="the hour at which she made fast, so that dues")
    yield check("columns.pdf", "present", text="the set of the current, which changes")
    yield check("columns.pdf", "order", text="when she sails again on the tide", after="Pilots, in turn")
    yield check("columns.pdf", "order", text="Notes on the Keeping", after="Harbour masters keep a log of every ship")

    heads = ("1.1 Lamps", "1.1 Lamps", "1.2 Bells", "1.3 Charts", "1.3 Charts")
    write("heads.pdf", *([text(60, 40, f"{i + 7} {head}"), *lines(60, 100, PROSE), text(500, 770, "Port Authority")]
                         for i, head in enumerate(heads)))  # fmt: skip
    for page in (1, 3, 5):
        yield check("heads.pdf", "present", page=page, text="until the sun has eaten the mist")
        yield check("heads.pdf", "absent", page=page, text=f"{page + 6} {heads[page - 1]}")
        yield check("heads.pdf", "absent", page=page, text="Port Authority")

    divided = ["The old harbour is well-", "known for its cost-", "effective repairs and inter-",
               "national crews of the sail-",
               "makers, who never rest."]  # fmt: skip
    write("hyphens.pdf", lines(60, 80, divided))
    for words in ("is well-known for", "cost-effective repairs", "and international crews", "of the sailmakers"):
        yield check("hyphens.pdf", "present", text=words)

    grid = [rule(60, 90 + 20 * i, 460, 90 + 20 * i) for i in range(6)] + [
        rule(60 + 100 * i, 90, 60 + 100 * i, 190) for i in range(5)
    ]
    cells = [text(66 + 100 * c, 104 + 20 * r, cell) for r, row in enumerate(FERRIES) for c, cell in enumerate(row)]
    write("ruled.pdf", [*grid, *cells, *lines(60, 240, PROSE)])
    write("borderless.pdf", [*cells, *lines(60, 240, PROSE)])
    noted = [text(66 + 100 * c, 104 + 32 * r, cell) for r, row in enumerate(FERRIES) for c, cell in enumerate(row)]
    remarks = [text(166, 104 + 32 * r + 14, "not on Sundays and holidays") for r in (1, 2, 3)]
    write("noted.pdf", [*noted, *remarks, *lines(60, 320, PROSE)])
    for name in ("ruled.pdf", "borderless.pdf", "noted.pdf"):
        yield check(name, "table", text="09:30", left="B", above="Leaves")
        yield check(name, "table", text="7.10", left="14:10", above="Fare")
        yield check(name, "order", text="Petrel", after="The lamp on the outer mole")
        yield check(name, "present", text="The lamp on the outer mole burns all night and is trimmed")

    scale = [text(70, 120 + 30 * i, str(900 - 100 * i)) for i in range(7)]
    years = [text(110 + 60 * i, 330, str(2019 + i)) for i in range(5)]
    axes = [
        rule(100, 110, 100, 315),
        rule(100, 315, 420, 315),
        *(rule(100, 120 + 30 * i, 420, 120 + 30 * i) for i in range(7)),
    ]
    write("chart.pdf", [text(60, 60, "Ships a year", 18), *axes, *scale, *years, *lines(60, 400, PROSE)])
    yield check("chart.pdf", "present", text="900 800 700 600 500")
    yield check("chart.pdf", "order", text="Ships a year", after="The lamp on the outer mole")
    yield check("chart.pdf", "present", text="who lives with his family in the low white house")
    yield check("chart.pdf", "absent", text="---")

    yield from _garbled(write, check, lines)


def _garbled(write: Any, check: Any, lines: Any) -> Iterator[dict[str, Any]]:
    mojibake = ["Le cafÃ© du port nâ€™est pas ouvert aprÃ¨s minuit."]
    write("mojibake.pdf", lines(60, 80, mojibake))
    yield check("mojibake.pdf", "present", text="Le café du port")
    yield check("mojibake.pdf", "present", text="n’est pas ouvert après minuit")
