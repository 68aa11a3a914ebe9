import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folder():
    """A folder for stores."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
