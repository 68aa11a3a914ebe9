def test_counts_are_of_what_the_user_may_see(weft, filled):
    assert weft("stats", "--json").json == {
        "nodes": 4, "passages": 4, "edges": 1, "tags": 2, "nodes.note": 2, "nodes.page": 1, "nodes.todo": 1,
    }  # fmt: skip
    assert weft("stats", "--json", "--user", "ben").json == {
        "nodes": 3, "passages": 3, "edges": 1, "tags": 1, "nodes.note": 1, "nodes.page": 1, "nodes.todo": 1,
    }  # fmt: skip


def test_counts_are_listed_for_people(weft, filled):
    ran = weft("stats")
    assert (ran.code, ran.err) == (0, "")
    assert "         4  nodes\n" in ran.out
    assert "         1  nodes.page\n" in ran.out
