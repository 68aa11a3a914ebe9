import re

PAGE = "# Plan\n\nThe opening.\n\n## Steps\n\n- one\n  - [ ] two\n\n```sh\nmake\n```\n"


def test_a_note_is_printed_as_it_is_written_and_what_it_is_on_standard_error(weft, filled, here):
    (here / "notes").mkdir()
    (here / "notes" / "Plan.md").write_text(PAGE, encoding="utf-8")
    assert weft("add", "notes").code == 0
    for reference in ("Plan", "file:notes/Plan.md", here / "notes" / "Plan.md", "notes/Plan.md"):
        ran = weft("read", reference, "--no-ids")
        assert ran.code == 0
        assert [line for line in ran.out.split("\n") if line] == [line for line in PAGE.split("\n") if line]
        assert ran.err == "file:notes/Plan.md (page) in notes\n"
    shown = weft("read", "Plan")
    assert re.search(r"The opening\. \[[a-z]\d{6}\]\n", shown.out)
    part = weft("read", "Steps", "--no-ids")
    assert part.out.startswith("## Steps\n- one\n  - [ ] two\n")
    assert "a part of Plan: weftwork read file:notes/Plan.md\n" in part.err


def test_what_is_left_is_read_by_the_command_that_is_printed(weft, filled, here):
    text = "\n\n".join(f"Paragraph {number} of a long story." for number in range(200))
    (here / "A story.md").write_text(text, encoding="utf-8")
    assert weft("add", "A story.md").code == 0
    printed, command = [], ["read", "A story", "--tokens", "600"]
    while command:
        ran = weft(*command, "--no-ids")
        printed.append(ran.out)
        on = re.search(r"about [\d,]+ tokens are left: weftwork (read 'A story' --start \S+)\n", ran.err)
        command = ["read", "A story", "--tokens", "600", "--start", on[1].split()[-1]] if on else None
    assert len(printed) > 2
    assert "".join(printed).split()[3:] == text.split()
    assert weft("read", "A story", "--all", "--no-ids").out.split()[3:] == text.split()


def test_json_has_the_document_its_text_and_its_citations(weft, filled):
    read = weft("read", "Finch", "--json").json
    assert read["text"].startswith("# Finch\n\nA tabletop telescope")
    assert (read["node"]["id"], read["document"]["id"], read["next"], read["left"]) == ("finch", "finch", "", 0)
    assert [each["node"] for each in read["citations"]] == ["finch"]
    assert [each["id"] for each in read["holds"]] == ["mirror"]


def test_what_is_hidden_or_unknown_or_ambiguous_is_an_error_that_names_the_fix(weft, filled, here):
    for user, reference in (("ben", "Cash"), ("me", "nothing at all")):
        ran = weft("read", reference, "--user", user)
        assert (ran.code, ran.out) == (1, "")
        assert "find it with  weftwork search" in ran.err
    (here / "more.jsonl").write_text('{"id": "finch-2", "type": "page", "title": "Finch", "text": "Another."}\n')
    assert weft("add", "more.jsonl").code == 0
    ran = weft("read", "finch-2")
    assert ran.out.startswith("# Finch\n")
    ran = weft("read", "FINCH")
    assert ran.code == 1
    assert "finch (Finch, page); finch-2 (Finch, page)" in ran.err
    assert weft("read", "finch", "--tokens", "10").err.startswith("error: tokens must be")
    assert weft("read", "finch", "--start", "there").err.startswith("error: start must be")
    assert weft("read").code == 2
