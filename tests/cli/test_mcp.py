import json
import os
import stat
import sys
import tomllib
from pathlib import Path

import pytest

OTHER = {"command": "npx", "args": ["-y", "@acme/files"], "env": {"KEY": "schlüssel"}}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder of nobody's, so that no test reaches the real one."""
    folder = tmp_path / "home"
    folder.mkdir()
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(folder))
    for variable in ("APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def install(weft, home, tmp_path, monkeypatch):
    """The command, for a store that exists unless it is named."""
    store = tmp_path / "notes.weft"
    store.touch()
    monkeypatch.setenv("WEFTWORK_STORE", str(store))

    def run(client, *more):
        return weft("mcp", "install", "--client", client, *more)

    return run


def files(home, here):
    return {
        "claude-desktop": home / ".config" / "Claude" / "claude_desktop_config.json",
        "claude-code": here / ".mcp.json",
        "cursor": home / ".cursor" / "mcp.json",
        "vscode": here / ".vscode" / "mcp.json",
        "windsurf": home / ".codeium" / "windsurf" / "mcp_config.json",
        "zed": home / ".config" / "zed" / "settings.json",
        "codex": home / ".codex" / "config.toml",
        "gemini": home / ".gemini" / "settings.json",
    }


KEYS = {"vscode": "servers", "zed": "context_servers", "codex": "mcp_servers"}


def read(path):
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


@pytest.mark.parametrize("client", files(Path(), Path()))
def test_each_client_is_told_how_to_start_the_server(install, home, here, client, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    (here / "some").mkdir()
    (here / "some" / "notes.weft").touch()
    ran = install(client, "--store", "some/notes.weft", "--workspace", "studio", "--user", "ana")
    assert ran.code == 0, ran.err
    path = files(home, here)[client]
    assert str(path) in ran.out
    config = read(path)
    key = KEYS.get(client, "mcpServers")
    assert list(config) == [key]
    entry = config[key]["weftwork"]
    assert entry.pop("type", None) == ("stdio" if client == "vscode" else None)
    assert entry["command"] == sys.executable
    assert entry["args"] == [
        *(
            "-m",
            "weftwork.cli",
            "mcp",
            "--store",
            str(here / "some/notes.weft"),
            "--workspace",
            "studio",
            "--user",
            "ana",
        )
    ]
    assert [each for each in path.parent.iterdir() if each.is_file()] == [path]


def test_a_server_that_could_not_start_is_not_installed(install, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    ran = install("claude-code")
    assert (ran.code, ran.out) == (1, "")
    assert "run  pip install 'weftwork[mcp]'" in ran.err
    assert not (here / ".mcp.json").exists()
    assert install("claude-code", "--print").code == 0


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("darwin", None, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", None, "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("win32", "APPDATA", "chosen/Claude/claude_desktop_config.json"),
        ("linux", "XDG_CONFIG_HOME", "chosen/Claude/claude_desktop_config.json"),
    ],
)
def test_claude_desktop_is_found_on_every_platform(install, home, monkeypatch, platform, variable, expected):
    monkeypatch.setattr(sys, "platform", platform)
    if variable:
        monkeypatch.setenv(variable, str(home / "chosen"))
    assert install("claude-desktop").code == 0
    assert read(home / expected)["mcpServers"]["weftwork"]


def test_everything_else_in_the_file_stays_as_it_was_and_in_its_order(install, home):
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    before = {"zoom": 1.5, "mcpServers": {"files": OTHER, "ähnlich": {"url": "https://x"}}, "a": [None, {"b": True}]}
    path.write_text(json.dumps(before, indent=4), encoding="utf-8")
    assert install("cursor").code == 0
    after = read(path)
    assert list(after) == ["zoom", "mcpServers", "a"]
    assert list(after["mcpServers"]) == ["files", "ähnlich", "weftwork"]
    del after["mcpServers"]["weftwork"]
    assert after == before
    text = path.read_text(encoding="utf-8")
    assert '\n    "zoom"' in text
    assert "schlüssel" in text
    assert path.with_name("mcp.json.bak").read_text(encoding="utf-8") == json.dumps(before, indent=4)


def test_installing_again_changes_nothing_and_other_settings_change_only_the_entry(install, here):
    install("claude-code", "--user", "ana")
    path = here / ".mcp.json"
    config = read(path)
    config["mcpServers"]["weftwork"]["env"] = {"WEFTWORK_TOKENIZER": "cl100k_base"}
    path.write_text(json.dumps(config), encoding="utf-8")
    before = path.read_bytes()
    ran = install("claude-code", "--user", "ana")
    assert ran.code == 0
    assert "nothing to change" in ran.out
    assert path.read_bytes() == before
    assert not path.with_name(".mcp.json.bak").exists()
    assert install("claude-code", "--user", "ben").code == 0
    entry = read(path)["mcpServers"]["weftwork"]
    assert entry["args"][-2:] == ["--user", "ben"]
    assert entry["env"] == {"WEFTWORK_TOKENIZER": "cl100k_base"}
    assert path.with_name(".mcp.json.bak").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        '{\n  // my servers\n  "servers": {"files": {"type": "stdio", "command": "x"}},\n}\n',
        '{"servers": ',
        "[1, 2]",
        '"text"',
        '{"servers": []}',
        b"\xff\xfe\x00",
    ],
)
def test_a_file_that_cannot_be_kept_whole_is_left_alone(install, here, content):
    path = here / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = path.read_bytes()
    ran = install("vscode")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert "Traceback" not in ran.err
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_file_with_comments_is_answered_with_what_to_put_into_it(install, here):
    path = here / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "servers": {}\n}\n')
    ran = install("vscode")
    snippet = json.loads(ran.err[ran.err.index("\n{") :])
    assert snippet["servers"]["weftwork"]["type"] == "stdio"
    assert snippet["servers"]["weftwork"]["command"] == sys.executable


@pytest.mark.parametrize("content", ["", "  \n", "{}", "\ufeff{}"])
def test_an_empty_file_is_filled(install, here, content):
    path = here / ".mcp.json"
    path.write_text(content, encoding="utf-8")
    assert install("claude-code").code == 0
    assert read(path)["mcpServers"]["weftwork"]


def test_print_shows_the_configuration_and_writes_nothing(install, home, here, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for client, path in files(home, here).items():
        ran = install(client, "--print")
        assert ran.code == 0
        shown = tomllib.loads(ran.out) if client == "codex" else ran.json
        assert "weftwork" in shown[KEYS.get(client, "mcpServers")]
        assert str(path) in ran.err
        assert not path.parent.joinpath(path.name).exists()
    assert list(home.iterdir()) == []
    assert list(here.iterdir()) == []


def test_another_file_can_be_named_and_a_link_stays_a_link(install, here):
    real, link = here / "real.json", here / "link.json"
    real.write_text("{}")
    os.chmod(real, 0o640)
    link.symlink_to(real)
    assert install("cursor", "--config", str(link)).code == 0
    assert link.is_symlink()
    assert read(real)["mcpServers"]["weftwork"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_folder_that_cannot_be_made_is_an_error_with_a_fix(install, here):
    (here / "file").write_text("")
    ran = install("cursor", "--config", str(here / "file" / "mcp.json"))
    assert ran.code == 1
    assert "--config" in ran.err
    assert "Traceback" not in ran.err


def test_the_running_command_is_written_where_there_is_one(install, here, monkeypatch, weft):
    program = here / "bin" / "weftwork"
    program.parent.mkdir()
    program.write_text("")
    from weftwork.cli import main

    monkeypatch.setattr(sys, "argv", ["bin/weftwork", "mcp", "install", "--client", "claude-code"])
    with pytest.raises(SystemExit):
        main()
    entry = read(here / ".mcp.json")["mcpServers"]["weftwork"]
    assert entry["command"] == str(program)
    assert entry["args"][0] == "mcp"


def test_settings_of_the_folder_reach_a_server_that_is_started_elsewhere(install, here, monkeypatch):
    (here / "weftwork.toml").write_text('store = "mine.weft"\nworkspace = "studio"\n')
    (here / "mine.weft").touch()
    monkeypatch.delenv("WEFTWORK_STORE")
    assert install("claude-code").code == 0
    arguments = read(here / ".mcp.json")["mcpServers"]["weftwork"]["args"]
    assert arguments[arguments.index("--directory") + 1] == str(here)
    assert arguments[arguments.index("--store") + 1] == str(here / "mine.weft")
    assert arguments[arguments.index("--workspace") + 1] == "studio"


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_store_that_does_not_exist_is_refused_and_nothing_written(install, home, here, client):
    ran = install(client, "--store", "typo.weft")
    assert ran.code == 1
    assert "there is no store at typo.weft" in ran.err
    assert list(home.iterdir()) == list(here.iterdir()) == []


def test_comments_and_other_tables_of_a_toml_file_stay(install, home):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    before = '# mine\nmodel = "x"\n\n[mcp_servers.files]\ncommand = "npx"\n'
    path.write_text(before, encoding="utf-8")
    assert install("codex", "--user", "ana").code == 0
    assert path.read_text(encoding="utf-8").startswith(before)
    assert "nothing to change" in install("codex", "--user", "ana").out
    assert install("codex", "--user", "ben").code == 0
    text = path.read_text(encoding="utf-8")
    assert text.count("[mcp_servers.weftwork]") == 1 and '"ben"' in text and '"ana"' not in text
    path.write_text(text + 'env = {A = "b"}\n', encoding="utf-8")
    ran = install("codex", "--user", "ana")
    assert ran.code == 1 and "put this into it by hand" in ran.err
    assert path.read_text(encoding="utf-8") == text + 'env = {A = "b"}\n'


def test_an_unknown_client_is_answered_with_those_that_are_known(install):
    ran = install("emacs")
    assert ran.code == 2
    assert "claude-desktop" in ran.err


def test_options_before_the_subcommand_are_not_lost_in_silence(weft, home):
    ran = weft("mcp", "--user", "ana", "install", "--client", "claude-code")
    assert ran.code == 2
    assert "after the word 'install'" in ran.err
    assert not Path(".mcp.json").exists()


@pytest.mark.parametrize("arguments", [("--user", "nobody"), ("--workspace", "nowhere"), ("--max-output-tokens", "3")])
def test_a_server_that_cannot_start_says_so_on_standard_error(filled, weft, arguments):
    ran = weft("mcp", *arguments)
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("error: ")


def test_a_server_without_a_store_says_how_to_make_one(weft):
    ran = weft("mcp")
    assert ran.code == 1
    assert "weftwork init" in ran.err
