from datetime import date, datetime
from html import unescape
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from docx import Document
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from openpyxl import Workbook
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from weftwork.ingest.documents.docx_notes import with_notes
from weftwork.ingest.documents.html import LONG_SECTION, PAGE_END, markdown_of
from weftwork.ingest.documents.reader import Place, read_document
from weftwork.ingest.documents.values import Unreadable
from weftwork.ingest.events import Attachment
from weftwork.types import Node

from .making import epub, lines, pdf, text


def saved(document):
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def small_picture():
    out = BytesIO()
    Image.new("RGB", (20, 20), "teal").save(out, "PNG")
    out.seek(0)
    return out


def repacked(content, change):
    """An archive with its members changed."""
    out = BytesIO()
    with ZipFile(BytesIO(content)) as old, ZipFile(out, "w", ZIP_DEFLATED) as new:
        for member in old.infolist():
            new.writestr(member.filename, change(member.filename, old.read(member)))
    return out.getvalue()


def report():
    document = Document()
    document.add_heading("Report", level=1)
    document.add_paragraph("The opening.")
    document.add_paragraph("first", style="List Bullet")
    document.add_paragraph("second", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, words in zip((c for row in table.rows for c in row.cells), ["a", "b", "1", "2"], strict=True):
        cell.text = words
    document.add_picture(small_picture())
    return document


def test_docx_keeps_headings_lists_tables_and_pictures(pages):
    (page,) = pages(saved(report()), "docx")
    assert page.markdown.startswith("# Report\n\nThe opening.\n\n- first\n- second\n\n")
    assert "| a | b |\n| --- | --- |\n| 1 | 2 |" in page.markdown
    assert page.pictures == 1
    assert not page.image


def test_docx_pages_end_at_its_page_breaks(pages):
    document = report()
    document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    document.add_heading("Methods", level=2)
    document.add_paragraph("We measured.")
    first, second = pages(saved(document), "docx")
    assert first.markdown.startswith("# Report")
    assert second.markdown == "## Methods\n\nWe measured."


def test_docx_pages_end_where_word_ended_them_when_it_was_last_saved(pages):
    document = Document()
    document.add_paragraph("On the first page. MARK On the second.")

    def broken(name, data):
        rendered = b"</w:t></w:r><w:r><w:lastRenderedPageBreak/><w:t>"
        return data.replace(b"MARK", rendered) if name == "word/document.xml" else data

    first, second = pages(repacked(saved(document), broken), "docx")
    assert (first.markdown, second.markdown) == ("On the first page.", "On the second.")


def test_docx_without_pages_has_one_for_each_section(pages):
    document = Document()
    document.add_paragraph("Foreword.")
    for name in ("One", "Two"):
        document.add_heading(name, level=1)
        document.add_heading(f"Inside {name}", level=2)
        document.add_paragraph(f"Text {name}.")
    assert [page.markdown for page in pages(saved(document), "docx")] == [
        "Foreword.",
        "# One\n\n## Inside One\n\nText One.",
        "# Two\n\n## Inside Two\n\nText Two.",
    ]


def sign(symbols):
    """A run of a formula, as Word writes it."""
    return f"<m:r><w:rPr/><m:t>{symbols}</m:t></m:r>"


FORMULAS = {
    "E=mc^2": f"{sign('E=mc')}<m:sSup><m:sSupPr/><m:e>{sign('')}</m:e><m:sup>{sign('2')}</m:sup></m:sSup>",
    "sin θ=(mλ+1)/a": f"<m:func><m:fName>{sign('sin')}</m:fName><m:e>{sign('θ')}</m:e></m:func>{sign('=')}"
    f"<m:f><m:fPr/><m:num>{sign('mλ+1')}</m:num><m:den>{sign('a')}</m:den></m:f>",
    "2.2×10^(-6) < √(x)": f"{sign('2.2×')}"
    f"<m:sSup><m:e>{sign('10')}</m:e><m:sup>{sign('-6')}</m:sup></m:sSup>{sign(' &lt; ')}"
    f"<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/><m:e>{sign('x')}</m:e></m:rad>",
    "∑_(i=1)^n x_i": f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>"
    f"<m:sub>{sign('i=1')}</m:sub><m:sup>{sign('n')}</m:sup>"
    f"<m:e><m:sSub><m:e>{sign('x')}</m:e><m:sub>{sign('i')}</m:sub></m:sSub></m:e></m:nary>",
    "|[a, b; c, d]|": "<m:d><m:dPr><m:begChr m:val='|'/><m:endChr m:val='|'/></m:dPr><m:e><m:m>"
    f"<m:mr><m:e>{sign('a')}</m:e><m:e>{sign('b')}</m:e></m:mr><m:mr><m:e>{sign('c')}</m:e><m:e>{sign('d')}</m:e></m:mr>"
    "</m:m></m:e></m:d>",
}


@pytest.mark.parametrize("written", FORMULAS)
def test_docx_keeps_fractions_and_powers_of_its_formulas(pages, written):
    document = Document()
    document.add_paragraph("FORMULA")

    def with_formula(name, data):
        begin = '</w:t></w:r><m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
        math = f"{begin}{FORMULAS[written]}</m:oMath><w:r><w:t>".encode()
        return data.replace(b"FORMULA", math) if name == "word/document.xml" else data

    (page,) = pages(repacked(saved(document), with_formula), "docx")
    assert unescape(page.markdown.replace("\\", "")) == written


def slides():
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "The plan"
    first.placeholders[1].text = "Buy rope\nSail"
    first.placeholders[1].text_frame.paragraphs[1].level = 1
    first.notes_slide.notes_text_frame.text = "Speak slowly."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Figures"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for i, words in enumerate(["Month", "Sales", "May", "12"]):
        table.cell(i // 2, i % 2).text = words
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("Rain", (1.5, 20))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(4), Inches(4), Inches(2), data)
    second.shapes.add_picture(small_picture(), Inches(6), Inches(6))
    return deck


def test_pptx_has_a_page_for_each_slide_with_lists_tables_charts_and_notes(pages):
    first, second = pages(saved(slides()), "pptx")
    assert first.markdown == "# The plan\n\n- Buy rope\n  - Sail\n\n## Notes\n\nSpeak slowly."
    assert first.name == "The plan"
    assert "# Figures\n\n| Month | Sales |\n| --- | --- |\n| May | 12 |" in second.markdown
    assert "|  | Rain |\n| --- | --- |\n| North | 1.5 |\n| South | 20 |" in second.markdown
    assert second.pictures == 1


def test_xlsx_has_a_page_for_each_sheet_as_a_table_of_what_its_cells_show(pages):
    book = Workbook()
    sheet = book.active
    sheet.title = "Prices"
    sheet["B2"], sheet["C2"], sheet["E2"] = "Item", "Price", "When"
    sheet["B5"], sheet["C5"], sheet["E5"] = "Rope | thick", 3.0, date(2026, 3, 1)
    sheet["B6"], sheet["C6"], sheet["E6"] = True, 0.1 + 0.2, datetime(2026, 3, 1, 9, 30)
    book.create_sheet("Empty")
    first, second = pages(saved(book), "xlsx")
    assert first.markdown == (
        "# Prices\n\n| Item | Price | When |\n| --- | --- | --- |\n| Rope \\| thick | 3 | 2026-03-01 |\n"
        "| TRUE | 0.3 | 2026-03-01T09:30:00 |"
    )
    assert (second.markdown, second.name) == ("# Empty", "Empty")


def test_xlsx_stops_where_a_page_may_not_be_longer(pages):
    book = Workbook()
    for number in range(2_000):
        book.active.append([number, "x" * 50])
    (page,) = pages(saved(book), "xlsx", characters=5_000)
    assert 5_000 < len(page.markdown) < 8_000


def test_epub_has_a_page_for_each_chapter_in_the_order_of_reading(pages):
    chapters = ["<h1>Second</h1><p>Then.</p><img src='x.png' alt='A map'/>", "<h1>First</h1><p>Begin.</p>", "<p> </p>"]
    first, second = pages(epub(chapters), "epub")
    assert first.markdown == "# First\n\nBegin."
    assert second.markdown == "# Second\n\nThen.\n\n![A map]()"
    assert second.pictures == 1


BOMB = b"<w:document>" + b"A" * 20_000_000


@pytest.mark.parametrize("extension", ["docx", "pptx", "xlsx", "epub"])
def test_what_is_no_archive_and_what_would_fill_the_memory_is_refused(pages, extension):
    with pytest.raises(Unreadable, match="is damaged"):
        pages(b"PK but nothing more", extension)
    with pytest.raises(Unreadable, match="protected by a password, or of a format before 2007"):
        pages(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, extension)
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", BOMB)
    assert len(out.getvalue()) < 100_000
    with pytest.raises(Unreadable, match="would be 20 MB in 1 files when unpacked, more than 10 MB"):
        pages(out.getvalue(), extension, unpacked_bytes=10_000_000)


@pytest.mark.parametrize(
    ("extension", "why"),
    [("docx", "is no Word document"), ("pptx", "is no presentation"), ("xlsx", "is no workbook"), ("epub", "no book")],
)
def test_an_archive_of_something_else_is_refused(pages, extension, why):
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(Unreadable, match=why):
        pages(out.getvalue(), extension)


def test_a_size_that_is_lied_about_does_not_unpack_more_than_it_says(pages):
    content = saved(report())
    at = content.rindex(b"PK\x01\x02")
    for place in [i for i in range(len(content)) if content[i : i + 4] == b"PK\x01\x02"]:
        content = content[: place + 24] + (10).to_bytes(4, "little") + content[place + 28 :]
    assert at
    with pytest.raises(Unreadable, match="is damaged"):
        pages(content, "docx")


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))


@pytest.mark.parametrize(
    ("extension", "part"),
    [("docx", "word/document.xml"), ("pptx", "ppt/slides/slide1.xml"), ("xlsx", "xl/sharedStrings.xml"),
     ("epub", "OEBPS/c 0.xhtml")],
)  # fmt: skip
def test_entities_that_unfold_without_end_are_read_as_nothing_or_refused(write, parser, extension, part):
    book = Workbook()
    book.active.append(["LAUGH"])
    document = Document()
    document.add_paragraph("LAUGH")
    deck = slides()
    deck.slides[0].shapes.title.text = "LAUGH"
    made = {"docx": document, "pptx": deck, "xlsx": book}
    content = saved(made[extension]) if extension in made else epub(["<p>LAUGH</p>"])

    def bomb(name, data):
        if name != part:
            return data
        head, _, body = data.decode().rpartition("?>")
        kind = f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>'
        return f"{head + '?>' if head else ''}{kind}{body.replace('LAUGH', '&l11;')}".encode()

    try:
        _, *found = parser.pages(write(f"bomb.{extension}", repacked(content, bomb)), extension)
        assert all(len(page.markdown) < 1_000 for page, _ in found)
    except Unreadable as error:
        assert "cannot be read" in str(error) or "is no" in str(error) or "is damaged" in str(error)


def test_a_book_that_is_protected_against_copying_is_refused(pages):
    with pytest.raises(Unreadable, match="is protected against copying"):
        pages(epub(["<p>x</p>"], encrypted=True), "epub")


def test_documents_without_text_are_refused(pages):
    with pytest.raises(Unreadable, match="has no text"):
        pages(saved(Document()), "docx")
    with pytest.raises(Unreadable, match="has no slides"):
        pages(saved(Presentation()), "pptx")
    with pytest.raises(Unreadable, match="has no text"):
        pages(epub([" "]), "epub")


def install_libreoffice(folder, monkeypatch, *pages):
    """Put a program in the place of LibreOffice, which converts everything to a PDF of these pages."""
    drawn, program = folder / "bin" / "drawn.pdf", folder / "bin" / "soffice"
    program.parent.mkdir()
    drawn.write_bytes(pdf(*pages))
    program.write_text(
        '#!/bin/sh\nwhile [ "$1" != --outdir ]; do shift; done\n'
        f'name=$(basename "$3"); cp "{drawn}" "$2/${{name%.*}}.pdf"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def shade(image):
    """The shade of the middle of a picture."""
    picture = Image.open(BytesIO(image)).convert("L")
    middle = picture.crop((picture.width // 2, picture.height // 2, picture.width // 2 + 1, picture.height // 2 + 1))
    return {0: "black", 255: "white"}.get(middle.tobytes()[0], "grey")


def test_slides_have_the_pictures_that_libreoffice_draws(pages, tmp_path, monkeypatch):
    assert [page.image for page in pages(saved(slides()), "pptx")] == [b"", b""]
    black = "0 0 612 792 re f"
    install_libreoffice(tmp_path, monkeypatch, [text(72, 72, "The plan")], [black])
    first, second = pages(saved(slides()), "pptx")
    assert [shade(page.image) for page in (first, second)] == ["white", "black"] and second.thumbnail
    assert first.markdown.startswith("# The plan")


def test_a_text_that_is_paged_in_another_way_has_the_picture_with_its_words(pages, tmp_path, monkeypatch):
    letter = Document()
    letter.add_paragraph("Ropes are kept below the deck of the ship.")
    cover, black = [text(72, 72, "Cover")], "0 100 612 500 re f"
    install_libreoffice(tmp_path, monkeypatch, cover, [black, *lines(72, 72, ["Ropes are kept below the deck"])])
    (page,) = pages(saved(letter), "docx")
    assert shade(page.image) == "black"


def test_a_document_that_libreoffice_cannot_draw_is_read_without_pictures(pages, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "soffice"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    first, _ = pages(saved(slides()), "pptx")
    assert (first.name, first.image) == ("The plan", b"")


def test_adding_again_draws_what_could_not_be_drawn(write, parser, tmp_path, monkeypatch):
    path, place = write("plan.pptx", saved(slides())), Place("plan", "plan.pptx", "plan.pptx")
    monkeypatch.setenv("PATH", "/nowhere")
    before = read_document(path, place, parser)
    *_, top = [part for part in before.read() if isinstance(part, Node)]
    assert top.fields["version"] in before.versions
    install_libreoffice(tmp_path, monkeypatch, [], [])
    parser.close()
    again = read_document(path, place, parser)
    assert top.fields["version"] not in again.versions
    assert any(isinstance(part, Attachment) for part in again.read())


W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
)


def edited_docx():
    """A text with tracked changes, a move, check boxes and a comment."""
    document = Document()
    document.add_heading("Plan", 1)
    line = document.add_paragraph("We sail on ")._p
    line.append(parse_xml(f'<w:del {W} w:id="1" w:author="A"><w:r><w:delText>Monday</w:delText></w:r></w:del>'))
    line.append(parse_xml(f'<w:ins {W} w:id="2" w:author="A"><w:r><w:t>Tuesday</w:t></w:r></w:ins>'))
    for kind, words in (("moveFrom", "MOVED AWAY"), ("moveTo", "moved here")):
        moved = f'<w:{kind} {W} w:id="3" w:author="A"><w:r><w:t>{words}</w:t></w:r></w:{kind}>'
        document.add_paragraph("")._p.append(parse_xml(moved))
    for checked, words in ((1, "ropes"), (0, "lamps")):
        box = document.add_paragraph("")
        box._p.append(parse_xml(
            f'<w:sdt {W}><w:sdtPr><w14:checkbox><w14:checked w14:val="{checked}"/></w14:checkbox></w:sdtPr>'
            "<w:sdtContent><w:r><w:t>☐</w:t></w:r></w:sdtContent></w:sdt>"
        ))  # fmt: skip
        box.add_run(words)
    commented = document.add_paragraph("The ferry is late.")
    document.add_comment(commented.runs, text="Is it?", author="Ann", initials="AB")
    document.add_paragraph("The end.")
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def test_a_docx_reads_as_if_its_changes_were_accepted_with_boxes_and_comments_in_place(pages):
    (page,) = pages(edited_docx(), "docx")
    assert page.markdown == (
        "# Plan\n\nWe sail on Tuesday\n\nmoved here\n\n[x] ropes\n\n[ ] lamps\n\n"
        "The ferry is late.\n\n[Comment AB1: Is it?]\n\nThe end."
    )
    assert page.unit == "section"


def test_footnotes_stand_below_the_paragraph_that_refers_to_them():
    html = (
        '<p>One<sup><a href="#footnote-1" id="footnote-ref-1">[1]</a></sup> and two'
        '<sup><a href="#footnote-2" id="footnote-ref-2">[2]</a></sup>.</p><hr class="page-end" /><p>Next.</p>'
        '<ol><li id="footnote-1"><p>First <a href="#footnote-ref-1">↑</a></p></li>'
        '<li id="footnote-2"><p>Second <a href="#footnote-ref-2">↑</a></p></li></ol>'
    )
    text = markdown_of(with_notes(html), page_end="page-end").replace(PAGE_END, "PAGE")
    assert [line for line in text.splitlines() if line] == [
        "One[^1] and two[^2].",
        "[^1]: First",
        "[^2]: Second",
        "PAGE",
        "Next.",
    ]


def test_a_long_text_without_headings_is_cut_between_paragraphs(pages):
    document = Document()
    for number in range(60):
        document.add_paragraph(f"{number} " + "sail " * 100)
    out = BytesIO()
    document.save(out)
    read = pages(out.getvalue(), "docx")
    assert [page.unit for page in read] == ["section"] * 2
    assert max(len(page.markdown) for page in read) <= LONG_SECTION
