"""Contract of marks: the state of imported sources is written with their nodes, in one transaction."""

from __future__ import annotations

import pytest

from weftwork.errors import NotFound
from weftwork.store.contract.kit import WORKSPACE, node, opened, put
from weftwork.store.protocol import Store


class MarksContract:
    def test_marks_are_kept_by_group_and_name_replaced_and_forgotten(self, store: Store) -> None:
        opened(store)
        with store.atomic(WORKSPACE) as batch:
            batch.mark("notes", {"b": "1", "a": "ü\n\\'", "empty": ""})
            batch.mark("Notes", {"a": "another group"})
        with store.atomic(WORKSPACE) as batch:
            batch.mark("notes", {"b": "2", "unknown": None})
        assert store.marks(WORKSPACE, "notes") == {"a": "ü\n\\'", "b": "2", "empty": ""}
        with store.atomic(WORKSPACE) as batch:
            batch.mark("notes", {"a": None, "empty": None})
        assert store.marks(WORKSPACE, "notes") == {"b": "2"}
        assert store.marks(WORKSPACE, "Notes") == {"a": "another group"}
        assert store.marks(WORKSPACE, "none") == {}

    def test_a_batch_that_fails_leaves_no_mark(self, store: Store) -> None:
        opened(store)
        with store.atomic(WORKSPACE) as batch:
            batch.mark("notes", {"a": "1", "b": "1"})
        with pytest.raises(NotFound), store.atomic(WORKSPACE) as batch:
            batch.mark("notes", {"a": "2", "b": None, "c": "2"})
            batch.set_access("nowhere", None)
        assert store.marks(WORKSPACE, "notes") == {"a": "1", "b": "1"}

    def test_a_mark_is_no_change_of_the_workspace(self, store: Store) -> None:
        put(opened(store), node("a"))
        version = store.version(WORKSPACE)
        with store.atomic(WORKSPACE) as batch:
            batch.mark("notes", {"a": "1"})
        assert store.version(WORKSPACE) == version

    def test_marks_belong_to_their_workspace_and_go_with_it(self, store: Store) -> None:
        opened(store).create_workspace("other", owner="ana")
        with store.atomic("other") as batch:
            batch.mark("notes", {"a": "1"})
        assert store.marks(WORKSPACE, "notes") == {}
        store.drop_workspace("other")
        store.create_workspace("other", owner="ana")
        assert store.marks("other", "notes") == {}
