"""The command as a whole: help, version, the reference, and how it ends."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from weftwork.cli import COMMANDS, group
from weftwork.cli.reference import reference

ROOT = Path(__file__).parents[2]


def commands(command=group, path=("weftwork",)):
    """Every command with its full name, groups included."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*path, name))


ALL = {" ".join(path): command for path, command in commands()}


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "weftwork", *arguments], capture_output=True, text=True, check=False, **options
    )


def test_the_version_is_that_of_the_package(weft):
    ran = weft("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"weftwork {version('weftwork')}\n", "")


def test_help_names_every_command_in_the_order_in_which_a_newcomer_needs_them(weft):
    ran = weft("--help")
    assert ran.code == 0
    listed = ran.out.partition("Commands:\n")[2]
    places = [listed.index(f"  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert weft("-h").out == ran.out


@pytest.mark.parametrize("name", ALL)
def test_the_help_of_every_command_has_an_example(weft, name):
    ran = weft(*name.split()[1:], "--help")
    assert ran.code == 0
    described = ran.out.partition("\n\n")[2]
    assert f"\n  {name} " in described or f"\n  {name}\n" in described


@pytest.mark.parametrize("name", ALL)
def test_every_option_is_described(name):
    for parameter in ALL[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help or isinstance(parameter.type, click.Choice | click.Path), parameter.name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_list_exists_under_its_name(name):
    assert ALL[f"weftwork {name}"].name == name
    assert COMMANDS[name].endswith(".")


def test_the_reference_has_every_command_with_its_own_options():
    text = reference()
    parts = {part.partition("`")[0]: part for part in text.split("\n## `")[1:]}
    assert parts.keys() == ALL.keys()
    for name, command in ALL.items():
        assert f"Usage: {name} " in parts[name]
        assert "-h, --help" in parts[name]
        options = [param.opts[0] for param in command.params if isinstance(param, click.Option)]
        assert [option for option in options if option not in parts[name]] == []
    assert text == reference()


def test_the_written_reference_is_up_to_date():
    path = ROOT / "docs" / "cli.md"
    if not path.exists():
        pytest.skip(f"{path} is not written yet: run  make docs")
    assert path.read_text(encoding="utf-8") == reference(), "run  make docs"


def test_the_reference_can_be_printed():
    printed = subprocess.run(
        [sys.executable, "-m", "weftwork.cli.reference"], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert printed.stdout == reference()


def test_an_unknown_command_is_refused(weft):
    ran = weft("nonsense")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no command 'nonsense': see  weftwork --help" in ran.err


def test_without_a_command_the_help_is_shown(weft):
    ran = weft()
    assert (ran.code, ran.out) == (2, "")
    assert "Assemble the context that a language model needs." in ran.err


def test_without_a_store_the_fix_is_named(weft):
    ran = weft("stats")
    assert (ran.code, ran.out, ran.err) == (1, "", "error: notes.weft does not exist: create it with  weftwork init\n")


def test_variables_choose_store_workspace_and_user(weft, filled, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEFTWORK_STORE", str(filled / "notes.weft"))
    monkeypatch.setenv("WEFTWORK_USER", "ben")
    assert weft("stats", "--json").json["nodes"] == 3
    assert weft("stats", "--json", "--user", "me").json["nodes"] == 4
    monkeypatch.setenv("WEFTWORK_WORKSPACE", "nowhere")
    assert weft("stats").err.startswith("error: workspace 'nowhere' does not exist")


def test_the_module_runs_as_a_command_and_errors_have_no_traceback(here):
    ran = run("stats")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "error: notes.weft does not exist: create it with  weftwork init\n"


def test_a_reader_that_stops_early_is_no_error(filled):
    lines = "".join(f'{{"id": "n{n}", "text": "mirror {n} and more words"}}\n' for n in range(60))
    (filled / "many.jsonl").write_text(lines)
    assert run("add", "many.jsonl").returncode == 0
    command = f"{sys.executable} -m weftwork.cli context mirror --json | head -c 10"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("asked", ["context finch", "search finch", "search --help"])
def test_a_reader_that_is_gone_is_no_error(filled, asked):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "weftwork", *asked.split()]
    ran = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("asked", ["context finch", "search finch"])
def test_output_that_cannot_be_written_is_an_error_without_a_traceback(filled, asked):
    command = f"{sys.executable} -m weftwork.cli {asked} > /dev/full"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "error: No space left on device\n")


def test_text_beyond_ascii_is_printed_where_the_terminal_says_nothing(filled):
    (filled / "x.md").write_text("Der Spiegel für 漢字 🧵", encoding="utf-8")
    assert run("add", "x.md").returncode == 0
    ran = run("context", "Spiegel", encoding="utf-8")
    assert ran.returncode == 0
    assert "Der Spiegel für 漢字 🧵" in ran.stdout
