from weft.tokens import get_counter


def test_a_context_is_printed_within_its_budget(weft, filled):
    ran = weft("context", "When", "does", "the", "mirror", "ship?", "--max-tokens", "300")
    assert (ran.code, ran.err) == (0, "")
    assert "The mirror ships in April." in ran.out
    assert get_counter().count(ran.out) <= 300


def test_json_is_the_whole_context(weft, filled):
    told = weft("context", "When does the mirror ship?", "--json", "--max-tokens", "300").json
    assert told["query"] == "When does the mirror ship?"
    assert told["tokens"] == get_counter().count(told["text"]) <= told["budget"] == 300
    assert {each["node"] for each in told["decisions"]} >= {"mirror", "base", "cash"}


def test_the_budget_has_two_names(weft, filled):
    assert weft("context", "mirror", "--budget", "60").out == weft("context", "mirror", "--max-tokens", "60").out


def test_the_budget_of_the_settings_holds_unless_told_otherwise(weft, filled):
    with (filled / "weft.toml").open("a") as file:
        file.write("budget = 77\n")
    assert weft("context", "mirror", "--json").json["budget"] == 77
    assert weft("context", "mirror", "--json", "--max-tokens", "99").json["budget"] == 99


def test_focus_thread_depth_and_filters_are_passed_on(weft, filled):
    focused = weft("context", "--focus", "finch", "--json").json
    assert [section["name"] for section in focused["sections"]] == ["focus", "relations"]
    typed = weft("context", "mirror", "--type", "todo", "--json").json
    assert {each["node"] for each in typed["decisions"] if "lexical" in str(each["findings"])} == {"base"}
    tagged = weft("context", "mirror", "--tag", "optics", "--json").json
    assert {each["node"] for each in tagged["decisions"] if "lexical" in str(each["findings"])} == {"mirror"}


def test_reasons_go_to_standard_error(weft, filled):
    plain = weft("context", "mirror")
    ran = weft("context", "mirror", "--explain")
    assert ran.out == plain.out
    assert "Candidates" in ran.err
    assert "found by lexical at rank 1" in ran.err


def test_a_budget_that_holds_nothing_is_a_warning_on_standard_error(weft, filled):
    ran = weft("context", "mirror", "--max-tokens", "2")
    assert ran.code == 0
    assert ran.out.strip() == ""
    assert ran.err.startswith("warning: a budget of 2 tokens holds no item: the smallest needs ")


def test_another_user_sees_only_what_they_may(weft, filled):
    assert "expensive" in weft("context", "mirror").out
    assert "expensive" not in weft("context", "mirror", "--user", "ben").out


def test_what_cannot_be_asked_is_an_error_with_its_fix(weft, filled):
    for arguments, message in (
        (("--max-tokens", "0"), "the token budget is 0: give a whole number of at least 1, such as 4000"),
        (("--depth", "9"), "depth must be from 1 to 5, got 9"),
        (("--recipe", "stew"), "unknown recipe 'stew': use one of default"),
        (("--focus", "nowhere"), "focus 'nowhere' does not exist in this workspace: check its id with  weft search"),
        (("--thread", "nowhere"), "thread 'nowhere' does not exist in this workspace: check its id with  weft search"),
        (("--user", "eve"), "user 'eve' does not exist in this workspace: add them with  weft users add eve"),
        (("--workspace", "x"), "workspace 'x' does not exist: create it with  weft init --workspace x"),
        (("--store", "x.weft"), "x.weft does not exist: create it with  weft init"),
    ):
        ran = weft("context", "mirror", *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == f"error: {message}\n"
    assert weft("context", "mirror", "--max-tokens", "many").code == 2


def test_a_wrong_setting_is_an_error_with_the_file(weft, filled):
    (filled / "weft.toml").write_text("budget = 'much'\n")
    ran = weft("context", "mirror")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"error: budget in {filled / 'weft.toml'} must be of type int, got 'much'\n"
