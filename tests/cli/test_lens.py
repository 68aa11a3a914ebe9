from weftwork.lens import BUILTIN


def test_all_lenses_are_listed_with_their_descriptions(weft, here):
    ran = weft("lens", "list")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines] == list(BUILTIN)
    assert all(line.endswith(BUILTIN[line.split()[0]].description) for line in lines)


def test_a_lens_is_shown_with_what_it_prefers(weft, here):
    assert weft("lens", "show", "planning").out == (
        "planning: Goals, milestones and tasks, with due dates and what blocks them.\n"
        "  follows first  child → field\n"
        "  boosts         goal, milestone, task, project\n"
        "  always shows   due, status, blocked-by\n"
        "  walks at most  4 steps\n"
    )
    assert "  boosts         -\n" in weft("lens", "show", "general").out
    assert weft("lens", "show", "coding", "--json").json == {
        "name": "coding",
        "description": "Specifications, decisions and code, with who does what.",
        "priority_types": ["reference", "field"],
        "boost_tags": ["spec", "architecture", "code", "decision"],
        "include_fields": ["status", "priority", "assignee"],
        "max_depth": 3,
    }


def test_an_unknown_lens_is_an_error_with_the_names(weft, here):
    ran = weft("lens", "show", "fish-eye")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == ("error: unknown lens 'fish-eye': use one of coding, general, meeting-prep, planning, writing\n")


def test_a_lens_of_the_settings_is_listed_shown_and_used(weft, filled):
    with (filled / "weftwork.toml").open("a") as file:
        file.write(
            '[lenses.optics]\ndescription = "What is polished."\npriority_types = ["child"]\n'
            'boost_tags = ["optics"]\ninclude_fields = ["size"]\nmax_depth = 1\n'
        )
    assert weft("lens", "list").out.splitlines()[-1] == "optics        What is polished."
    assert weft("lens", "show", "optics").out.endswith("  walks at most  1 step\n")
    assert [lens["name"] for lens in weft("lens", "list", "--json").json] == [*BUILTIN, "optics"]
    output = weft("context", "finch", "--lens", "optics", "--recipe", "graph", "--format=json", "--explain")
    (mirror,) = [node for node in output.json["nodes"] if node["id"] == "mirror"]
    assert mirror["components"]["boost"] == 0.1
    assert output.json["meta"]["lens"] == "optics"
    assert output.err.startswith("warning: depth 2 was lowered to 1, the most of lens 'optics'\n")


def test_a_lens_that_cannot_be_used_is_an_error(weft, filled):
    with (filled / "weftwork.toml").open("a") as file:
        file.write("[lenses.bad]\nmax_depth = 9\n")
    for arguments in (("lens", "list"), ("context", "mirror")):
        ran = weft(*arguments)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == "error: lens 'bad' has max_depth = 9: give a whole number from 1 to 5\n"
