import re

import pytest
from tests.faces.research.researching import library
from tests.faces.research.test_ask import KEY, says, server  # noqa: F401  (a fixture)

from weftwork.embed.hashing import HashingEmbedder

QUESTION = ("What did", "the collapse of Lehman Brothers trigger?")
SENTENCE = "The collapse of Lehman Brothers in September 2008 triggered a global financial panic."


@pytest.fixture
def documents(here, monkeypatch):
    for name in ("NAME", "URL", "KEY"):
        monkeypatch.delenv(f"WEFTWORK_MODEL_{name}", raising=False)
    monkeypatch.setenv("WEFTWORK_STORE", "library.weft")
    library(here, embedder=HashingEmbedder()).close()
    return here


def test_the_answer_quotes_the_page_and_names_it(weft, documents):
    ran = weft("ask", *QUESTION)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == f"{SENTENCE} [1]"
    assert "Sources:\n[1] crisis.pdf, page 3: Report > Lehman  (weftwork read 'crisis#page=3')" in ran.out
    assert ran.err == "note: no model was used: the answer quotes the sources\n"


def test_json_has_the_contracts_keys(weft, documents):
    output = weft("ask", *QUESTION, "--json", "--mode", "hybrid", "--sources", "2", "--max-tokens", "500").json
    assert {"answer", "sources", "truncated", "total_tokens"} <= output.keys()
    assert (output["model"], len(output["sources"])) == (None, 2)
    assert output["sources"][0]["filename"] == "crisis.pdf"
    assert output["total_tokens"] <= 500


@pytest.mark.parametrize("mode", ["text", "visual", "hybrid"])
def test_each_mode_answers(weft, documents, mode):
    assert SENTENCE in weft("ask", *QUESTION, "--mode", mode).out


def test_an_unknown_mode_and_a_missing_question_are_usage_errors(weft, documents):
    assert weft("ask", "x", "--mode", "psychic").code == 2
    assert weft("ask").code == 2


def test_a_configured_model_is_asked_and_its_citations_are_checked(weft, documents, server, monkeypatch):  # noqa: F811
    (documents / "weftwork.toml").write_text(
        f'store = "library.weft"\n[model]\nname = "tiny"\nurl = "{server.url}"\nkey_env = "WEFTWORK_TEST_KEY"\n'
    )
    monkeypatch.setenv("WEFTWORK_TEST_KEY", KEY)
    server.replies += [says(f"{SENTENCE} Also [9]."), says("Panic [1].")]
    ran = weft("ask", *QUESTION)
    assert ran.code == 0
    assert "warning: the answer cites [9], which is no source" in ran.err
    assert "warning: the words of [1] are not cited" in ran.err
    assert "no model was used" not in ran.err
    assert server.received[0][1] == f"Bearer {KEY}"
    assert weft("ask", *QUESTION, "--json").json["model"] == "tiny"
    assert "no model was used" in weft("ask", *QUESTION, "--extractive").err
    assert len(server.received) == 2


def test_a_model_that_fails_is_an_error_without_the_key(weft, documents, server, monkeypatch):  # noqa: F811
    monkeypatch.setenv("WEFTWORK_MODEL_NAME", "tiny")
    monkeypatch.setenv("WEFTWORK_MODEL_URL", server.url)
    monkeypatch.setenv("WEFTWORK_MODEL_KEY", KEY)
    server.replies.append((401, {}, {}))
    ran = weft("ask", *QUESTION)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error: 127.0.0.1 answered HTTP 401 for tiny: check the API key\n"


def test_a_key_in_the_file_is_refused(weft, documents):
    (documents / "weftwork.toml").write_text('[model]\nname = "x"\nkey = "sk-1"\n')
    ran = weft("ask", "x")
    assert ran.code == 1 and "key_env" in ran.err and "sk-1" not in ran.err


def test_nothing_to_answer_with_is_said(weft, here):
    weft("init")
    ran = weft("ask", "anything")
    assert (ran.code, ran.out) == (1, "Nothing in these documents answers this.\n")
    empty = "there is nothing in workspace 'main' that you may see: add something with  weftwork add"
    assert ran.err == f"note: no page of a document was found; {empty}\n"


def test_another_user_sees_their_own_pages_alone(weft, documents):
    from weftwork import Weft

    with Weft.open(documents / "library.weft", embedder=HashingEmbedder()) as store:
        store.add_user("ben")
        with store.atomic() as batch:
            batch.set_access("crisis", frozenset({"me"}))
    ran = weft("ask", *QUESTION, "--user", "ben", "--json")
    assert {source["doc_id"] for source in ran.json["sources"]} <= {"energy"}
    assert "Lehman" not in ran.out.replace("Lehman Brothers trigger", "")


@pytest.mark.filterwarnings("ignore")
def test_a_configured_index_answers(weft, documents):
    pytest.importorskip("chromadb", reason="needs  pip install 'weftwork[chroma]'")
    from weftwork.faces.research.chroma import TEXT, VISUAL, connect

    (documents / "index").mkdir()
    client = connect(str(documents / "index"))
    client.create_collection(VISUAL, embedding_function=None)
    sentence = "Walruses in the aquarium eat forty kilograms of clams a day."
    client.create_collection(TEXT, embedding_function=None).add(
        ids=["1"],
        embeddings=[HashingEmbedder().embed(sentence)],
        metadatas=[{"doc_id": "zoo", "page": 4, "filename": "zoo.pdf"}],
        documents=[sentence],
    )
    (documents / "weftwork.toml").write_text(
        'store = "library.weft"\nembedder = "hashing"\n[recipes.research]\nchroma = "index"\n'
    )
    ran = weft("ask", "How many clams do walruses in the aquarium eat a day?")
    assert ran.out.splitlines()[0] == f"{sentence} [1]"
    assert "[1] zoo.pdf, page 4" in ran.out


def test_notes_answer_too_by_their_sections(weft, filled, monkeypatch):
    (filled / "eggs.md").write_text("# Eggs\n\n## Boiling\n\nHard boil an egg for eleven minutes, then chill it.\n")
    assert weft("add", "eggs.md").code == 0
    ran = weft("ask", "how long to hard boil an egg?")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "Hard boil an egg for eleven minutes, then chill it. [1]"
    assert re.search(r"\[1\] eggs\.md: Boiling  \(weftwork read '?file:.*eggs\.md#heading", ran.out)
    (source, *_) = weft("ask", "how long to hard boil an egg?", "--json").json["sources"]
    assert source["page"] == 0
    assert source["filename"] == "eggs.md"


def test_a_question_that_nothing_answers_ends_with_1(weft, filled):
    for more in ((), ("--json",)):
        ran = weft("ask", "Which zzyzx qwerks florb?", *more)
        assert ran.code == 1
        assert "Nothing in these documents answers this." in ran.out


def test_another_user_gets_no_answer_from_what_they_may_not_see(weft, filled):
    assert "expensive" in weft("ask", "Was the mirror expensive?").out
    ran = weft("ask", "Was the mirror expensive?", "--user", "ben", "--json")
    assert "cash" not in ran.out and "was expensive" not in ran.out


def test_sources_are_limited_by_their_number(weft, filled):
    assert len(weft("ask", "What of the mirror?", "--sources", "1", "--json").json["sources"]) == 1
    assert len(weft("ask", "What of the mirror?", "--json").json["sources"]) > 1
