from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from weftwork.ingest.documents.layout.boxes import Run
from weftwork.ingest.documents.ocr import Ocr, ocr_is_installed
from weftwork.ingest.documents.values import Unreadable

needs_ocr = pytest.mark.skipif(
    not ocr_is_installed(), reason="pictures are not read here: run  pip install 'weftwork[ocr]'"
)


def saved(picture, kind, **more):
    out = BytesIO()
    picture.save(out, kind, **more)
    return out.getvalue()


def letter():
    """A small scanned letter."""
    picture = Image.new("RGB", (640, 200), "white")
    draw = ImageDraw.Draw(picture)
    draw.text((30, 30), "HARBOUR NOTICE", "black", font=ImageFont.load_default(44))
    draw.text((30, 110), "The ferry leaves at nine from pier four.", "black", font=ImageFont.load_default(24))
    return picture


@pytest.mark.parametrize(
    ("extension", "kind"), [("png", "PNG"), ("jpg", "JPEG"), ("webp", "WEBP"), ("bmp", "BMP"), ("gif", "GIF")]
)
def test_a_picture_is_a_document_of_one_page(pages, extension, kind):
    (page,) = pages(saved(letter(), kind), extension)
    assert (page.markdown, page.text_source, page.pictures) == ("", "none", 1)
    assert Image.open(BytesIO(page.image)).size == (640, 200)
    assert max(Image.open(BytesIO(page.thumbnail)).size) == 320


def test_a_tiff_has_a_page_for_each_of_its_frames(pages):
    frames = [Image.new("L", (50 + 10 * number, 40), "white") for number in range(3)]
    frame_pages = pages(saved(frames[0], "TIFF", save_all=True, append_images=frames[1:]), "tif")
    assert [Image.open(BytesIO(page.image)).width for page in frame_pages] == [50, 60, 70]


def test_what_is_clear_is_shown_on_white(pages):
    (page,) = pages(saved(Image.new("RGBA", (30, 30), (0, 0, 0, 0)), "PNG"), "png")
    assert np.asarray(Image.open(BytesIO(page.image)).convert("L")).min() > 250


def test_a_picture_that_was_taken_sideways_is_shown_upright(pages):
    exif = Image.Exif()
    exif[0x0112] = 6
    (page,) = pages(saved(Image.new("RGB", (60, 30)), "JPEG", exif=exif), "jpg")
    assert Image.open(BytesIO(page.image)).size == (30, 60)


def test_too_many_pixels_are_refused_before_they_are_unpacked(pages):
    content = saved(Image.new("1", (12_000, 12_000)), "PNG")
    assert len(content) < 100_000
    with pytest.raises(Unreadable, match="has 12,000 × 12,000 pixels, more than 100,000,000"):
        pages(content, "png")


@pytest.mark.parametrize("content", [b"", b"no picture", saved(letter(), "PNG")[:300], saved(letter(), "JPEG")[:500]])
def test_what_is_no_picture_is_refused(pages, content):
    with pytest.raises(Unreadable, match="is no picture that can be read"):
        pages(content, "png")


def test_lines_that_ocr_finds_are_laid_out_like_those_of_a_text_layer(pages):
    def ocr(_):
        left = ["A column here that is", "read to its very end.", "It has four lines in", "all, and this is one."]
        right = ["And another one that", "comes after the first", "because it is on the", "right side of a page."]
        words = [(t, 30, 80 + 20 * i) for i, t in enumerate(left)] + [
            (t, 330, 81 + 20 * i) for i, t in enumerate(right)
        ]
        title = [Run(text="Harbour", x0=30, top=10, x1=300, bottom=50, size=40.0)]
        return title + [Run(text=t, x0=x, top=y, x1=x + 220, bottom=y + 15, size=15.0 + x / 300) for t, x, y in words]

    (page,) = pages(saved(letter(), "PNG"), "png", ocr=ocr)
    assert page.text_source == "ocr"
    assert page.markdown == (
        "# Harbour\n\nA column here that is read to its very end. It has four lines in all, and this is one.\n\n"
        "And another one that comes after the first because it is on the right side of a page."
    )


@needs_ocr
def test_a_scan_is_read_with_the_models_of_the_package(pages):
    (page,) = pages(saved(letter(), "PNG"), "png", ocr=Ocr())
    assert page.text_source == "ocr"
    assert page.markdown.lower().replace(" ", "") == "#harbournotice\n\ntheferryleavesatninefrompierfour."


@needs_ocr
def test_a_picture_without_text_has_none(pages):
    (page,) = pages(saved(Image.new("RGB", (100, 60), "navy"), "PNG"), "png", ocr=Ocr())
    assert (page.markdown, page.text_source) == ("", "ocr")
