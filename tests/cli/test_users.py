def test_users_are_added_grouped_and_listed(weft, filled):
    ran = weft("users", "add", "cleo", "--group", "design", "--group", "ops")
    assert (ran.code, ran.out, ran.err) == (0, "cleo belongs to 'main', groups design, ops\n", "")
    assert weft("users", "list").out == "ben  guests\ncleo  design ops\nme\n"
    assert weft("users", "list", "--json").json == {"ben": ["guests"], "cleo": ["design", "ops"], "me": []}


def test_adding_again_sets_the_groups_anew(weft, filled):
    assert weft("users", "add", "ben").out == "ben belongs to 'main'\n"
    assert weft("users", "list", "--json").json["ben"] == []


def test_a_name_that_cannot_be_used_is_refused(weft, filled):
    ran = weft("users", "add", "group:x")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error: 'group:x' cannot be a user's name: use a name that is not '*' or 'group:…'\n"


def test_an_unknown_subcommand_is_refused(weft, filled):
    assert weft("users", "rename").code == 2


def test_a_user_is_removed_and_sees_nothing(weft, filled):
    assert weft("users", "remove", "ben").out == "ben no longer belongs to 'main'\n"
    assert weft("users", "list").out == "me\n"
    assert weft("search", "mirror", "--user", "ben").code == 1
    assert "has no user 'ben': it has me" in weft("users", "remove", "ben").err
    assert "cannot remove themselves" in weft("users", "remove", "me").err
