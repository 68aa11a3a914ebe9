import json


def questions(here, *lines):
    path = here / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_table_says_how_much_of_the_evidence_is_there(weft, filled, here):
    path = questions(here, {"query": "When does the mirror ship?", "quotes": ["ships in April"], "wanted": ["mirror"]})
    ran = weft("eval", path)
    assert (ran.code, ran.err) == (0, "")
    heads, figures, _ = ran.out.splitlines()
    assert heads.split() == ["recall", "precision", "nDCG", "complete", "tokens", "tokens/piece", "ms"]
    assert figures.split()[:2] == ["default", "1.000"]


def test_settings_are_combined_and_written_as_json_and_as_a_page(weft, filled, here):
    path = questions(here, {"query": "mirror", "wanted": ["mirror"]}, {"query": "money", "wanted": ["cash"]})
    ran = weft(
        "eval", path, "--recipe", "default", "--recipe", "graph", "--budget", 60, "--budget", 600,
        "--weights", "relevance=1", "--json", "--html", here / "report.html",
    )  # fmt: skip
    assert [each["name"] for each in ran.json["variants"]] == [
        f"{recipe} · weights relevance=1 · {budget} tokens" for recipe in ("default", "graph") for budget in (60, 600)
    ]
    assert (here / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_evidence_that_the_user_may_not_see_is_warned_of(weft, filled, here):
    path = questions(here, {"query": "money", "wanted": ["cash"]})
    assert (
        "1 wanted ids do not exist here, or this user may not see them: cash" in weft("eval", path, "--user", "ben").err
    )
    assert weft("eval", path).err == ""


def test_drafts_are_questions_that_can_be_asked(weft, filled, here):
    weft("add", questions(here))
    long = here / "long.md"
    long.write_text("# Lens care\n\nKeep the lens cap on.\n" + "Dust is wiped off once a month. " * 5, encoding="utf-8")
    weft("add", long)
    drafts = weft("eval", "suggest", "--count", 5)
    lines = [json.loads(line) for line in drafts.out.splitlines()]
    assert lines
    assert all(line["draft"] for line in lines)
    path = questions(here, *lines)
    assert weft("eval", "run", path, "--json").json["questions"] == len(lines)


def test_what_is_wrong_is_said_with_the_fix(weft, filled, here):
    path = questions(here, {"query": "mirror", "wanted": ["mirror"]})
    assert "weftwork eval suggest" in weft("eval", here / "absent.jsonl").err
    assert "relevance=0.7" in weft("eval", path, "--weights", "relevance").err
    assert "'nonesuch'" in weft("eval", path, "--recipe", "nonesuch").err
    assert weft("eval", path, "--budget", 0).code == 1
