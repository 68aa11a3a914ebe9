import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from tests.depth import some

CI = "CI" in os.environ

# No deadline: the first text that a vocabulary counts loads it, and a machine that runs the tests has other work
# too. A real store makes examples slow to make, which is no reason to give up. In CI the examples are the same in
# every run, so that a failure there is the change's own; it is told at once with the blob that repeats it, since
# to make it smaller can take longer than all tests, and is done where it is repaired.
settings.register_profile(
    "weftwork",
    deadline=None,
    max_examples=some(100),
    derandomize=CI,
    phases=[Phase.explicit, Phase.reuse, Phase.generate] if CI else tuple(Phase),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("weftwork")

# Tests start hundreds of processes: each would compile all that it imports where the environment forbids to keep that.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

MEMORY = Path("/dev/shm")
ROOM = 4_000_000_000

# Stores are made by the thousand: in memory, where there is such a place with enough room, no write waits for a disk.
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None

LONGEST = ("tests/properties", "tests/robustness")


def pytest_collection_modifyitems(items):
    """What takes longest comes first for each worker, or one of them would end with it while the others wait.

    Workers begin with equal parts of the list, and those that are done take from the end of what others have left.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.nodeid.startswith(LONGEST)]
    long.sort(key=lambda item: "test_permissions" not in item.nodeid)
    short = [item for item in items if not item.nodeid.startswith(LONGEST)]
    middle = [len(short) * each // workers for each in range(workers + 1)]
    parts = [long[each::workers] + short[middle[each] : middle[each + 1]] for each in range(workers)]
    items[:] = [item for part in parts for item in part]


def pytest_collection_finish():
    """Spare the garbage collector what lasts as long as the process: the modules, and the seven thousand tests."""
    gc.freeze()
