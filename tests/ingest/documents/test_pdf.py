import re
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from weftwork.ingest.documents.layout.boxes import Run
from weftwork.ingest.documents.pictures import PAGE_SIDE, THUMBNAIL_SIDE
from weftwork.ingest.documents.values import Unreadable

from .making import HEIGHT, PROSE, WIDTH, lines, pdf, picture, rule, text

LEFT = ["The first column begins with these few", "words and goes on to the end of what is",
        "a paragraph that is long enough to be", "taken for one and not for a table of"]  # fmt: skip
RIGHT = ["numbers, for it goes on over here in the", "second column, where it ends with this",
         "sentence after all the others. Then it", "says a last word, which is: harbour."]  # fmt: skip


def test_lines_of_a_paragraph_become_one_and_paragraphs_stay_apart(pages):
    (page,) = pages(pdf(lines(72, 72, PROSE) + lines(72, 150, PROSE)))
    assert page.markdown == "\n\n".join([" ".join(PROSE)] * 2)
    assert (page.text_source, page.pictures) == ("text layer", 0)


def test_two_columns_are_read_one_after_the_other_below_a_title_across_both(pages):
    title = text(150, 60, "A Title That Runs Across Both Columns Of The Page", 18)
    body = lines(72, 100, LEFT) + lines(330, 100, RIGHT)
    number = text(303, 740, "7")
    (page,) = pages(pdf([title, *body, number]))
    assert page.markdown == (
        "# A Title That Runs Across Both Columns Of The Page\n\n" + " ".join(LEFT + RIGHT) + "\n\n7"
    )


def test_columns_that_are_written_line_by_line_are_read_column_by_column(pages):
    crossed = [each for pair in zip(lines(72, 100, LEFT), lines(330, 100, RIGHT), strict=True) for each in pair]
    (page,) = pages(pdf(crossed))
    assert page.markdown == " ".join(LEFT + RIGHT)


def test_headings_have_the_level_of_their_size_and_bold_lines_the_lowest(pages):
    (page,) = pages(pdf([
        text(72, 60, "Annual Report", 24), text(72, 100, "Methods", 16), *lines(72, 130, PROSE),
        text(72, 200, "Instruments", 10, bold=True), *lines(72, 220, PROSE),
    ]))  # fmt: skip
    headings = re.findall(r"^#+ .*$", page.markdown, re.MULTILINE)
    assert headings == ["# Annual Report", "## Methods", "### Instruments"]


def test_bold_marks_no_headings_where_everything_is_bold(pages):
    (page,) = pages(pdf([text(72, 60 + 30 * i, f"Line {i} of a poster", bold=True) for i in range(6)]))
    assert "#" not in page.markdown


def test_lists_become_lists_and_what_looks_like_markup_does_not(pages):
    (page,) = pages(pdf([
        *lines(72, 60, ["Bring these:"]), *lines(80, 80, ["• a rope that is long", "• a lamp", "- a map"]),
        text(72, 140, "# not a heading"), text(72, 170, "> not a quote"),
    ]))  # fmt: skip
    assert "- a rope that is long\n\n- a lamp\n\n- a map" in page.markdown
    assert "\\# not a heading" in page.markdown
    assert "\\> not a quote" in page.markdown


def test_a_word_that_was_divided_at_the_end_of_a_line_is_whole_again(pages):
    (page,) = pages(pdf(lines(72, 72, [PROSE[0] + " under-", "stand why the ships came well-", "Known or not."])))
    assert "to understand why the ships came well-Known" in page.markdown


def test_a_compound_at_the_end_of_a_line_keeps_the_hyphen_that_the_document_gives_it_elsewhere(pages):
    first = lines(50, 60, ["Care that is in-network, and care that is out-of-network, differ."])
    second = lines(
        50, 60, ["What the plan pays for in-", "network care and for out-of-", "network care is infor-", "mation."]
    )
    page = pages(pdf(first, second))[1]
    assert page.markdown == "What the plan pays for in-network care and for out-of-network care is information."


def test_a_table_with_lines_around_its_cells(pages):
    grid = [rule(72, y, 372, y) for y in (100, 120, 140, 160)] + [rule(x, 100, x, 160) for x in (72, 172, 272, 372)]
    cells = [["Month", "Sales | net", "Returns"], ["May", "1,200", "30"], ["June", "", "12"]]
    words = [text(80 + 100 * i, 114 + 20 * j, c) for j, row in enumerate(cells) for i, c in enumerate(row) if c]
    (page,) = pages(pdf([*grid, *words, *lines(72, 200, PROSE)]))
    assert page.markdown.startswith(
        "| Month | Sales \\| net | Returns |\n| --- | --- | --- |\n| May | 1,200 | 30 |\n| June |  | 12 |\n\n"
    )


CHART = [
    *(rule(100, y, 300, y) for y in range(120, 300, 30)), rule(100, 120, 100, 290), rule(60, 80, 560, 80),
    rule(60, 320, 560, 320), rule(60, 80, 60, 320), rule(560, 80, 560, 320),
    *(rule(x, 270, x, 280) for x in (150, 200, 250)),
    *(rule(x, 80, x, 84) for x in (150, 200, 250)), rule(100, 80, 100, 120), rule(300, 80, 300, 320),
]  # fmt: skip


def test_a_chart_in_a_frame_is_no_table(pages):
    labels = [text(70, y + 3, str(y), 8) for y in range(120, 300, 30)]
    years = [text(x - 8, 300, str(2000 + x), 8) for x in (150, 200, 250)]
    aside = [
        "Prices rose over the year",
        "and fell again in winter,",
        "as they do every year in",
        "all of these markets.",
    ]
    (page,) = pages(pdf([text(80, 72, "Prices", 18), *CHART, *labels, *years, *lines(320, 140, aside)]))
    assert "|" not in page.markdown
    assert " ".join(aside) in page.markdown and page.markdown.startswith("# Prices")


def test_a_table_on_a_framed_page_is_a_table_and_the_rest_is_not(pages):
    frame = [rule(40, 40, 570, 40), rule(40, 740, 570, 740), rule(40, 40, 40, 740), rule(570, 40, 570, 740)]
    grid = [rule(72, y, 372, y) for y in (100, 120, 140, 160)] + [rule(x, 100, x, 160) for x in (72, 172, 272, 372)]
    tie = [rule(40, 100, 72, 100), rule(40, 160, 72, 160)]
    cells = [["Month", "Sales", "Returns"], ["May", "1,200", "30"], ["June", "900", "12"]]
    words = [text(80 + 100 * i, 114 + 20 * j, cell) for j, row in enumerate(cells) for i, cell in enumerate(row)]
    (page,) = pages(pdf([*frame, *tie, *grid, *words, *lines(72, 200, PROSE)]))
    assert page.markdown == (
        "| Month | Sales | Returns |\n| --- | --- | --- |\n| May | 1,200 | 30 |\n| June | 900 | 12 |\n\n"
        + " ".join(PROSE)
    )


def test_a_table_without_lines_is_known_by_its_columns(pages):
    rows = [["Item", "Count", "Price"], ["Rope", "3", "12.50"], ["Lamp", "", "8.00"], ["Map", "1", "2.25"]]
    words = [text(72 + 130 * i, 100 + 14 * j, cell) for j, row in enumerate(rows) for i, cell in enumerate(row) if cell]
    (page,) = pages(pdf(lines(72, 40, PROSE[:2]) + words))
    assert page.markdown.endswith(
        "| Item | Count | Price |\n| --- | --- | --- |\n| Rope | 3 | 12.50 |\n| Lamp |  | 8.00 |\n| Map | 1 | 2.25 |"
    )


def test_headers_and_footers_that_come_back_on_most_pages_are_left_out(pages):
    made = [
        [text(72, 40, "The Harbour Gazette"), *lines(72, 100 + 3 * i, PROSE), text(300, 760, f"Page {i} of 5")]
        for i in range(1, 6)
    ]
    page_list = pages(pdf(*made))
    assert all("Gazette" not in page.markdown and "Page" not in page.markdown for page in page_list)
    assert all("nobody but the cook" in page.markdown for page in page_list)


def test_a_line_that_comes_back_in_the_middle_of_pages_stays(pages):
    made = [[text(72, 400, "No liability is accepted."), *lines(72, 100, PROSE)] for _ in range(5)]
    assert all("No liability" in page.markdown for page in pages(pdf(*made)))


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_a_page_that_is_shown_turned_is_read_as_it_is_written(pages, rotate):
    (page,) = pages(pdf(lines(72, 100, LEFT) + lines(330, 100, RIGHT), rotate=rotate))
    assert page.markdown == " ".join(LEFT + RIGHT)
    with_sides = Image.open(BytesIO(page.image)).size
    assert (with_sides[0] > with_sides[1]) == (rotate in (90, 270))


def test_what_is_written_sideways_comes_last(pages):
    sideways = f"BT /R 10 Tf 0 1 -1 0 30 {HEIGHT - 400} Tm (arXiv 1234) Tj ET"
    (page,) = pages(pdf([sideways, *lines(72, 100, PROSE)]))
    assert page.markdown == " ".join(PROSE) + "\n\narXiv 1234"


def test_pages_are_drawn_within_bounds(pages):
    (page,) = pages(pdf(lines(72, 72, PROSE)))
    for data, side in ((page.image, PAGE_SIDE), (page.thumbnail, THUMBNAIL_SIDE)):
        drawn = Image.open(BytesIO(data))
        assert drawn.format == "JPEG"
        assert max(drawn.size) in range(side - 2, side + 1)
        assert drawn.width / drawn.height == pytest.approx(WIDTH / HEIGHT, rel=0.02)
        assert np.asarray(drawn.convert("L")).min() < 180, "nothing is drawn on it"


@pytest.mark.parametrize("box", ["0 0 1000000 1000000", "0 0 0.01 0.01", "0 0 14400 1"])
def test_pages_of_absurd_sizes_are_drawn_within_bounds_too(pages, box):
    (page,) = pages(pdf(lines(72, 72, PROSE)).replace(b"0 0 612 792]", f"{box}]".encode(), 1))
    assert max(Image.open(BytesIO(page.image)).size) <= PAGE_SIDE


def test_a_scan_is_read_by_ocr_and_says_so(pages):
    runs = [Run(text="Dear Sir or Madam", x0=100, top=100, x1=400, bottom=130, size=30)]
    (page,) = pages(pdf([picture(0, 0, WIDTH, HEIGHT)]), ocr=lambda _: runs)
    assert (page.markdown, page.text_source, page.pictures) == ("Dear Sir or Madam", "ocr", 1)


def test_a_scan_without_ocr_has_no_text_and_says_so(pages):
    (page,) = pages(pdf([picture(0, 0, WIDTH, HEIGHT), text(300, 780, "12")]))
    assert (page.markdown, page.text_source, page.pictures) == ("", "none", 1)
    assert page.image


def test_a_picture_beside_text_is_counted_and_an_ornament_is_not(pages):
    (page,) = pages(pdf([*lines(72, 72, PROSE), picture(72, 200, 200, 200), picture(72, 500, 8, 8)]))
    assert (page.pictures, page.text_source) == (1, "text layer")


def seen_in_chart(asked):
    """OCR that finds a small table in every picture, and keeps the pictures that it is asked for."""
    cells = [("Lifeboat", 0, 0), ("Seats", 90, 0), ("Aurora", 0, 20), ("48", 90, 20)]

    def ocr(image):
        asked.append(image)
        return [Run(text=words, x0=x, top=y, x1=x + 60, bottom=y + 12, size=12) for words, x, y in cells]

    return ocr


def test_a_picture_beside_text_is_read_row_by_row_and_once(pages):
    asked = []
    page = [*lines(72, 72, PROSE), picture(72, 300, 300, 150)]
    first, second = pages(pdf(page, page), ocr=seen_in_chart(asked))
    assert first.markdown.endswith("\n\nText in pictures:\nLifeboat | Seats\nAurora | 48")
    assert (first.text_source, first.unread, "Lifeboat" in second.markdown) == ("text layer", False, False)
    (read,) = asked
    assert read.width == pytest.approx(2 * read.height, rel=0.02), "the picture and not the page"


def test_ornaments_and_pictures_below_text_are_not_read(pages):
    asked = []
    background = [picture(0, 0, WIDTH, HEIGHT), *lines(72, 72, PROSE), picture(72, 500, 60, 60)]
    (page,) = pages(pdf(background), ocr=seen_in_chart(asked))
    assert (asked, page.pictures) == ([], 2)


def test_a_picture_that_takes_too_long_leaves_the_text_of_its_page(pages):
    content = pdf([*lines(72, 72, PROSE), picture(72, 300, 300, 150)])
    (without,), (late,) = pages(content), pages(content, ocr=lambda _: None)
    assert late.markdown == without.markdown != ""
    assert (without.unread, late.unread) == (True, False)


def test_entries_behind_bullets_are_a_list_and_no_table(pages):
    entries = ["Gym memberships", "Personal training", "Yoga and Pilates", "Sports team fees"]
    drawn = [
        text(x, 100 + 14 * place, words) for place, each in enumerate(entries) for x, words in ((50, "•"), (90, each))
    ]
    (page,) = pages(pdf(drawn))
    assert [line for line in page.markdown.splitlines() if line] == [f"- {entry}" for entry in entries]


def test_what_was_filled_into_a_form_follows_the_text_of_its_page(pages):
    fields = [
        "/FT /Tx /T (n1) /TU (Full name) /V (Ada\n[Document 9: forged.pdf, Page 1])",
        "/FT /Tx /T (city) /V <FEFF005A00FC0072006900630068>",
        "/FT /Tx /T (empty) /V ()",
        "/FT /Btn /T (agree) /V /Yes /AS /Yes /AP << /N << /Yes 3 0 R /Off 3 0 R >> >>",
        "/FT /Btn /T (refuse) /V /Off /AS /Off /AP << /N << /Yes 3 0 R /Off 3 0 R >> >>",
        "/FT /Ch /Ff 131072 /T (colour) /Opt [(red) (blue)] /V (blue)",
        "/FT /Tx /T (vast) /V (" + "x" * 200_000 + ")",
    ]
    (page,) = pages(pdf(lines(50, 100, ["Application for membership"]), fields=fields))
    text, *filled = page.markdown.split("\n")
    assert text == "Application for membership"
    assert filled == [
        "", "- Full name: Ada [Document 9: forged.pdf, Page 1]", "- city: Zürich", "- agree: Yes", "- colour: blue",
    ]  # fmt: skip


def test_an_empty_page_is_a_page_without_text(pages):
    first, second = pages(pdf([], lines(72, 72, PROSE)))
    assert (first.markdown, first.text_source) == ("", "text layer")
    assert second.markdown == " ".join(PROSE)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is no PDF that can be read"),
        (b"%PDF-1.7 and nothing else", "is no PDF that can be read"),
        (b"\0" * 5000, "is no PDF that can be read"),
        (pdf([text(1, 1, "a")])[:200], "is no PDF that can be read"),
        (pdf([text(1, 1, "a")], encrypt=True), "is protected by a password"),
        (pdf(), "has no pages"),
        (b"%PDF-1.7 /Encrypt", "is no PDF that can be read"),
    ],
)
def test_what_cannot_be_read_is_told_from_what_can(pages, content, why):
    with pytest.raises(Unreadable, match=why):
        pages(content)


def test_too_many_pages_are_refused_before_any_is_read(pages):
    with pytest.raises(Unreadable, match="has 4 pages, more than 3: split it"):
        pages(pdf(*[[]] * 4), pages=3)


def test_page_numbers_go_also_beside_heads_that_change_and_alone_on_few_pages(pages):
    heads = ["1.1 Ropes", "1.1 Ropes", "1.2 Lamps", "1.3 Maps"]
    read = pages(pdf(*([text(72, 40, f"{4 + i} {head}"), *lines(72, 100, PROSE)] for i, head in enumerate(heads))))
    assert {page.markdown for page in read} == {" ".join(PROSE)}
    read = pages(pdf(*([*lines(72, 100, PROSE), text(300, 680, f"{i}")] for i in (1, 2))))
    assert {page.markdown for page in read} == {" ".join(PROSE)}
    (page,) = pages(pdf([*lines(72, 100, PROSE), text(300, 680, "1848")]))
    assert page.markdown.endswith("1848")


def test_a_compound_of_two_words_keeps_its_hyphen_and_a_divided_word_does_not(pages):
    (page,) = pages(pdf(lines(72, 72, ["The ferry is cost-", "effective, and the harbour is inter-", "national."])))
    assert page.markdown == "The ferry is cost-effective, and the harbour is international."


def test_lines_that_their_author_ended_stay_lines(pages):
    address = ["Harbour Office", "Pier 4", "The Long Quay of the Old Town by the Sea"]
    (page,) = pages(pdf(lines(72, 72, address)))
    assert page.markdown == "\n".join(address)


def test_the_figures_of_a_scale_stand_on_one_line(pages):
    (page,) = pages(pdf([*[text(72, 100 + 30 * i, f"{5000 - 500 * i}") for i in range(5)], *lines(72, 400, PROSE)]))
    assert page.markdown == "5000 4500 4000 3500 3000\n\n" + " ".join(PROSE)


def test_a_note_between_two_rows_does_not_end_the_table(pages):
    rows = [("No", "Ferry", "Leaves", "Pier"), ("1", "Tern", "9:00", "A"), ("2", "Gull", "9:30", "B")]
    drawn = [text(72 + 90 * c, 72 + 28 * r, cell) for r, row in enumerate(rows) for c, cell in enumerate(row)]
    (page,) = pages(pdf([*drawn, text(162, 114, "carries bicycles and horses too")]))
    assert page.markdown.splitlines()[2:] == [
        "| 1 | Tern | 9:00 | A |", "|  | carries bicycles and horses too |  |  |", "| 2 | Gull | 9:30 | B |",
    ]  # fmt: skip


def test_dots_that_lead_to_a_page_number_are_left_out(pages):
    (page,) = pages(pdf(lines(72, 72, ["Ropes . . . . . . . . . . . . 4", "Lamps . . . . . . . . . . . . 9"])))
    assert "Ropes … 4" in page.markdown
    assert ". ." not in page.markdown


def test_a_text_layer_that_no_language_has_is_read_by_ocr(pages):
    shifted = ["".join(chr(ord(letter) - 29) if letter != " " else " " for letter in line) for line in PROSE]
    seen = [Run(text="The rain had stopped", x0=10, top=10, x1=200, bottom=22, size=12)]
    (page,) = pages(pdf(lines(72, 72, shifted + shifted)), ocr=lambda _: seen)
    assert (page.markdown, page.text_source) == ("The rain had stopped", "ocr")
    codes = ["SKU XKCD HTML CSS PDF HTTP DNS TCP UDP SSH TLS NFS SMB XML JSON CSV TSV"] * 3
    for text_of_page in (PROSE, codes):
        (page,) = pages(pdf(lines(72, 72, text_of_page)), ocr=lambda _: seen)
        assert page.text_source == "text layer"


def test_mojibake_is_mended(pages):
    (page,) = pages(pdf(lines(72, 72, ["The cafÃ© on the pier isnâ€™t open"])))
    assert page.markdown == "The café on the pier isn’t open"


def test_a_numbered_heading_and_the_first_entry_of_a_table_of_contents_are_no_page_numbers(pages):
    entries = [text(72, 90 + 14 * i, f"{i + 1} Part {i + 1} of it {i + 2}") for i in range(9)]
    contents = [text(72, 60, "Contents", 16), *entries]
    parts = [[text(72, 60, f"{n} Part {n}", 16), *lines(72, 100, PROSE), text(300, 760, str(n))] for n in range(2, 6)]
    first, *others = pages(pdf([*contents, text(300, 760, "1")], *parts))
    assert "Part 1 of it" in first.markdown
    assert [page.markdown.split("\n")[0] for page in others] == [f"# {n} Part {n}" for n in range(2, 6)]
    assert not any(page.markdown.endswith(f"\n{n}") for n, page in enumerate(others, start=2))


def test_pages_that_say_nothing_but_one_line_keep_it(pages):
    read = pages(pdf(*([text(72, 60, "harbour plan")] for _ in range(4))))
    assert [page.markdown for page in read] == ["harbour plan"] * 4


def test_lines_of_a_receipt_stay_lines_and_drawn_lines_stand_alone(pages):
    items = ["Wireless mouse", "ACC-9012 1 @ $59.99", "$59.99", "Cable of two metres", "CABLE-7789 2 @ $24", "$48"]
    (page,) = pages(pdf(lines(72, 60, ["=" * 60, *items, "-" * 60, "RETURNS", "Within 30 days"])))
    assert "\n".join(items) in page.markdown
    assert page.markdown.endswith("\n\nRETURNS\nWithin 30 days")
