from dataclasses import fields

import pytest

from weftwork.config import ENVIRONMENT, FILE, Config, load_config, set_setting
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured


@pytest.fixture
def folder(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    return inner


def write(place, text):
    path = place / FILE
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_hold(folder):
    assert load_config(folder, {}) == Config(
        store="notes.weft", workspace="main", user="me", embedder="static", tokenizer="o200k_base", budget=4000
    )


def test_the_nearest_file_upwards_holds(folder, tmp_path):
    write(tmp_path, 'user = "far"\nworkspace = "far"\n')
    assert load_config(folder, {}).user == "far"
    write(folder.parent, 'user = "near"\n')
    found = load_config(folder, {})
    assert (found.user, found.workspace) == ("near", "main")


def test_a_folder_of_that_name_is_no_file(folder, tmp_path):
    (folder / FILE).mkdir()
    write(tmp_path, 'user = "ana"\n')
    assert load_config(folder, {}).user == "ana"


def test_the_store_stands_beside_its_file_unless_it_says_otherwise(folder, tmp_path):
    write(tmp_path, 'store = "data/team.weft"\n')
    assert load_config(folder, {}).store == str(tmp_path / "data" / "team.weft")
    write(tmp_path, 'store = "/srv/team.weft"\n')
    assert load_config(folder, {}).store == "/srv/team.weft"
    write(tmp_path, 'store = "postgresql://localhost/db"\n')
    assert load_config(folder, {}).store == "postgresql://localhost/db"


def test_the_environment_stands_over_the_file(folder):
    write(
        folder, 'store = "file.weft"\nuser = "file"\nworkspace = "file"\nembedder = "none"\ntokenizer = "characters"\n'
    )
    given = {variable: f"env-{name}" for variable, name in ENVIRONMENT.items()}
    found = load_config(folder, given)
    assert (found.store, found.user, found.workspace, found.embedder, found.tokenizer) == (
        "env-store", "env-user", "env-workspace", "env-embedder", "env-tokenizer",
    )  # fmt: skip


def test_an_empty_variable_counts_as_absent(folder):
    write(folder, 'user = "file"\n')
    assert load_config(folder, {"WEFTWORK_USER": ""}).user == "file"


def test_variables_of_the_process_are_read(folder, monkeypatch):
    monkeypatch.setenv("WEFTWORK_USER", "ana")
    assert load_config(folder).user == "ana"


def test_every_setting_can_stand_in_the_file(folder):
    write(
        folder,
        'store = "/x.weft"\nworkspace = "w"\nuser = "u"\nembedder = "none"\ntokenizer = "characters"\nbudget = 900\n'
        'read_url = "postgresql://127.0.0.1/weft"\nmentions = false\nmax_output_tokens = 500\nvisual = "none"\n'
        'reranker = "mine"\nreceipts = 9\nclock = "2026-03-16T09:00:00Z"\n'
        '[model]\nname = "m"\n[server]\nport = 80\n[retention]\nchat = 9\n'
        '[templates.mine]\nitem = "{{content}}"\n'
        "[lenses.mine]\nmax_depth = 1\n[recipes.workspace]\npacker = 'greedy'\n",
    )
    found = load_config(folder, {})
    default = Config()
    assert all(getattr(found, each.name) != getattr(default, each.name) for each in fields(Config))
    assert found.budget == 900
    assert found.max_output_tokens == 500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user = ", r"is not valid TOML \(.*\): correct it or remove it"),
        ('userr = "ana"', r"has an unknown setting 'userr': use store, .*workspace, user"),
        ("user = 5", r"user in .*weftwork\.toml must be of type str, got 5"),
        ('budget = "4000"', r"budget in .*weftwork\.toml must be of type int, got '4000'"),
        ("budget = true", r"budget in .*weftwork\.toml must be of type int, got True"),
        ("budget = 4000.0", r"budget in .*weftwork\.toml must be of type int, got 4000\.0"),
        ('templates = "chat"', r"templates in .*weftwork\.toml must be of type dict, got 'chat'"),
        (
            '[templates]\nmine = "x"',
            r"templates\.mine in .*weftwork\.toml must be a table \[templates\.mine\], got 'x'",
        ),
    ],
)
def test_a_wrong_setting_is_refused_with_the_file_and_the_fix(folder, text, message):
    path = write(folder, text)
    with pytest.raises(InvalidInput, match=message) as caught:
        load_config(folder, {})
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_utf_8_is_refused(folder):
    (folder / FILE).write_bytes(b'user = "\xff"\n')
    with pytest.raises(InvalidInput, match=r"weftwork\.toml is not valid TOML .*: correct it or remove it"):
        load_config(folder, {})


def test_own_templates_can_be_used(folder):
    write(folder, '[templates.brief]\nitem = "* {{title}}: {{content}}\\n"\nheader = "BRIEF\\n"\nquote = "escape"\n')
    config = load_config(folder, {"WEFTWORK_STORE": str(folder / "n.weft"), "WEFTWORK_EMBEDDER": "none"})
    with open_configured(config, create=True) as weft:
        template = weft.tools.templates.get("brief")
        assert (template.header, template.item) == ("BRIEF\n", "* {{title}}: {{content}}\n")
        assert {"default", "chat", "brief"} <= set(weft.tools.templates.names())


def test_a_template_of_the_memory_contract_can_be_used(folder):
    write(folder, '[templates.memo]\nmemoryFormat = "- {{content}}"\nseparator = "\\n"\nincludeMetadata = false\n')
    config = load_config(folder, {"WEFTWORK_STORE": str(folder / "n.weft"), "WEFTWORK_EMBEDDER": "none"})
    with open_configured(config, create=True) as weft:
        template = weft.tools.templates.get("memo")
        assert (template.item, template.include_metadata, template.section) == ("- {{content}}", False, "")


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ('item = "{{nonsense}}"', r"template 'mine' has \{\{nonsense\}\} in its item"),
        ('header = "x"', "template 'mine' has no 'item': give the format of one item"),
        ('item = "{{content}}"\nfont = "big"', "template 'mine' cannot have font = 'big'"),
        ("item = 5", "template 'mine' cannot have item = 5"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused(folder, slots, message):
    write(folder, f"[templates.mine]\n{slots}\n")
    with pytest.raises(InvalidInput, match=message):
        open_configured(load_config(folder, {"WEFTWORK_STORE": str(folder / "n.weft")}), create=True)
    assert not (folder / "n.weft").exists()


def test_a_setting_is_written_into_the_file_that_holds_and_nothing_else_changes(folder):
    write(folder, '# mine\nstore = "/x.weft"  # here\nembedder = "none"\n\n[server]\nembedder = "other"\n')
    path = set_setting(folder, "embedder", "bge")
    assert path.read_text() == '# mine\nstore = "/x.weft"  # here\nembedder = "bge"\n\n[server]\nembedder = "other"\n'
    set_setting(folder, "reranker", "judge")
    assert path.read_text().splitlines()[3:5] == ['reranker = "judge"', ""]
    assert load_config(folder, {}).reranker == "judge"


def test_a_new_file_is_made_where_none_holds(tmp_path):
    assert set_setting(tmp_path, "embedder", "bge") == tmp_path / "weftwork.toml"
    assert load_config(tmp_path, {}).embedder == "bge"


def test_a_file_in_which_a_setting_cannot_be_replaced_stays_as_it_is(folder):
    text = 'tokenizer = """\nembedder = 1\n"""\nembedder = "none"\n'
    path = write(folder, text)
    with pytest.raises(InvalidInput, match='write  embedder = "bge"  there yourself'):
        set_setting(folder, "embedder", "bge")
    assert path.read_text() == text
