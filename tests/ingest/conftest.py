from datetime import UTC, datetime

import pytest

from weftwork.engine import Weft

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)


@pytest.fixture
def weft(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "notes.weft"
    with Weft.open(path, embedder="hashing", tokenizer="characters", clock=lambda: NOW) as opened:
        yield opened
