"""The shell blocks of the tutorial and the how-to pages run, and the written reference names what there is."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from runpy import run_path

import pytest

import weftwork
from weftwork import errors
from weftwork.config import Config

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md"))]
NAV = re.compile(r"^\s+- (?:[\w ]+: )?([\w/-]+\.md)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]*)#([\w-]+)\)")


@pytest.mark.parametrize("page", [page for page in PAGES if SHELL.search(page.read_text())], ids=lambda page: page.stem)
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_shell_blocks_run(page, tmp_path):
    script = "set -eu\n" + "".join(SHELL.findall(page.read_text(encoding="utf-8")))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WEFTWORK_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**kept, "PATH": path, "WEFTWORK_EMBEDDER": "static", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_tutorial_ends_with_an_answer_and_its_source(tmp_path):
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    assert text.index("weftwork init") < text.index("weftwork add notes") < text.index("weftwork ask")


def test_the_navigation_names_pages_that_exist():
    named = set(NAV.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert named <= pages
    assert len(named) > 40


def test_links_to_a_heading_lead_to_one():
    wrong = []
    for page in DOCS.rglob("*.md"):
        for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            text = (page.parent / target if target else page).read_text(encoding="utf-8")
            slugs = {re.sub(r"[^\w\- ]", "", line.lstrip("# ").strip().lower()).replace(" ", "-")
                     for line in text.splitlines() if line.startswith("#")}  # fmt: skip
            if anchor not in slugs:
                wrong.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert wrong == []


def test_the_reference_names_every_public_name_setting_and_error():
    pages = run_path(str(ROOT / "scripts" / "reference.py"))
    api, settings, tree = (pages[name]() for name in ("api", "settings", "error_page"))
    assert " at 0x" not in api, "an address of memory changes with each run"
    assert [name for name in weftwork.__all__ if f"## {name}\n" not in api] == []
    assert [name for name in Config.__slots__ if f"| `{name}` |" not in settings] == []
    leaves = [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)]
    assert [name for name in leaves if f"## {name}\n" not in tree] == []
    assert "## `weftwork_context`" in pages["mcp_page"]()
    assert "`weftwork_http_requests`" in pages["metrics_page"]()


def test_the_glossary_is_in_order():
    words = re.findall(r"^\| ([a-z][\w ]*) \|", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)[1:]
    assert words == sorted(words)


def test_every_how_to_is_listed():
    listed = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if page.name != "index.md" and f"({page.name})" not in listed] == []


def test_the_workflow_runs_the_same_script_on_every_version_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "run: .ci/run" in workflow
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert [version for version in named if f'"{version}"' not in workflow] == []


def test_the_figures_of_the_readme_are_those_of_the_comparison():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \w+ \|(?: \*{0,2}[\d.]+\*{0,2} \|)+$", readme, re.MULTILINE)
    assert len(rows) >= 4
    compared = (DOCS / "peers.md").read_text(encoding="utf-8")
    assert [row for row in rows if row not in compared] == []


def test_one_version_stands_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    locked = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    changes = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    client = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text(encoding="utf-8"))
    assert [each["version"] for each in locked if each["name"] == "weftwork"] == [version]
    assert (changes[0], client["version"]) == (version, version)
    chart = (ROOT / "deploy" / "helm" / "Chart.yaml").read_text(encoding="utf-8")
    assert f'appVersion: "{version}"' in chart
