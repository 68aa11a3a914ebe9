"""A process that is killed while it adds a folder: adding it again gives what a fresh load gives."""

import signal
import time

from tests.command import succeed
from tests.ingest.agreeing import held

from .making import opened, start

NOTES = 120


def test_a_folder_is_whole_after_it_was_added_again(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(NOTES):
        text = f"Note of {number}, see [[Note {number + 1:03}]].\n\n" + "\n\n".join(
            f"Part {each} of it." for each in range(12)
        )
        (vault / f"Note {number:03}.md").write_text(text)
    store, fresh = tmp_path / "killed.weft", tmp_path / "fresh.weft"
    for path in (store, fresh):
        succeed("init", path)
    with start("add", vault, "--store", store) as process, opened(store) as weft:
        while process.poll() is None and weft.stats()["nodes"] < 10:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert weft.stats()["nodes"] < NOTES * 13
    succeed("add", vault, "--store", store)
    succeed("add", vault, "--store", fresh)
    with opened(store) as followed, opened(fresh) as anew:
        assert held(followed, vault) == held(anew, vault)
