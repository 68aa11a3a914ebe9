import json
import os
import signal
import subprocess
import sys


def heed_interrupts():
    """Restore the default handler: a shell's background jobs ignore interrupts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_folder_is_watched_until_it_is_interrupted(weft, here):
    weft("init")
    (here / "v").mkdir()
    (here / "v" / "a.md").write_text("one")
    command = [sys.executable, "-m", "weftwork.cli", "watch", "v", "--json"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        preexec_fn=heed_interrupts,  # noqa: PLW1509
    )
    try:
        assert json.loads(process.stdout.readline())["added"] == 2
        (here / "v" / "b.md").write_text("two")
        assert json.loads(process.stdout.readline())["added"] == 1
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, told) == (0, "stopped\n")
    assert weft("search", "two", "--json").json[0]["node"] == "file:v/b.md"


def test_what_is_not_there_cannot_be_watched(weft, here):
    weft("init")
    ran = weft("watch", "gone")
    assert (ran.code, ran.err) == (1, "error: gone does not exist: give a file or a folder\n")
