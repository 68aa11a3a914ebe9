"""Adding a folder again gives what a fresh load gives, whatever happened to it or to the process."""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from weftwork.engine import Weft
from weftwork.ingest import follow as following
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.follow import follow

from .agreeing import held

NAMES = ("Amber stone", "Birch water", "Cedar", "deep/Dune grass", "deep/Ember", "deep/er/Fern")
PARTS = (
    "A line about Birch water and Cedar.",
    "See [[Cedar]] and [[Dune grass#Why|the dune]].",
    "![[Ember]] and [a path](deep/Ember.md), also [[Nowhere]].",
    "# Why",
    "## Amber stone",
    "- one\n- two\n  - deeper [[Fern]]",
    "- [ ] call 📅 2026-04-01 #later",
    "- [x] done [due:: 2026-03-01]",
    "Named ^anchor",
    "[[Amber stone#^anchor]] #tag",
    "```\n[[Cedar]] #no\n```",
    "Named again.",
)
MATTER = (
    "",
    "---\naliases: [Heather, Gorse moor]\ntags: moor\n---\n",
    "---\nup: '[[Cedar]]'\n---\n",
    "---\n: [\n---\n",
)
texts = st.builds(
    lambda matter, parts: matter + "\n\n".join(parts),
    st.sampled_from(MATTER),
    st.lists(st.sampled_from(PARTS), max_size=5),
)


class Killed(BaseException):
    """The process was killed."""


class DyingStore:
    """A store whose process is killed before the end of one of its transactions."""

    left = 0

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    @contextmanager
    def atomic(self, workspace):
        with self._store.atomic(workspace) as batch:
            yield batch
            self.left -= 1
            if self.left == 0:
                raise Killed


class Dying(Weft):
    def __init__(self, store, tools, **more):
        super().__init__(DyingStore(store), tools, **more)


class Folder(RuleBasedStateMachine):
    """A folder of notes that somebody works on, and a store that follows it."""

    @initialize()
    def begin(self):
        self.place = Path(tempfile.mkdtemp())
        self.root = self.place / "vault"
        self.root.mkdir()
        self.weft = self.opened("followed")

    def opened(self, name, kind=Weft):
        return kind.open(self.place / f"{name}.weft", embedder=None, tokenizer="characters")

    def teardown(self):
        if hasattr(self, "place"):
            try:
                self.compare()
            finally:
                self.weft.close()
                shutil.rmtree(self.place)

    def path(self, name):
        return self.root / f"{name}.md"

    @rule(name=st.sampled_from(NAMES), text=texts)
    def write(self, name, text):
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text)

    @rule(name=st.sampled_from(NAMES), part=st.sampled_from(PARTS))
    def append(self, name, part):
        if self.path(name).exists():
            self.path(name).write_text(f"{self.path(name).read_text()}\n\n{part}")

    @rule(name=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
    def rename(self, name, other):
        if self.path(name).exists() and not self.path(other).exists():
            self.path(other).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).rename(self.path(other))

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name):
        self.path(name).unlink(missing_ok=True)

    @precondition(lambda self: (self.root / "deep").exists())
    @rule()
    def delete_a_folder(self):
        shutil.rmtree(self.root / "deep")

    @rule()
    def add(self):
        follow(self.weft, self.root, get_connector("obsidian"))

    @rule(left=st.integers(1, 8))
    def add_and_be_killed(self, left):
        with self.opened("followed", Dying) as dying:
            dying.store.left = left
            batch, following.BATCH = following.BATCH, 1
            try:
                follow(dying, self.root, get_connector("obsidian"))
            except Killed:
                pass
            finally:
                following.BATCH = batch

    @rule()
    def compare(self):
        report = follow(self.weft, self.root, get_connector("obsidian"))
        with self.opened("fresh") as fresh:
            anew = follow(fresh, self.root, get_connector("obsidian"))
            assert held(self.weft, self.root) == held(fresh, self.root)
            assert (report.links, report.mentions) == (anew.links, anew.mentions)
            assert report.unresolved == anew.unresolved
            again = follow(self.weft, self.root, get_connector("obsidian"))
            assert (again.added, again.changed, again.moved, again.removed) == (0, 0, 0, 0)
            fresh.store.drop_workspace("main")
        for left in self.place.glob("fresh.weft*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()

    @invariant()
    def is_sound(self):
        if hasattr(self, "weft"):
            assert self.weft.store.check() == []


TestFolder = Folder.TestCase
TestFolder.settings = settings(
    max_examples=12, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck)
)
