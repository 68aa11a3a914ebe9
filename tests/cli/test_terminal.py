"""What stands in a store cannot speak to the terminal."""

import pytest

from weftwork import Edge, Node, Weft

OSC = "\x1b]0;owned\x07\x9b31m\x85"


@pytest.fixture
def hostile(here):
    with Weft.open(here / "notes.weft", embedder="hashing") as weft:
        weft.add(
            [
                Node(
                    id=f"n{n}", type=f"page{OSC}", title=f"Mirror {OSC}{n}", text=f"The mirror {OSC} ships {n}.",
                    tags=(f"t{OSC}",), fields={f"f{OSC}": f"v{OSC}", "due": "2020-01-01"}, source=f"a/{OSC}.md",
                )
                for n in range(3)
            ],
            [Edge(source="n0", target="n1", type=f"e{OSC}", label=f"l{OSC}")],
        )  # fmt: skip
        weft.add([Node(id="m", type="memory", title=OSC, text=f"Ana {OSC} likes mirrors.", owner="me")])
    return here


@pytest.mark.parametrize(
    "arguments",
    [
        ["stats"],
        ["users", "list"],
        ["doctor"],
        ["search", "mirror"],
        ["context", "mirror"],
        ["context", "mirror", "--recipe", "graph"],
        ["context", "mirror", "--recipe", "graph", "--routes"],
        ["context", "mirror", "--recipe", "workspace"],
        ["context", "mirror", "--json"],
        ["explain", "mirror"],
        ["read", "Mirror 0"],
        ["memories"],
        ["ask", "When does the mirror ship?"],
        ["context", "--focus", f"n{OSC}9"],
    ],
    ids=" ".join,
)
def test_no_command_prints_a_control_sequence_of_anybodys(weft, hostile, arguments):
    ran = weft(*arguments)
    assert ran.out or ran.err
    printed = ran.out + ran.err
    assert [hex(ord(mark)) for mark in printed if mark != "\n" and (mark < " " or "\x7f" <= mark <= "\x9f")] == []
