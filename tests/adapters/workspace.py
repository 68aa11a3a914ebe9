"""A small workspace for the tests of adapters."""

from contextlib import contextmanager

from weftwork import Node, Weft

QUESTION = "What does the dome turn on?"


@contextmanager
def opened(folder):
    with Weft.open(folder / "a.weft", embedder="hashing") as weft:
        weft.add(
            [
                Node(id="dome", type="page", title="Dome", text="The dome turns on twelve rollers of brass."),
                Node(id="gate", type="page", title="Gate", text="The gate opens to the north with a silver handle."),
                Node(id="roof", type="page", title="Roof", text="The roof of the dome is made of copper sheets."),
                Node(id="key", type="page", title="Key", text="A second key to the dome hangs in the porch."),
            ]
        )
        yield weft
