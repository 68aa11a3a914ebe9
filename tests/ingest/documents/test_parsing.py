"""The process that parses: what it answers, what ends it, and that nothing ends the one that asks."""

import os
import signal
import subprocess
import sys

import pytest
from PIL import Image, ImageDraw, ImageFont

from weftwork.ingest.documents.ocr import ocr_is_installed
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.values import Limits, Unreadable

from .making import PROSE, form, lines, pdf, picture, text


def three(write):
    return write("a.pdf", pdf(*[lines(72, 72, PROSE)] * 3))


def test_the_number_of_pages_comes_first_then_each_page_with_its_pictures(parser, write):
    count, *found = parser.pages(three(write), "pdf")
    assert count == 3
    assert [page.markdown for page, _ in found] == [" ".join(PROSE)] * 3
    assert all(page.image.startswith(b"\xff\xd8") and page.thumbnail.startswith(b"\xff\xd8") for page, _ in found)
    assert [cut for _, cut in found] == [0, 0, 0]


def test_one_process_reads_all_documents(parser, write):
    path = three(write)
    list(parser.pages(path, "pdf"))
    first = parser._process.pid
    with pytest.raises(Unreadable, match="is no PDF"):
        list(parser.pages(write("b.pdf", b"nothing"), "pdf"))
    list(parser.pages(path, "pdf"))
    assert parser._process.pid == first


def test_a_process_that_dies_is_told_of_the_document_and_the_next_one_is_read(parser, write):
    path = three(write)
    answers = parser.pages(path, "pdf")
    assert next(answers) == 3
    next(answers)
    parser._process.send_signal(signal.SIGSTOP)  # so that it cannot have answered already what the pipe does not hold
    parser._process.kill()
    with pytest.raises(Unreadable, match=r"makes the parser fail at page \d \(SIGKILL\)"):
        list(answers)
    assert len(list(parser.pages(path, "pdf"))) == 4


def test_a_process_that_hangs_is_ended_in_time(write):
    with Parser(Limits(seconds=60)) as parser:
        path = three(write)
        answers = parser.pages(path, "pdf")
        next(answers)
        parser._process.send_signal(signal.SIGSTOP)
        parser.limits = Limits(seconds=0.2)
        with pytest.raises(Unreadable, match=r"takes too long: page \d was not there after 0.2 s|the first page"):
            list(answers)
        parser.limits = Limits(seconds=60)
        assert len(list(parser.pages(path, "pdf"))) == 4


def test_answers_that_nobody_took_are_not_taken_for_those_to_the_next_question(parser, write):
    answers = parser.pages(three(write), "pdf")
    next(answers)
    answers.close()
    count, (page, _) = parser.pages(write("b.pdf", pdf([text(72, 72, "Another one")])), "pdf")
    assert (count, page.markdown) == (1, "Another one")


def test_a_page_that_is_too_long_is_cut_and_how_much_is_said(write):
    with Parser(Limits(seconds=60, characters=100)) as parser:
        _, (page, cut) = parser.pages(write("a.html", b"<p>" + b"x" * 150 + b"</p>"), "html")  # type: ignore[misc]
    assert (len(page.markdown), cut) == (100, 50)


def test_a_document_that_needs_too_much_memory_is_refused_and_the_next_one_is_read(write):
    path = write("large.png", b"")
    Image.new("1", (16_000, 16_000)).save(path)
    with Parser(Limits(seconds=60, memory_bytes=700_000_000, pixels=10**9)) as parser:
        with pytest.raises(Unreadable, match=r"needs more than 700 MB|makes the parser fail|cannot be read"):
            list(parser.pages(path, "png"))
        assert len(list(parser.pages(three(write), "pdf"))) == 4


def test_a_page_that_draws_itself_over_and_over_is_drawn_or_refused(write):
    """Twenty forms that each draw the next one ten times: 10^20 drawings in a few kilobytes."""
    extra = [form(b"/F Do " * 10, f"/F {number + 1} 0 R" if number < 29 else "/F 3 0 R") for number in range(10, 30)]
    content = pdf([f"/F Do {text(72, 72, 'Hello')}"], extra=extra, resources="/F 10 0 R")
    with Parser(Limits(seconds=3, memory_bytes=1_000_000_000)) as parser:
        try:
            _, (page, _) = parser.pages(write("bomb.pdf", content), "pdf")  # type: ignore[misc]
            assert "Hello" in page.markdown
        except Unreadable as error:
            assert "takes too long" in str(error) or "parser fail" in str(error)


def test_a_stream_that_inflates_to_a_gigabyte_is_read_or_refused(write):
    content = pdf(b" " * 300_000_000 + text(72, 72, "Hello").encode())
    assert len(content) < 1_000_000
    with Parser(Limits(seconds=20, memory_bytes=700_000_000)) as parser:
        try:
            assert len(list(parser.pages(write("bomb.pdf", content), "pdf"))) == 2
        except Unreadable as error:
            assert "takes too long" in str(error) or "parser fail" in str(error) or "memory" in str(error)
        assert len(list(parser.pages(three(write), "pdf"))) == 4


def test_a_scan_is_read_in_the_process_if_ocr_is_installed(parser, write):
    picture = Image.new("RGB", (300, 60), "white")
    ImageDraw.Draw(picture).text((10, 10), "Harbour", "black", font=ImageFont.load_default(36))
    path = write("scan.png", b"")
    picture.save(path)
    _, (page, _) = parser.pages(path, "png")
    assert (page.markdown, page.text_source) == (("Harbour", "ocr") if parser.reads_pictures else ("", "none"))


def test_characters_that_move_a_cursor_are_left_out(parser, write):
    _, (page, _) = parser.pages(write("a.html", "<p>red \x1b[31m\x9b31m text</p>".encode()), "html")
    assert page.markdown == "red [31m31m text"


def test_a_module_in_the_folder_that_someone_is_in_is_not_imported(tmp_path, monkeypatch, write):
    for name in ("PIL.py", "json.py", "weftwork.py"):
        (tmp_path / name).write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(tmp_path)
    with Parser(Limits(seconds=60)) as parser:
        assert len(list(parser.pages(three(write), "pdf"))) == 4


def test_names_of_any_bytes_are_read(parser, tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9 \n ..[1].pdf"
    with open(path, "wb") as file:
        file.write(pdf([text(72, 72, "Found")]))
    _, (page, _) = parser.pages(tmp_path.__class__(os.fsdecode(path)), "pdf")
    assert page.markdown == "Found"


def test_the_process_ends_with_the_one_that_asks(write):
    program = (
        "import sys\nfrom pathlib import Path\nfrom weftwork.ingest.documents.parsing import Parser\n"
        "parser = Parser()\nanswers = parser.pages(Path(sys.argv[1]), 'pdf')\nnext(answers)\n"
        "print(parser._process.pid, flush=True)\nimport os\nos._exit(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(three(write))], capture_output=True, check=False)
    pid = int(done.stdout)
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if b"Z" in subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False).stdout:
            return
        subprocess.run(["sleep", "0.1"], check=True)
    raise AssertionError("the parser outlived its owner by a minute")


@pytest.mark.skipif(not ocr_is_installed(), reason="pictures are not read here: run  pip install 'weftwork[ocr]'")
def test_a_picture_that_takes_too_long_costs_its_page_and_no_other(write):
    path = write("scan.pdf", pdf(lines(72, 72, PROSE), [picture(0, 0, 612, 792)], lines(72, 72, PROSE)))
    with Parser(Limits(seconds=60, ocr_seconds=0.001)) as parser:
        pages = [answer[0] for answer in parser.pages(path, "pdf") if not isinstance(answer, int)]
    assert [page.text_source for page in pages] == ["text layer", "none", "text layer"]
