"""The shape of the code: which way imports point, what is public, how large things are."""

import ast
import re
import statistics
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import weftwork
import weftwork.pack
import weftwork.render

ROOT = Path(weftwork.__file__).parent

LAYERS = [
    {"errors", "frozen", "history", "provenance", "types", "identity", "clock", "notebook", "surface"},
    {"text", "trust", "request", "lens"},
    {"config"},
    {"embed", "query"},
    {"store"},
    {"write", "answer"},
    {"collect"},
    {"score"},
    {"compose"},
    {"pack"},
    {"render"},
    {"wire"},
    {"recipe"},
    {"fit", "delta", "near_misses", "reference", "document", "results", "tools"},
    {"options", "validation", "context_cache", "engine", "receipts", "turn"},
    {"faces", "erase"},
    {"client"},
    {"asynchronous"},
    {"ingest"},
    {"evaluate"},
    {"sample"},
    {"server"},
    {"adapters"},
    {"cli"},
    {"__main__"},
]
"""From the ground up: a module imports from its own layer and from those before it."""

INSIDE = {
    "faces": [
        "graph graph_document graph_json graph_nodes | memory | research | thread | workspace",
        "agent_session opening",
    ],
    "ingest": ["events", "documents", "encodings", "files", "connectors", "remotes", "*"],
    "ingest/documents": ["layout", "*", "pdf"],
    "server": ["*", "http", "proxy"],
    "server/http": ["*", "routes", "app", "process", "processes"],
    "store": [
        "erasure files protocol receipts server_state shares transfer",
        "index",
        "sql",
        "sqlite | postgres",
        "open",
        "contract",
    ],
}
"""The same inside of each folder that has folders: what stands between bars imports nothing of each other.

`*` are all that are not named.
"""

OF_FACES = {
    "weftwork.render.quote": "what a face writes itself is quoted as the templates quote",
    "weftwork.render.stretches": "a page counts as many tokens as its excerpt will",
    "weftwork.render.values": "a document names files, pages, moments and fields as the text beside it does",
}
"""Modules of pack and render that a face may use beside what these two export, each with the reason."""

EXPORTED = {
    "AsyncClient", "AsyncWeft", "Budget", "Client", "Context", "Edge", "Filters", "Message", "Node", "Recipe",
    "Request", "Template", "Weft", "WeftError",
}  # fmt: skip


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def layer_of(name):
    for height, names in enumerate(LAYERS):
        if name in names:
            return height
    raise AssertionError(f"{name} is in no layer: place it")


@cache
def syntax(path):
    """All nodes of the syntax tree of a module."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path):
    """Each name that a module imports from the package, with the module it comes from and the line."""
    for found in syntax(path):
        if isinstance(found, ast.ImportFrom) and (found.module or "").split(".")[0] == "weftwork":
            yield from ((found.module, alias.name, found.lineno) for alias in found.names)
        elif isinstance(found, ast.Import):
            yield from ((alias.name, "", found.lineno) for alias in found.names if alias.name.startswith("weftwork."))
        elif isinstance(found, ast.ImportFrom) and found.level:
            raise AssertionError(f"{path}:{found.lineno}: name the package, so that these tests see what is imported")


def imported(path):
    """The parts of the package that a module imports from."""
    for module, name, _ in imports(path):
        yield module.split(".")[1] if "." in module else name


def parts_within(path, folder):
    """The parts of a folder that a module imports from."""
    package = ".".join(("weftwork", *folder.split("/")))
    for module, name, line in imports(path):
        full = f"{module}.{name}"
        if full.startswith(f"{package}."):
            yield full.removeprefix(f"{package}.").split(".")[0], line


def places_within(folder):
    """The height and the group of each part of a folder."""
    present = {path.stem for path in (ROOT / folder).iterdir() if path.is_dir() or path.suffix == ".py"}
    present -= {"__init__", "__pycache__", *(() if folder != "server" else ("web",))}
    named = {name for layer in INSIDE[folder] for name in layer.replace("|", " ").split()} - {"*"}
    assert named <= present, f"{folder} has no {sorted(named - present)}"
    places = {}
    for height, layer in enumerate(INSIDE[folder]):
        for number, group in enumerate(layer.split("|")):
            for name in present - named if group.strip() == "*" else group.split():
                places[name] = (height, number)
    assert places.keys() == present, f"place these in {folder}: {sorted(present - places.keys())}"
    return places


def test_imports_point_one_way():
    wrong = []
    for path in modules():
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        # The contract suite is a test that ships with the package: it may use what stands above the store.
        height = layer_of(own) if "contract" not in path.parts else len(LAYERS)
        wrong += [f"{path.relative_to(ROOT)}: {name}" for name in imported(path) if layer_of(name) > height]
    assert wrong == []


def test_folders_with_folders_are_in_layers_too():
    folders = {path.parent.parent for path in ROOT.rglob("*/*/*.py")} - {ROOT}
    assert {folder.relative_to(ROOT).as_posix() for folder in folders} == INSIDE.keys()


@pytest.mark.parametrize("folder", INSIDE)
def test_imports_point_one_way_inside_of_a_folder(folder):
    places, wrong = places_within(folder), []
    for path in sorted((ROOT / folder).rglob("*.py")):
        own = path.relative_to(ROOT / folder).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for part, line in parts_within(path, folder):
            place = places.get(part, places[own])  # a name that the folder itself has
            if place != places[own] and place[0] >= places[own][0]:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {part}")
    assert wrong == []


def test_faces_use_what_pack_and_render_export():
    exported = {"weftwork.pack": weftwork.pack.__all__, "weftwork.render": weftwork.render.__all__}
    used, wrong = set(), []
    for path in sorted((ROOT / "faces").rglob("*.py")):
        for module, name, line in imports(path):
            if module.startswith(tuple(exported)) and name not in exported.get(module, ()):
                used.add(module)
                wrong += [f"{path.relative_to(ROOT)}:{line}: {module}.{name}"] if module not in OF_FACES else []
    assert wrong == []
    assert used == OF_FACES.keys()


def test_public_names_are_these_and_no_others():
    assert set(weftwork.__all__) == EXPORTED
    assert all(getattr(weftwork, name) is not None for name in EXPORTED)
    with pytest.raises(AttributeError):
        _ = weftwork.Nonsense


def test_modules_and_functions_stay_small():
    sizes = {path.relative_to(ROOT): path.read_text(encoding="utf-8").count("\n") for path in modules()}
    assert statistics.median(sizes.values()) <= 120
    assert sorted(sizes.values())[len(sizes) * 9 // 10] <= 250
    assert {path: lines for path, lines in sizes.items() if lines > 500} == {}
    long = [
        f"{path.relative_to(ROOT)}: {found.name}"
        for path in modules()
        for found in syntax(path)
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and found.end_lineno - found.lineno >= 60
    ]
    assert long == []


def test_docstrings_say_what_is_done_or_returned():
    """Not "What …" or "Whether …", which a reader has to turn round first."""
    wrong = [
        f"{path.relative_to(ROOT)}: {found.lineno}"
        for path in modules()
        for found in syntax(path)
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and re.match(r"(What|Whether|Which|How|Whoever|Those|Who)\b", ast.get_docstring(found) or "")
    ]
    assert wrong == []


def test_no_stage_asks_for_the_name_of_a_collector():
    wrong = [
        f"{path.relative_to(ROOT)}: {found.lineno}"
        for folder in ("score", "compose", "pack")
        for path in (ROOT / folder).rglob("*.py")
        for found in syntax(path)
        if isinstance(found, ast.Attribute) and found.attr == "collector"
    ]
    assert wrong == []


def test_help_loads_nothing_heavy():
    script = (
        "import sys, weftwork.cli\n"
        "from click.testing import CliRunner\n"
        "result = CliRunner().invoke(weftwork.cli.group, ['--help'])\n"
        "assert result.exit_code == 0, result.output\n"
        "heavy = {'numpy', 'tantivy', 'splintr', 'tokenizers', 'wordllama', 'weftwork.engine'} & set(sys.modules)\n"
        "sys.exit(str(sorted(heavy)) if heavy else 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_process_that_parses_documents_loads_no_engine():
    script = "import sys, weftwork.ingest.documents.worker; sys.exit('weftwork.engine' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_single_question_loads_what_it_needs(tmp_path):
    with weftwork.Weft.open(tmp_path / "notes.weft") as weft:
        weft.add([weftwork.Node(id="ship", text="The telescopes ship on Thursday.")])
    script = (
        "import sys; from click.testing import CliRunner; import weftwork.cli\n"
        "result = CliRunner().invoke(weftwork.cli.group, ['context', 'When do the telescopes ship?'])\n"
        "assert 'Thursday' in result.output, result.output\n"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=tmp_path)
    loaded = run.stdout.split()
    unneeded = ("asyncio", "ssl", "psycopg", "pydantic", "weftwork.turn", "weftwork.ingest", "weftwork.server",
                "weftwork.answer", "weftwork.store.postgres", "weftwork.receipts.replay", "weftwork.write.threads",
                "weftwork.faces.graph", "weftwork.faces.memory", "weftwork.faces.research",
                "weftwork.faces.workspace")  # fmt: skip
    assert [name for name in unneeded if name in loaded] == []
    assert sum(name.startswith("weftwork") for name in loaded) <= 230
