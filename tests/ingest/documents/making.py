"""Small documents, made by hand or with the libraries that people make them with."""

import zlib
from io import BytesIO
from zipfile import ZipFile

WIDTH, HEIGHT = 612, 792


def text(x, y, words, size=10, bold=False):
    """Words at a place, measured from the upper left corner."""
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{'B' if bold else 'R'} {size} Tf {x} {HEIGHT - y} Td ({escaped}) Tj ET"


def lines(x, y, texts, size=10, step=12):
    """Lines of text below each other."""
    return [text(x, y + number * step, each, size) for number, each in enumerate(texts)]


def rule(x0, y0, x1, y1):
    """A drawn line."""
    return f"{x0} {HEIGHT - y0} m {x1} {HEIGHT - y1} l S"


def picture(x, y, width, height, name="Im0"):
    """The picture of the page, at a place."""
    return f"q {width} 0 0 {height} {x} {HEIGHT - y - height} cm /{name} Do Q"


def pdf(*pages, rotate=0, extra=(), encrypt=False, resources="", fields=()):
    """A PDF whose pages consist of these operators; `extra` are more objects, numbered from 10 on.

    `fields` are the entries of fields of a form, which stand on every page.
    """
    bodies = {
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        4: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        5: _stream(b"\x80\x20\xff" * 4, "/Type /XObject /Subtype /Image /Width 2 /Height 2 "
                   "/ColorSpace /DeviceRGB /BitsPerComponent 8"),
    }  # fmt: skip
    bodies |= dict(enumerate(extra, start=10))
    kids = []
    first = 10 + len(extra)
    widgets = {first + 2 * len(pages) + number: entries for number, entries in enumerate(fields)}
    bodies |= {
        number: f"<< /Type /Annot /Subtype /Widget /Rect [50 700 200 720] {entries} >>".encode()
        for number, entries in widgets.items()
    }
    form = f"[{' '.join(f'{number} 0 R' for number in widgets)}]"
    for number, operators in enumerate(pages):
        page, content = first + 2 * number, first + 2 * number + 1
        data = operators if isinstance(operators, bytes) else "\n".join(operators).encode("cp1252", "replace")
        bodies[page] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {rotate} /Contents {content} 0 R "
            f"/Annots {form} /Resources << /Font << /R 3 0 R /B 4 0 R >> /XObject << /Im0 5 0 R {resources} >> >> >>"
        ).encode()
        bodies[content] = _stream(data)
        kids.append(f"{page} 0 R")
    acro = f"/AcroForm << /Fields {form} >>" if fields else ""
    bodies[1] = f"<< /Type /Catalog /Pages 2 0 R {acro} >>".encode()
    bodies[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    return _file(bodies, encrypt)


def _stream(data, more=""):
    packed = zlib.compress(data)
    return f"<< /Length {len(packed)} /Filter /FlateDecode {more} >>\nstream\n".encode() + packed + b"\nendstream"


def form(data, resources):
    """An object that pages draw by its name."""
    head = f"/Type /XObject /Subtype /Form /BBox [0 0 {WIDTH} {HEIGHT}] /Resources << /XObject << {resources} >> >>"
    return _stream(data, head)


def _file(bodies, encrypt):
    out = BytesIO(b"")
    out.write(b"%PDF-1.7\n")
    places = {}
    for number in sorted(bodies):
        places[number] = out.tell()
        out.write(f"{number} 0 obj\n".encode() + bodies[number] + b"\nendobj\n")
    start, size = out.tell(), max(bodies) + 1
    out.write(f"xref\n0 {size}\n0000000000 65535 f \n".encode())
    for number in range(1, size):
        out.write(f"{places[number]:010} 00000 n \n".encode() if number in places else b"0000000000 65535 f \n")
    lock = f"/ID [<{'00' * 16}> <{'00' * 16}>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 " if encrypt else ""
    lock += f"/O <{'11' * 32}> /U <{'22' * 32}> >>" if encrypt else ""
    out.write(f"trailer\n<< /Size {size} /Root 1 0 R {lock} >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def epub(chapters, encrypted=False):
    """A book of chapters, each the body of an XHTML file."""
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        )
        if encrypted:
            archive.writestr("META-INF/encryption.xml", "<encryption/>")
            archive.writestr("META-INF/rights.xml", "<rights/>")
        items = "".join(
            f'<item id="c{i}" href="c%20{i}.xhtml" media-type="application/xhtml+xml"/>' for i in range(len(chapters))
        )
        order = "".join(f'<itemref idref="c{i}"/>' for i in reversed(range(len(chapters))))
        archive.writestr(
            "OEBPS/book.opf",
            f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{order}</spine></package>',
        )
        for i, body in enumerate(chapters):
            archive.writestr(
                f"OEBPS/c {i}.xhtml", f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
            )
    return out.getvalue()


PROSE = (
    "The rain had stopped before the ferry came in sight of the harbour and the crew began to",
    "coil the ropes on the deck while the passengers looked for their bags under the benches of",
    "the saloon where the lamps were still burning although the morning was as bright as noon and",
    "nobody but the cook had thought of breakfast yet.",
)


def opendocument(kind, body):
    """An OpenDocument file with this body: kind is text, spreadsheet or presentation."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "presentation")
    )
    spaces += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        content = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
        archive.writestr("content.xml", f"<office:document-content {spaces}>{content}</office:document-content>")
    return out.getvalue()
