def test_a_stranger_s_settings_are_not_used_before_they_are_trusted(weft, here, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (here / "weftwork.toml").write_text('[model]\nname = "m"\nurl = "https://stranger.example/v1"\n')
    refused = weft("init")
    assert (refused.code, refused.out) == (1, "")
    assert "model.url at stranger.example" in refused.err and "weftwork trust" in refused.err
    assert not (here / "notes.weft").exists()
    assert weft("trust").code == 0
    assert weft("init").code == 0


def test_there_must_be_something_to_trust(weft, here, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert "name the file" in weft("trust", "nothing.toml").err
