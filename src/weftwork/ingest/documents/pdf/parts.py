"""Text of the pictures on pages that have text: charts, screenshots, scanned parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from weftwork.ingest.documents.layout.blocks import escaped
from weftwork.ingest.documents.layout.boxes import Run, rows_of
from weftwork.ingest.documents.values import Tools

if TYPE_CHECKING:
    from PIL.Image import Image

Box = tuple[float, float, float, float]
"""Left, top, right and bottom of a part of a page."""
LEGIBLE = 0.04
"""Share of a page below which a picture is a logo or an ornament."""
WRITTEN = 20
"""Characters of the text layer on a picture from which on it is a background, or a scan that was read before."""
MOST_PAGES = 40
"""Pages of a document whose pictures are read: each takes seconds."""
MOST_PICTURES = 50
"""Pictures of a page that are looked at."""
TITLE = "Text in pictures:"


@dataclass(slots=True)
class Parts:
    """The pictures of a document beside its text, each read once."""

    tools: Tools
    pages: int = 0
    seen: set[bytes] = field(default_factory=set)

    def read(self, boxes: Sequence[Box], draw: Callable[[], Image], scale: float) -> tuple[str, bool]:
        """The text of pictures of a page, row by row, and True if it is still to be read.

        `draw` gives the page, of which a point has `scale` pixels.
        """
        if not boxes or self.pages >= MOST_PAGES:
            return "", False
        self.pages += 1
        if self.tools.ocr is None:
            return "", True
        picture = _only(
            draw(), [(scale * x0, scale * top, scale * x1, scale * bottom) for x0, top, x1, bottom in boxes]
        )
        if picture is None:
            return "", False
        known = blake2b(picture.tobytes(), digest_size=16).digest()
        if known in self.seen:
            return "", False
        self.seen.add(known)
        rows = rows_of(run for run in self.tools.ocr(picture) or () if not run.sideways)
        lines = [escaped(" | ".join(run.text for run in row)) for row in rows]
        return "\n".join([TITLE, *lines]) if lines else "", False


def legible(boxes: Sequence[Box], runs: Sequence[Run], area: float) -> list[Box]:
    """The pictures that may say something that the text layer does not say."""
    large = [box for box in boxes if _area(box) >= LEGIBLE * area]
    return [box for box in large[:MOST_PICTURES] if _letters_on(box, runs) < WRITTEN]


def _area(box: Box) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)


def _letters_on(box: Box, runs: Sequence[Run]) -> int:
    x0, top, x1, bottom = box
    on = (run for run in runs if x0 <= (run.x0 + run.x1) / 2 <= x1 and top <= (run.top + run.bottom) / 2 <= bottom)
    return sum(len(run.text) for run in on)


def _only(page: Image, boxes: Sequence[Box]) -> Image | None:
    """The page with nothing but these parts of it, cut to where they are; None if they are beside it."""
    edges = [[max(0, round(x0)), max(0, round(top)), round(x1), round(bottom)] for x0, top, x1, bottom in boxes]
    inside = [(x0, top, min(x1, page.width), min(bottom, page.height)) for x0, top, x1, bottom in edges]
    inside = [box for box in inside if box[0] < box[2] and box[1] < box[3]]
    if not inside:
        return None
    blank = page.copy()
    blank.paste((255, 255, 255), (0, 0, *page.size))
    for box in inside:
        blank.paste(page.crop(box), box[:2])
    lefts, tops, rights, bottoms = zip(*inside, strict=True)
    return blank.crop((min(lefts), min(tops), max(rights), max(bottoms)))
