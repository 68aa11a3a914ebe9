"""The shape of the code: which way imports point, what is public, how large things are."""

import ast
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import weftwork

ROOT = Path(weftwork.__file__).parent

LAYERS = [
    {"errors", "types", "identity", "clock"},
    {"text", "config", "request", "lens"},
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
    {"fit", "delta", "near_misses", "reference", "document"},
    {"validation", "context_cache", "engine"},
    {"faces"},
    {"client"},
    {"ingest"},
    {"evaluate"},
    {"sample"},
    {"server"},
    {"cli"},
]
"""From the ground up: a module imports from its own layer and from those before it."""

EXPORTED = {
    "Budget", "Client", "Context", "Edge", "Filters", "Message", "Node", "Recipe", "Request", "Template", "Weft",
    "WeftError",
}  # fmt: skip


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def layer_of(name):
    for height, names in enumerate(LAYERS):
        if name in names:
            return height
    raise AssertionError(f"{name} is in no layer: place it")


def imported(path):
    for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(found, ast.ImportFrom) and found.module and found.module.startswith("weftwork"):
            if found.module == "weftwork":
                yield from (alias.name for alias in found.names)
            else:
                yield found.module.split(".")[1]
        elif isinstance(found, ast.Import):
            yield from (alias.name.split(".")[1] for alias in found.names if alias.name.startswith("weftwork."))


def test_imports_point_one_way():
    wrong = []
    for path in modules():
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        # The contract suite is a test that ships with the package: it may use what stands above the store.
        height = layer_of(own) if "contract" not in path.parts else len(LAYERS)
        wrong += [f"{path.relative_to(ROOT)}: {name}" for name in imported(path) if layer_of(name) > height]
    assert wrong == []


@pytest.mark.parametrize(("store", "other"), [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_neither_store_imports_from_the_other_nor_what_they_share_from_either(store, other):
    for folder in (store, "sql"):
        for path in sorted((ROOT / "store" / folder).rglob("*.py")):
            for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [found.module or ""] if isinstance(found, ast.ImportFrom) else []
                names += (
                    [alias.name for alias in found.names] if isinstance(found, (ast.Import, ast.ImportFrom)) else []
                )
                assert not any(part == other for name in names for part in name.split(".")), f"{path}:{found.lineno}"


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
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and found.end_lineno - found.lineno >= 60
    ]
    assert long == []


def test_no_stage_asks_for_the_name_of_a_collector():
    wrong = [
        f"{path.relative_to(ROOT)}: {found.lineno}"
        for folder in ("score", "compose", "pack")
        for path in (ROOT / folder).rglob("*.py")
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
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
