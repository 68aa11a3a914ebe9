"""Letters in envelopes: Outlook's messages, signed and encrypted mail."""

import base64
import struct

import pytest
from tests.ingest.connectors.reading import read, real, shown

from weftwork.ingest.connectors.compound_file import MAGIC, streams
from weftwork.ingest.connectors.files import Files
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.connectors.signed_mail import signed_content
from weftwork.ingest.events import Refused

FREE, END = 0xFFFFFFFF, 0xFFFFFFFE
SIGNED, DATA, ENVELOPED = "2a864886f70d010702", "2a864886f70d010701", "2a864886f70d010703"


def compound(contents):
    """A compound file of version 3 with the given streams, none of them in the small stream."""
    folders = sorted({name.partition("/")[0] for name in contents if "/" in name})
    names = ["Root Entry", *folders, *contents]
    starts, body, table = {}, b"", []
    for name, data in contents.items():
        count = max(1, -(-len(data) // 512))
        starts[name] = len(table)
        table += [*range(len(table) + 1, len(table) + count), END]
        body += data.ljust(count * 512, b"\0")

    def children(folder):
        inner = [n for n in contents if n.partition("/")[0] == folder and "/" in n] if folder else []
        return inner or ([n for n in [*folders, *contents] if "/" not in n] if not folder else [])

    following = {}
    for folder in ("", *folders):
        row = children(folder)
        following |= dict(zip(row, [*row[1:], None], strict=True))
    directory = b""
    for name in names:
        inner = children("" if name == "Root Entry" else name) if name not in contents else []
        kind = 5 if name == "Root Entry" else 2 if name in contents else 1
        short = name.rpartition("/")[2].encode("utf-16-le")
        after = following.get(name)
        entry = short.ljust(64, b"\0") + struct.pack("<HBB", len(short) + 2, kind, 1)
        places = [names.index(other) if other else FREE for other in (after, inner[0] if inner else None)]
        entry += struct.pack("<3I", FREE, *places)
        entry = entry.ljust(116, b"\0")
        entry += struct.pack("<III", starts.get(name, END), len(contents.get(name, b"")), 0)
        directory += entry
    first = len(table)
    count = -(-len(directory) // 512)
    table += [*range(first + 1, first + count), END]
    body += directory.ljust(count * 512, b"\0")
    fat = len(table)
    table.append(0xFFFFFFFD)
    assert len(table) <= 128
    body += struct.pack("<128I", *table, *[FREE] * (128 - len(table)))
    header = MAGIC + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<III", 0, 1, first) + struct.pack("<6I", 0, 0, END, 0, END, 0)
    return (header + struct.pack("<109I", fat, *[FREE] * 108)).ljust(512, b"\0") + body


def message(texts, people=(), files=(), sent=0):
    parts = {f"__substg1.0_{number:04X}001F": text.encode("utf-16-le") for number, text in texts.items()}
    parts["__properties_version1.0"] = bytes(32) + struct.pack("<HHIQ", 0x40, 0x0039, 6, sent)
    for place, (name, address, kind) in enumerate(people):
        folder = f"__recip_version1.0_#{place:08X}"
        parts[f"{folder}/__substg1.0_3001001F"] = name.encode("utf-16-le")
        parts[f"{folder}/__substg1.0_39FE001F"] = address.encode("utf-16-le")
        parts[f"{folder}/__properties_version1.0"] = bytes(8) + struct.pack("<HHIQ", 3, 0x0C15, 6, kind)
    for place, (name, data) in enumerate(files):
        folder = f"__attach_version1.0_#{place:08X}"
        parts[f"{folder}/__substg1.0_3707001F"] = name.encode("utf-16-le")
        parts[f"{folder}/__substg1.0_37010102"] = data
    return compound(parts)


def test_an_outlook_message_is_a_letter_in_its_thread(tmp_path):
    sent = (1_772_611_200 + 11_644_473_600) * 10_000_000
    first = {0x0037: "Mirror", 0x0C1A: "Ana Reis", 0x5D01: "ana@a.example", 0x1000: "Coated?\r\n", 0x1035: "<1@a>"}
    (tmp_path / "1.msg").write_bytes(message(first, [("Bo", "bo@b.example", 1), ("Cy", "cy@c.example", 2)], sent=sent))
    headers = "Message-ID: <2@b>\r\nReferences: <1@a>\r\nDate: Wed, 4 Mar 2026 09:00:00 +0000\r\n"
    second = {0x0037: "Re: Mirror", 0x0C1A: "Bo", 0x5D01: "bo@b.example", 0x1000: "In February — ok.", 0x007D: headers}
    (tmp_path / "2.msg").write_bytes(message(second, files=[("plan.txt", b"Sand it first."), ("a.bin", b"\0\1")]))
    connector = recognise(tmp_path)
    assert connector.name == "mail"
    found = read(connector, tmp_path)
    assert [(node.title, node.text) for node in found.of("message")] == [
        ("Ana Reis", "Coated?"),
        ("Bo", "In February — ok."),
    ]
    assert [node.title for node in found.of("thread")] == ["Mirror"]
    letter = found.of("message")[0]
    assert letter.created_at.isoformat() == "2026-03-04T08:00:00+00:00"
    assert (shown(letter)["to"], shown(letter)["cc"]) == ("Bo <bo@b.example>", "Cy <cy@c.example>")
    assert [(node.title, node.text) for node in found.of("file")] == [("plan.txt", "Sand it first.")]


def test_a_damaged_message_is_named_and_left_out(tmp_path):
    whole = message({0x0037: "Mirror", 0x1000: "Text"})
    (tmp_path / "cut.msg").write_bytes(whole[:700])
    (tmp_path / "other.msg").write_bytes(compound({"WordDocument": b"x"}))
    (tmp_path / "note.txt").write_text("a")
    found = read(Files(), tmp_path)
    assert len(found.skipped) == 2
    assert [node.title for node in found.of("file")] == ["note.txt"]


def test_chains_that_come_back_to_themselves_end(tmp_path):
    data = bytearray(compound({"a": b"x" * 2000}))
    fat = 512 + struct.unpack_from("<I", data, 76)[0] * 512
    struct.pack_into("<I", data, fat + 4, 0)
    assert set(streams(bytes(data))) <= {"a"}


def test_a_real_outlook_message_is_read():
    path = real("markitdown_tests/files/test_outlook_msg.msg")
    found = read(recognise(path), path)
    (letter,) = found.of("message")
    assert "This is the body of the test email message" in letter.text


def ber(tag, *contents, endless=False):
    content = b"".join(contents)
    if endless:
        return bytes([tag, 0x80]) + content + b"\0\0"
    size = len(content).to_bytes(3, "big")
    return bytes([tag, 0x83]) + size + content


def envelope(text, kind=SIGNED, endless=False):
    octets = [ber(0x04, text[:7]), ber(0x04, text[7:])]
    string = [ber(0x24, *octets, endless=endless)] if text else []
    inner = ber(0x30, ber(0x06, bytes.fromhex(DATA)), *(ber(0xA0, s, endless=endless) for s in string), endless=endless)
    signed = ber(0x30, ber(0x02, b"\1"), ber(0x31), inner, ber(0x31), endless=endless)
    return ber(0x30, ber(0x06, bytes.fromhex(kind)), ber(0xA0, signed, endless=endless), endless=endless)


TEXT = b"Content-Type: text/plain; charset=utf-8\r\n\r\nCoated in February.\r\n"


@pytest.mark.parametrize("endless", [False, True])
def test_the_letter_in_a_signed_envelope_is_read(tmp_path, endless):
    data = envelope(TEXT, endless=endless)
    assert signed_content(data) == TEXT
    assert signed_content(base64.encodebytes(data)) == TEXT
    head = b"From: Ana <a@a.example>\r\nSubject: Mirror\r\nMessage-ID: <1@a>\r\nContent-Type: application/pkcs7-mime; "
    head += b"smime-type=signed-data; name=smime.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    (tmp_path / "letter.eml").write_bytes(head + base64.encodebytes(data))
    (tmp_path / "alone.p7m").write_bytes(data)
    (tmp_path / "note.txt").write_text("a")
    found = read(Files(), tmp_path)
    assert [(node.title, node.text) for node in found.of("message")] == [
        ("user", "Coated in February."),
        ("Ana", "Coated in February."),
    ]


def test_signatures_and_encrypted_letters_are_named_and_left_out(tmp_path):
    (tmp_path / "smime.p7s").write_bytes(envelope(b""))
    (tmp_path / "secret.p7m").write_bytes(envelope(TEXT, ENVELOPED))
    (tmp_path / "junk.p7m").write_bytes(b"\x30\x82\xff\xff\x06")
    (tmp_path / "note.txt").write_text("a")
    found = read(Files(), tmp_path)
    assert [skipped.why.partition(":")[0] for skipped in found.skipped] == [
        "is a damaged envelope",
        "is encrypted",
        "is the signature of a letter, not text",
    ]
    assert [node.type for node in found.nodes] == ["folder", "file"]


def test_a_part_of_a_letter_that_is_longer_than_its_envelope_is_refused():
    data = envelope(TEXT).replace(ber(0x04, TEXT[:7])[:5], b"\x04\x83\x7f\xff\xff")
    with pytest.raises(Refused, match="damaged"):
        signed_content(data)


@pytest.mark.parametrize("place", range(0, 60, 3))
def test_any_byte_of_an_envelope_may_be_wrong(place):
    data = bytearray(envelope(TEXT))
    data[place] ^= 0xFF
    try:
        assert isinstance(signed_content(bytes(data)), bytes)
    except Refused as refused:
        assert str(refused)


def test_a_signature_beside_a_letter_is_no_attachment_and_a_forwarded_letter_is_read(tmp_path):
    lines = """From: a@a.example
Subject: S
Content-Type: multipart/signed; boundary=x

--x
Content-Type: multipart/mixed; boundary=y

--y
Content-Type: text/plain

See below.
--y
Content-Type: message/rfc822
Content-Disposition: attachment

From: b@b.example
Subject: Inner

Forwarded words.
--y--
--x
Content-Type: application/pkcs7-signature; name=smime.p7s
Content-Disposition: attachment

MIIB
--x--
"""
    (tmp_path / "letter.eml").write_text(lines)
    found = read(recognise(tmp_path / "letter.eml"), tmp_path / "letter.eml")
    (letter,) = found.of("message")
    assert letter.text == "See below."
    assert [(node.title, node.text) for node in found.of("file")] == [("Inner", "Forwarded words.")]
    assert "smime.p7s" not in str(shown(letter))
