import tomllib

from weftwork.engine import Weft


def users(path, workspace="main"):
    with Weft.open(path, embedder=None, create=False) as opened:
        return opened.store.users(workspace)


def test_a_store_is_created_with_settings_beside_it(weft, here):
    ran = weft("init")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "notes.weft is ready: workspace 'main', user 'me'\n"
        "next:  weftwork add FOLDER   then   weftwork context QUESTION\n"
    )
    assert users(here / "notes.weft") == {"me": ()}
    settings = tomllib.loads((here / "weftwork.toml").read_text())
    assert settings == {"store": "notes.weft", "workspace": "main", "user": "me"}


def test_doing_it_again_changes_nothing(weft, here):
    weft("init")
    weft("users", "add", "ben")
    assert weft("init").code == 0
    assert users(here / "notes.weft") == {"ben": (), "me": ()}


def test_another_file_another_user_another_workspace(weft, here):
    assert weft("init", "team.weft", "--user", "ana", "--workspace", "research").code == 0
    assert "ana" in users(here / "team.weft", "research")
    assert tomllib.loads((here / "weftwork.toml").read_text()) == {
        "store": "team.weft", "workspace": "research", "user": "ana",
    }  # fmt: skip
    assert weft("stats", "--json").json["nodes"] == 0


def test_a_user_can_be_added_to_a_workspace_that_exists(weft, here):
    weft("init")
    assert weft("init", "--user", "ana").code == 0
    assert users(here / "notes.weft") == {"ana": (), "me": ()}


def test_settings_that_exist_are_left_alone(weft, here):
    (here / "weftwork.toml").write_text('user = "ana"\n')
    weft("init")
    assert (here / "weftwork.toml").read_text() == 'user = "ana"\n'


def test_names_with_quotes_and_backslashes_make_sound_settings(weft, here):
    name = 'a"b\\c'
    assert weft("init", "--user", name).code == 0
    assert tomllib.loads((here / "weftwork.toml").read_text())["user"] == name
    assert weft("stats").code == 0


def test_the_settings_hold_in_folders_below(weft, here, monkeypatch):
    weft("init")
    (here / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(here / "deep" / "er")
    assert weft("stats").code == 0


def test_a_folder_that_does_not_exist_is_told(weft):
    ran = weft("init", "no/where.weft")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error: no/where.weft cannot be opened: check that the folder exists and may be written to\n"


def test_a_folder_below_gets_a_store_of_its_own(weft, here, monkeypatch):
    weft("init")
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    ran = weft("init")
    assert ran.out.startswith("notes.weft is ready")
    assert f"takes the place of the store that {here / 'weftwork.toml'} names" in ran.err
    assert (here / "sub" / "notes.weft").exists()
    assert weft("init").out.startswith(f"{here / 'sub' / 'notes.weft'} was there already")
