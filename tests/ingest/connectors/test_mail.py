from email.message import EmailMessage
from mailbox import mbox

import pytest
from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors.htmltext import text_of
from weftwork.ingest.connectors.mail import Mail
from weftwork.ingest.connectors.registry import recognise


def letter(name, subject, text, answers=None, sender="Ana Duarte <ana@x.org>", day=1):
    message = EmailMessage()
    message["From"] = sender
    message["To"] = "ben@x.org, Mira <mira@x.org>"
    message["Subject"] = subject
    message["Date"] = f"Mon, {day:02} Jan 2024 10:00:00 +0200"
    message["Message-ID"] = f"<{name}@x.org>"
    if answers:
        message["References"] = " ".join(f"<{answer}@x.org>" for answer in answers)
    message.set_content(text)
    return message


@pytest.fixture
def box(tmp_path):
    path = tmp_path / "archive.mbox"
    kept = mbox(path)
    rich = letter("c", "Re: Mirrors", "plain wins", ("a", "b"), "=?utf-8?q?J=C3=BCrgen?= <j@x.org>", 3)
    rich.add_alternative("<p>html loses</p>", subtype="html")
    rich.add_attachment("column,row\n", subtype="csv", filename="plan.csv")
    rich.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="plan.pdf")
    only_html = letter("d", "News", "x", day=4)
    only_html.set_content(
        "<html><head><style>p{}</style></head><h1>Hi</h1><p>one<br>two &amp; three</p>", subtype="html"
    )
    for message in (
        letter("b", "AW: Re: Mirrors", "From here on\nall is well", ("a",), day=2),
        letter("a", "Mirrors", "When do they come?", day=1),
        rich,
        only_html,
        letter("a", "Mirrors", "When do they come?", day=1),
    ):
        kept.add(message)
    kept.close()
    return path


def test_letters_are_threads_by_what_they_answer(box):
    assert recognise(box).name == "mail"
    reading = read(Mail(), box)
    assert [node.title for node in reading.of("thread")] == ["Mirrors", "News"]
    first, second, third = reading.below(reading.node("Mirrors"))
    assert [node.text for node in (first, second, third)] == [
        "When do they come?", "From here on\nall is well", "plain wins",
    ]  # fmt: skip
    assert first.created_at.isoformat() == "2024-01-01T10:00:00+02:00"
    assert first.fields == {
        "role": "user", "author": "Ana Duarte", "from": "Ana Duarte <ana@x.org>",
        "to": "ben@x.org, Mira <mira@x.org>", "subject": "Mirrors",
    }  # fmt: skip
    assert (third.title, third.fields["attachments"]) == ("Jürgen", ("plan.csv", "plan.pdf"))
    assert [(node.title, node.text.strip(), node.parent) for node in reading.of("file")] == [
        ("plan.csv", "column,row", third.id)
    ]
    assert "1 letters are there twice" in reading.skipped[0].why


def test_html_becomes_text_where_there_is_no_other(box):
    (message,) = (node for node in read(Mail(), box).of("message") if node.fields["subject"] == "News")
    assert message.text == "# Hi\n\none\ntwo & three"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<![if !mso]><p>one</p><![endif]><p>two</p>", "one\n\ntwo"),
        ("<!DOCTYPE html><![what ever]><b>one</b> two", "one two"),
        ("<ul><li>a<li>b</ul><table><tr><td>1<td>2</table><pre>x\n  y</pre>", "- a\n- b\n\n1 | 2\n\nx\n  y"),
        ("<head><title>no</title><body>yes<script>no()</script>", "yes"),
        ("a < b &amp; c &#8364; <", "a < b & c € <"),
    ],
)
def test_any_html_has_a_text(html, text):
    assert " ".join(text_of(html).split()) == " ".join(text.split())


def test_a_folder_of_letters_is_read_together(tmp_path):
    (tmp_path / "notes.txt").write_text("no letter")
    for name, answers in (("a", None), ("b", ("a",))):
        (tmp_path / f"{name}.eml").write_bytes(bytes(letter(name, "Mirrors", f"letter {name}", answers)))
    assert recognise(tmp_path).name == recognise(tmp_path / "a.eml").name == "mail"
    reading = read(Mail(), tmp_path)
    assert len(reading.of("thread")) == 1
    assert [(node.title, node.parent) for node in reading.of("file")] == [("notes.txt", reading.of("folder")[0].id)]
    assert reading.skipped == []
    assert sorted(node.text for node in reading.of("message")) == ["letter a", "letter b"]


def test_letters_that_break_the_rules_are_read_as_far_as_they_can(tmp_path):
    path = tmp_path / "odd.eml"
    path.write_bytes(
        b"From: \xff\xfe<<>\r\nSubject: =?utf-99?q?x?=\r\nDate: yesterday\r\nMessage-ID: <a@b>\r\nReferences: <a@b>\r\n"
        b"Content-Type: text/plain; charset=klingon\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!"
    )
    (message,) = read(Mail(), path).of("message")
    assert message.created_at is None
