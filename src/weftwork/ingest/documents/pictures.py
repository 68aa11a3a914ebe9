"""Pictures: opening them within limits, and encoding the images of a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from weftwork.ingest.documents.scan import scanned
from weftwork.ingest.documents.values import Page, Parsed, Tools, Unreadable

PAGE_SIDE = 1_400
"""Pixels of the longer side of a page's picture: 120 dots an inch on A4."""
THUMBNAIL_SIDE = 320
QUALITY = 82


def read_picture(path: Path, tools: Tools) -> Parsed:
    """A picture as a document of one page, or of one page per frame (TIFF)."""
    Image.MAX_IMAGE_PIXELS = None  # the limit below says what to do instead of warning
    try:
        picture = Image.open(BytesIO(path.read_bytes()))
        if picture.width * picture.height <= tools.limits.pixels:
            picture.load()
    except UnidentifiedImageError as error:
        raise Unreadable("is no picture that can be read") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise Unreadable(f"is no picture that can be read ({error})") from error
    if picture.width * picture.height > tools.limits.pixels:
        raise Unreadable(f"has {picture.width:,} × {picture.height:,} pixels, more than {tools.limits.pixels:,}")
    frames = getattr(picture, "n_frames", 1) if picture.format == "TIFF" else 1
    return Parsed(frames, _pages(picture, frames, tools))


def _pages(picture: Image.Image, frames: int, tools: Tools) -> Iterator[Page]:
    for number, frame in enumerate(ImageSequence.Iterator(picture)):
        if number >= frames:
            return
        if frame.width * frame.height > tools.limits.pixels:
            raise Unreadable(f"has a page of {frame.width:,} × {frame.height:,} pixels")
        shown = upright(frame)
        markdown, source = scanned(shown, tools)
        image, thumbnail = encoded(shown)
        yield Page(markdown=markdown, text_source=source, pictures=1, image=image, thumbnail=thumbnail)


def upright(picture: Image.Image) -> Image.Image:
    """Apply EXIF orientation, and flatten to RGB on white."""
    turned = ImageOps.exif_transpose(picture)
    if turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info:
        with warnings.catch_warnings(action="ignore"):  # of Pillow, for palettes with several transparent colours
            clear = turned.convert("RGBA")
        ground = Image.new("RGBA", clear.size, "white")
        return Image.alpha_composite(ground, clear).convert("RGB")
    return turned.convert("RGB")


def encoded(picture: Image.Image) -> tuple[bytes, bytes]:
    """The stored image and thumbnail of a page."""
    return _jpeg(picture, PAGE_SIDE), _jpeg(picture, THUMBNAIL_SIDE)


def _jpeg(picture: Image.Image, side: int) -> bytes:
    if max(picture.size) > side:
        picture = picture.copy()
        picture.thumbnail((side, side), Image.Resampling.BILINEAR, reducing_gap=2.0)
    out = BytesIO()
    picture.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()
