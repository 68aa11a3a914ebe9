import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

# No deadline: the first text that a vocabulary counts loads it, and a machine that runs the tests has other work
# too. A real store makes examples slow to make, which is no reason to give up. In CI the examples are the same in
# every run, so that a failure there is the change's own.
settings.register_profile(
    "weft",
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("weft")

MEMORY = Path("/dev/shm")
ROOM = 4_000_000_000

# Stores are made by the thousand: in memory, where there is such a place with enough room, no write waits for a disk.
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None

LONGEST = ("tests/properties/test_permissions.py", "tests/properties", "tests/robustness")


def pytest_collection_modifyitems(items):
    """What takes longest comes first, so that no worker begins it when the others have nothing left."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
