def test_each_candidate_is_shown_with_its_reason(weft, filled):
    ran = weft("explain", "When does the mirror ship?", "--max-tokens", "600")
    assert (ran.code, ran.err) == (0, "")
    assert "Query      When does the mirror ship?" in ran.out
    for title in ("Mirror", "Base", "Finch"):
        assert f"] {title} (" in ran.out
    assert ran.out.count("found by") == ran.out.count("signals  ") >= 3


def test_json_is_the_list_of_decisions(weft, filled):
    decisions = weft("explain", "mirror", "--json").json
    assert {decision["node"] for decision in decisions} >= {"mirror", "base", "cash"}
    assert all(decision["reason"] and decision["fate"] and decision["findings"] for decision in decisions)
    assert decisions == weft("context", "mirror", "--json", "--explain").json["decisions"]
    graph = weft("explain", "mirror", "--json", "--recipe", "graph").json
    assert {each["node"] for each in graph} == {"mirror", "finch", "base"}


def test_near_misses_say_how_many_tokens_they_lack(weft, filled):
    assert "tokens short" in weft("explain", "mirror", "--max-tokens", "45").out


def test_errors_are_told_like_those_of_context(weft, filled):
    ran = weft("explain", "mirror", "--focus", "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: there is no node, citation, title or source 'nowhere'")
