import json
import re


def test_passages_are_listed_with_score_citation_title_and_excerpt(weft, filled):
    ran = weft("search", "mirror", "april", "--mode", "words")
    assert (ran.code, ran.err) == (0, "")
    first, second, *_ = ran.out.splitlines()
    assert re.fullmatch(r"0\.\d\d  \[[a-z]\d{6}\] Mirror \(note\)  Finch", first)
    assert second == "      The mirror ships in April."


def test_json_has_everything_for_a_script(weft, filled):
    (found, *_) = weft("search", "mirror april", "--json", "--mode", "words").json
    assert found.keys() == {
        "citation", "node", "type", "title", "source", "score", "start", "end", "excerpt", "path",
    }  # fmt: skip
    assert (found["node"], found["path"], found["start"], found["end"]) == ("mirror", ["Finch"], 0, 26)
    assert found["excerpt"] == "The <<<mirror>>> ships in <<<April>>>."


def test_limit_mode_type_and_tag_hold(weft, filled):
    def found(*arguments):
        return [each["node"] for each in weft("search", "mirror", "--json", *arguments).json]

    assert len(found("--limit", "2")) == 2
    assert found("--type", "todo") == ["base"]
    assert found("--tag", "optics") == ["mirror"]
    assert set(found("--mode", "words")) == {"mirror", "base", "cash"}
    assert "cash" not in found("--user", "ben")


def test_a_typo_is_forgiven(weft, filled):
    assert weft("search", "telescpoe", "--json", "--mode", "words").json[0]["node"] == "finch"


def test_nothing_found_is_said_on_standard_error(weft, filled):
    ran = weft("search", "zzzzqqqq", "--mode", "words")
    assert (ran.code, ran.out, ran.err) == (1, "", "nothing found\n")
    ran = weft("search", "zzzzqqqq", "--mode", "words", "--json")
    assert (ran.code, ran.json) == (1, [])


def test_text_is_printed_as_it_is_but_for_control_characters(weft, filled):
    command = "run `env - [[link]] | <tag> > ~/cronenv`"
    (filled / "more.jsonl").write_text(
        json.dumps({"id": "c", "title": "Cron", "text": f"{command} \x1b[31mred"}) + "\n"
    )
    assert weft("add", "more.jsonl").code == 0
    assert weft("search", "cronenv", "--mode", "words").out.splitlines()[1] == f"      {command} [31mred"


def test_wrong_arguments_are_refused(weft, filled):
    assert weft("search").code == 2
    assert "Missing argument 'QUERY...'" in weft("search").err
    assert weft("search", "mirror", "--mode", "psychic").code == 2
    ran = weft("search", "mirror", "--limit", "0")
    assert (ran.code, ran.out, ran.err) == (1, "", "error: limit must be a whole number of at least 1, got 0\n")
