import json


def test_changes_on_the_command_line_are_in_the_audit_log_until_they_are_dropped(weft, filled):
    weft("users", "add", "ben", "--group", "design")
    key = weft("keys", "create", "--scope", "read", "--json").json["id"]
    weft("keys", "revoke", key)
    entries = [json.loads(line) for line in weft("audit", "--json").out.splitlines()]
    assert [each["action"] for each in entries] == ["add_user", "create_key", "end_key"]
    assert {(each["workspace"], each["key"]) for each in entries} == {("main", "command")}
    assert entries[0]["details"] == {"user": "ben", "groups": ["design"]}
    assert 'add_user  groups=["design"] user="ben"' in weft("audit").out.splitlines()[0]
    assert weft("audit", "--after", str(entries[1]["id"])).out.count("\n") == 1
    assert weft("audit", "--drop-before", "2999-01-01").out == "removed 3 entries\n"
    assert weft("audit").out == "", "the note that they were dropped belongs to no workspace"
    assert "drop_audit" in weft("audit", "--all").out
