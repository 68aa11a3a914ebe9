"""OCR with RapidOCR, whose models are part of its package: nothing is downloaded."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from weftwork.ingest.documents.layout.boxes import Run

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_SIDE = 2_000
"""Pixels of the longer side that are looked at: more costs time and finds nothing more on a printed page."""
SUREST = 0.5
"""Confidence below which a line is taken for a drawing."""


def ocr_is_installed() -> bool:
    """Return True if the extra is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class Ocr:
    """The OCR engine, loaded at the first picture."""

    def __init__(self) -> None:
        self._engine: Any = None

    def __call__(self, picture: Image) -> list[Run]:
        """The lines of a picture."""
        smaller = picture.copy()
        smaller.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        scale = picture.width / max(smaller.width, 1)
        if min(smaller.size) < 8:
            return []
        result = self._loaded()(np.asarray(smaller)[:, :, ::-1])
        if result.boxes is None or result.txts is None:
            return []
        sure = zip(result.boxes, result.txts, result.scores, strict=True)
        return [_run(box * scale, text) for box, text, score in sure if score >= SUREST and text.strip()]

    def _loaded(self) -> Any:
        if self._engine is None:
            from rapidocr import RapidOCR  # noqa: PLC0415 - an optional extra

            self._engine = RapidOCR(params={"Global.log_level": "critical"})
        return self._engine


def _run(box: Any, text: str) -> Run:
    (x0, top), (x1, bottom) = box.min(axis=0), box.max(axis=0)
    height = float(abs(box[3][1] - box[0][1]) + abs(box[2][1] - box[1][1])) / 2
    sideways = bottom - top > 1.8 * (x1 - x0) and len(text) > 2
    return Run(
        text=" ".join(text.split()),
        x0=float(x0),
        top=float(top),
        x1=float(x1),
        bottom=float(bottom),
        size=max(round(height, 1), 1.0),
        sideways=sideways,
    )
