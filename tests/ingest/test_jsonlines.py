import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from weftwork.errors import InvalidInput
from weftwork.ingest.events import Person, Skipped
from weftwork.ingest.jsonlines import parse, read_json_lines
from weftwork.types import Edge, Node


def test_a_line_is_a_node_with_all_of_its_members():
    line = {
        "id": "n", "type": "todo", "title": "T", "text": "x", "parent": "p", "position": 3, "tags": ["a", "b"],
        "fields": {"due": "2026-04-02", "n": 3, "done": False, "who": ["ana", "ben"], "none": None},
        "confidence": 0.5, "conversation": "c", "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-02T10:00:00+02:00", "source": "s.md", "owner": "ana", "access": ["ana", "group:core"],
    }  # fmt: skip
    assert parse(json.dumps(line)) == Node(
        id="n", type="todo", title="T", text="x", parent="p", position=3, tags=("a", "b"),
        fields={"due": "2026-04-02", "n": 3, "done": False, "who": ("ana", "ben"), "none": None},
        confidence=0.5, conversation="c", created_at=datetime(2026, 3, 1, 10, tzinfo=UTC),
        updated_at=datetime(2026, 3, 2, 10, tzinfo=timezone(timedelta(hours=2))), source="s.md", owner="ana",
        access=frozenset({"ana", "group:core"}),
    )  # fmt: skip


def test_an_id_is_enough_and_null_means_unset():
    nulls = '{"id": "n", "parent": null, "confidence": null, "access": null, "created_at": null, "owner": null}'
    assert parse('{"id": "n"}') == parse(nulls) == Node(id="n")


def test_an_empty_access_list_is_not_an_absent_one():
    assert parse('{"id": "n", "access": []}').access == frozenset()


def test_a_time_without_a_zone_is_in_utc():
    assert parse('{"id": "n", "created_at": "2026-03-01"}').created_at == datetime(2026, 3, 1, tzinfo=UTC)


def test_a_line_with_source_and_target_is_an_edge():
    assert parse('{"source": "a", "target": "b"}') == Edge(source="a", target="b")
    full = '{"source": "a", "target": "b", "type": "relation", "label": "knows", "weight": 2}'
    assert parse(full) == Edge(source="a", target="b", type="relation", label="knows", weight=2.0)


def test_a_node_may_have_a_source_without_being_an_edge():
    assert parse('{"id": "n", "source": "a.md"}') == Node(id="n", source="a.md")


def test_a_line_with_user_is_a_user():
    assert parse('{"user": "ana"}') == Person("ana")
    assert parse('{"user": "ana", "groups": ["core", "ops"]}') == Person("ana", ("core", "ops"))


WRONG = [
    ("{", "not JSON"),
    ("[1, 2]", "a line must be an object, got list"),
    ('"text"', "a line must be an object, got str"),
    ("[" * 100_000, "not JSON"),
    ('{"title": "T"}', "a node needs an 'id'"),
    ('{"id": 5}', "id must be text, got 5"),
    ('{"id": ""}', "a node needs an id of printable characters, got ''"),
    ('{"id": "a\\nb"}', "a node needs an id of printable characters"),
    ('{"id": "n", "type": ""}', "node 'n' needs a type"),
    ('{"id": "n", "titel": "T"}', "unknown member 'titel': use id, type, title"),
    ('{"id": "n", "text": null}', "text must be text, got None"),
    ('{"id": "n", "tags": "a"}', "tags must be a list of texts, got 'a'"),
    ('{"id": "n", "tags": ["a", 5]}', "tags must be a list of texts"),
    ('{"id": "n", "tags": [""]}', "tags of node 'n' must be texts that are not empty"),
    ('{"id": "n", "fields": []}', r"fields must be an object, got \[\]"),
    ('{"id": "n", "fields": {"a": [1]}}', "a must be a list of texts"),
    ('{"id": "n", "fields": {"a": {"b": 1}}}', "field 'a' of node 'n' must be"),
    ('{"id": "n", "fields": {"a": Infinity}}', "field 'a' of node 'n' must be"),
    ('{"id": "n", "position": "1"}', "position must be a number, got '1'"),
    ('{"id": "n", "position": 1.5}', "position must be a number, got 1.5"),
    ('{"id": "n", "position": true}', "position must be a number, got True"),
    ('{"id": "n", "position": 99999999999999999999}', "position of node 'n' must be a whole number"),
    ('{"id": "n", "confidence": 2}', "confidence of node 'n' must be between 0 and 1, got 2"),
    ('{"id": "n", "confidence": NaN}', "confidence of node 'n' must be between 0 and 1, got nan"),
    ('{"id": "n", "confidence": "high"}', "confidence must be a number, got 'high'"),
    ('{"id": "n", "created_at": "yesterday"}', "created_at must be a time like 2026-05-01T12:00:00Z, got 'yesterday'"),
    ('{"id": "n", "updated_at": 5}', "updated_at must be a time like"),
    ('{"id": "n", "access": "ana"}', "access must be a list of texts, got 'ana'"),
    ('{"id": "n", "parent": 5}', "parent must be text, got 5"),
    ('{"source": "a", "target": 5}', "target must be text, got 5"),
    ('{"source": "a", "target": "b", "kind": "x"}', "unknown member 'kind': use source, target, type"),
    ('{"source": "a", "target": "b", "weight": "2"}', "weight must be a number, got '2'"),
    ('{"source": "a", "target": "b", "weight": true}', "weight must be a number, got True"),
    ('{"source": "a", "target": "b", "weight": NaN}', "weight must be a number, got nan"),
    ('{"user": 5}', "user must be text, got 5"),
    ('{"user": "ana", "groups": "core"}', "groups must be a list of texts, got 'core'"),
    ('{"user": "ana", "group": ["core"]}', "unknown member 'group': use user, groups"),
]


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line[:60] for line, _ in WRONG])
def test_a_line_that_cannot_be_used_is_refused_with_the_reason(line, message):
    with pytest.raises(InvalidInput, match=message):
        parse(line)


def test_each_line_that_cannot_be_used_is_reported_with_its_number(tmp_path):
    path = tmp_path / "x.jsonl"
    lines = ['{"id": "a"}', "", "{", '{"id": "b", "tags": 5}', '{"id": "c", "confidence": 7}', "   ", '{"id": "d"}']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    pieces = list(read_json_lines(path))
    assert [piece.id for piece in pieces if isinstance(piece, Node)] == ["a", "d"]
    skipped = [piece for piece in pieces if isinstance(piece, Skipped)]
    assert [skipped.what for skipped in skipped] == [f"{path}:3", f"{path}:4", f"{path}:5"]
    assert [skipped.why.split(" ")[0] for skipped in skipped] == ["not", "tags", "confidence"]


def test_bytes_that_are_not_utf_8_do_not_stop_the_reading(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"id": "a", "text": "caf\xe9"}\n{"id": "b"}\n')
    assert [read_json_line.id for read_json_line in read_json_lines(path)] == ["a", "b"]


def test_windows_line_ends_and_a_missing_last_one_are_fine(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"id": "a"}\r\n{"id": "b"}')
    assert [read_json_line.id for read_json_line in read_json_lines(path)] == ["a", "b"]


def test_a_line_separator_inside_a_text_does_not_cut_the_line(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a", "text": "one\u2028two\x85three"}\n', encoding="utf-8")
    (node,) = read_json_lines(path)
    assert node.text == "one\u2028two\x85three"
