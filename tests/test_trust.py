"""A settings file of a folder that one did not make sends nothing anywhere before it is trusted."""

import pytest

from weftwork.config import load_config, set_setting
from weftwork.trust import UntrustedSettings, trust


@pytest.fixture
def environment(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def cloned(tmp_path):
    folder = tmp_path / "cloned"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "text",
    [
        '[model]\nname = "m"\nurl = "https://stranger.example/v1"\n',
        'store = "postgresql://stranger.example/db"\n',
        'read_url = "postgresql://stranger.example/db"\n',
        '[recipes.research]\nchroma = "http://stranger.example:8000"\n',
        '[model]\nname = "m"\nurl = "http://127.0.0.1.stranger.example/v1"\n',
        '[model]\nname = "m"\nurl = "http://localhost@stranger.example/v1"\n',
        '[model]\nname = "m"\nurl = "http://[::1/v1"\n',
    ],
)
def test_a_file_that_names_another_machine_is_refused_until_it_is_trusted_as_it_is(cloned, environment, text):
    path = cloned / "weftwork.toml"
    path.write_text(text)
    with pytest.raises(UntrustedSettings, match="weftwork trust"):
        load_config(cloned / "deeper", environment)
    assert load_config(cloned, environment | {"WEFTWORK_TRUST": "1"})
    trust(path, environment)
    assert load_config(cloned, environment)
    path.write_text(f"{text}# changed\n")
    with pytest.raises(UntrustedSettings):
        load_config(cloned, environment)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "localhost:8080"])
def test_this_machine_needs_no_trust(cloned, environment, host):
    (cloned / "weftwork.toml").write_text(f'[model]\nname = "m"\nurl = "http://{host}/v1"\n')
    assert load_config(cloned, environment).model["name"] == "m"


def test_what_the_program_changes_stays_trusted_and_what_it_may_not_read_it_does_not_change(cloned, environment):
    path = cloned / "weftwork.toml"
    path.write_text('store = "postgresql://db.example/notes"\n')
    with pytest.raises(UntrustedSettings):
        set_setting(cloned, "embedder", "hashing")
    trust(path, environment)
    set_setting(cloned, "embedder", "hashing")
    assert load_config(cloned, environment).embedder == "hashing"


def test_a_secret_may_stand_in_a_file(cloned, environment, tmp_path):
    (tmp_path / "store").write_text("postgresql://weft:secret@db.example/notes\n")
    found = load_config(cloned, environment | {"WEFTWORK_STORE_FILE": str(tmp_path / "store")})
    assert found.store == "postgresql://weft:secret@db.example/notes"
