"""OpenDocument, RTF, templates and macro files, and Office formats before 2007."""

import re
from io import BytesIO
from zipfile import ZipFile

import pytest
from openpyxl import Workbook

from weftwork.ingest.documents.values import Unreadable

from .making import opendocument

RTF = rb"""{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\*\generator Writer;}{\info{\title Hidden}}
\pard\outlinelevel0 Mirror care\par\pard Caf\'e9 \u8211?\b never\b0  rub. {\v unseen}\par
\trowd\pard\intbl part\cell price\cell\row\pard\intbl tube\cell 80\cell\row
\pard After {\pict\pngblip 89504e47}it.\par\page Second page.\par}"""


def test_rtf_is_read_as_text_with_headings_tables_and_page_breaks(pages):
    first, second = pages(RTF, "rtf")
    assert first.markdown == (
        "# Mirror care\n\nCafé –never rub.\n\n| part | price |\n| --- | --- |\n| tube | 80 |\n\nAfter it."
    )
    assert second.markdown == "Second page."


def test_what_only_has_the_name_of_rtf_is_refused(pages):
    with pytest.raises(Unreadable, match="is no RTF file"):
        pages(b"plain words", "rtf")


def test_odt_keeps_headings_lists_tables_and_footnotes_and_leaves_out_deleted_text_and_comments(pages):
    body = (
        "<text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Finch</text:h><text:p>A<text:s text:c="2"/>telescope<text:note>'
        "<text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>Built in May.</text:p></text:note-body></text:note>.</text:p>"
        "<text:p># no heading<office:annotation><text:p>remark</text:p></office:annotation></text:p>"
        "<text:list><text:list-item><text:p>tube</text:p><text:list><text:list-item><text:p>steel</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell/>"
        "</table:table-row><table:table-row><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row>"
        "</table:table><text:soft-page-break/><text:p>Page two.</text:p>"
    )
    first, second = pages(opendocument("text", body), "odt")
    assert first.markdown == (
        "# Finch\n\nA  telescope [Built in May.].\n\n\\# no heading\n\n- tube\n  - steel\n\n| a |\n| --- |\n| 1 |"
    )
    assert second.markdown == "Page two."


def test_a_sheet_of_an_ods_is_a_page_and_its_empty_rest_is_nothing(pages):
    body = (
        '<table:table table:name="Prices"><table:table-row><table:table-cell><text:p>part</text:p></table:table-cell>'
        '<table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell>'
        '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048575"><table:table-cell/></table:table-row></table:table>'
        '<table:table table:name="Empty"/>'
    )
    first, second = pages(opendocument("spreadsheet", body), "ods")
    assert (first.markdown, second.markdown) == ("# Prices\n\n| part | x | x |\n| --- | --- | --- |", "# Empty")


def test_a_slide_of_an_odp_has_its_title_text_and_notes(pages):
    body = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Optics</text:p></draw:text-box>'
        "</draw:frame><draw:frame><draw:text-box><text:p>A mirror.</text:p></draw:text-box></draw:frame>"
        "<presentation:notes><draw:frame><draw:text-box><text:p>Say more.</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
    )
    (page,) = pages(opendocument("presentation", body), "odp")
    assert (page.name, page.markdown) == ("Optics", "# Optics\n\nA mirror.\n\n## Notes\n\nSay more.")


def test_a_damaged_or_wrong_opendocument_file_is_refused(pages):
    with pytest.raises(Unreadable, match="is no OpenDocument text"):
        pages(opendocument("spreadsheet", ""), "odt")
    with pytest.raises(Unreadable, match="is damaged"):
        pages(b"PK no zip", "ods")


def workbook():
    book = Workbook()
    book.active.title = "Bad"
    book.active.append(["lost"])
    book.create_sheet("Good").append(["kept", 7])
    out = BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize("extension", ["xlsm", "xltx", "xltm"])
def test_workbooks_with_macros_and_templates_are_read(pages, extension):
    assert "| kept | 7 |" in pages(workbook(), extension)[1].markdown


def test_a_damaged_sheet_costs_that_sheet(pages):
    out = BytesIO()
    with ZipFile(BytesIO(workbook())) as old, ZipFile(out, "w") as new:
        for member in old.infolist():
            data = old.read(member)
            new.writestr(member.filename, data[:-30] if re.search("sheet1.xml$", member.filename) else data)
    bad, good = pages(out.getvalue(), "xlsx")
    assert "This sheet cannot be read" in bad.markdown
    assert "| kept | 7 |" in good.markdown


@pytest.mark.parametrize(("extension", "newer"), [("doc", "DOCX"), ("xls", "XLSX"), ("ppt", "PPTX")])
def test_formats_before_2007_name_what_is_missing(pages, extension, newer, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unreadable, match=f"install it, or save the file as {newer}"):
        pages(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), extension)
