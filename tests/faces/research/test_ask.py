"""Questions answered by a model behind a real local server, and by nobody but the sources."""

import asyncio
import json
import re
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.faces.research.researching import Fixed, Shelf, library, source

from weftwork.embed.hashing import HashingEmbedder
from weftwork.errors import InvalidInput, ModelError
from weftwork.faces.research import ChatModel, ContextBuilder, ModelSettings, ask, ask_events
from weftwork.faces.research.ask import checked
from weftwork.faces.research.extract import NOTHING, extract_answer

QUESTION = "What did the collapse of Lehman Brothers trigger?"
KEY = "sk-very-secret-42"


class Server(ThreadingHTTPServer):
    """Speaks the chat completions protocol: answers what it was told to, in turn, and keeps what it was sent."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = []
        self.received = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.received.append((self.path, self.headers.get("Authorization"), body))
        status, headers, content = self.server.replies.pop(0)
        if status is None:  # a server that hangs up
            self.close_connection = True
            return
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def says(text):
    return (200, {}, {"choices": [{"message": {"role": "assistant", "content": text}}]})


@pytest.fixture
def weft(tmp_path):
    with library(tmp_path) as weft:
        yield weft


def model_at(server, waits=None, **more):
    settings = ModelSettings(name="tiny", url=server.url, key=KEY, **more)
    return ChatModel(settings, sleep=[].append if waits is None else waits.append)


def asked(weft, model=None, query=QUESTION, **more):
    return asyncio.run(ask(ContextBuilder.for_weft(weft), query, model=model, embedder=weft.tools.embedder, **more))


# With a model


def test_the_model_gets_the_sources_and_its_answer_is_returned_with_them(weft, server):
    server.replies.append(says("A global financial panic [1]."))
    answer = asked(weft, model_at(server))
    assert answer.answer == "A global financial panic [1]."
    assert (answer.model, answer.cited, answer.unknown, answer.note) == ("tiny", (1,), (), "")
    assert (answer.sources[0].doc_id, answer.sources[0].page) == ("crisis", 3)
    path, authorization, body = server.received[0]
    assert path == "/v1/chat/completions"
    assert authorization == f"Bearer {KEY}"
    assert body["model"] == "tiny"
    system, user = body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert user["content"].startswith("[Document 1: crisis.pdf, Page 3]\n")
    assert user["content"].endswith(f"Question: {QUESTION}")


def test_the_answer_as_json_has_the_contracts_keys(weft, server):
    server.replies.append(says("Panic [1]."))
    answer = asked(weft, model_at(server))
    found = json.loads(json.dumps(answer.to_dict()))
    assert {"answer", "sources", "truncated", "total_tokens"} <= found.keys()
    assert found["sources"] == [each.to_dict() for each in answer.sources]
    assert found["total_tokens"] > 0


def test_numbers_that_no_source_has_are_reported(weft, server):
    server.replies.append(says("Panic [1][42]. More [Document 2, 77]; see [0]."))
    answer = asked(weft, model_at(server))
    assert answer.cited == (1, 2)
    assert answer.unknown == (42, 77, 0)


def test_a_quote_without_its_citation_is_found(weft, server):
    quote = "The collapse of Lehman Brothers in September 2008 triggered a global financial panic."
    server.replies += [says(quote), says(f"{quote} [1]"), says(f"{quote} [2]")]
    silent, cited, wrong = (asked(weft, model_at(server)) for _ in range(3))
    assert [(each.source, each.sentence) for each in silent.uncited] == [(1, quote)]
    assert cited.uncited == ()
    assert [each.source for each in wrong.uncited] == [1]


@pytest.mark.parametrize(
    ("text", "cited", "unknown"),
    [
        ("One [1], two [2].", (1, 2), ()),
        ("Range [1-2] and list [1, 2].", (1, 2), ()),
        ("[Document 1] and [Source 2]", (1, 2), ()),
        ("【1】", (1,), ()),
        ("`array[1]` and\n```\nx[2]\n```", (), ()),
        ("[1](https://example.com) is a link, [a1] a name", (), ()),
        ("[1-99999]", (1,), (99999,)),
        ("", (), ()),
    ],
)
def test_citations_are_read_as_models_write_them(text, cited, unknown):
    research = ContextBuilder(Fixed([]), Shelf({})).fitted([source(1), source(2)])
    found = checked(text, research)
    assert (found.cited, found.unknown) == (cited, unknown)


def test_a_quote_is_checked_against_the_numbers_of_the_excerpts():
    first = "Quinces are cooked slowly with sugar until they turn red."
    second = "Medlars are eaten only after the first hard frost of autumn."
    research = ContextBuilder(Fixed([]), Shelf({})).fitted([source(1, first), source(2, second)])
    wrong = checked(f"{first} [2]\n\n{second} [1, 2]", research)
    assert (wrong.cited, [(each.source, each.sentence) for each in wrong.uncited]) == ((2, 1), [(1, first)])
    assert checked(f"{first} [Document 1]. {second} [1-2]", research).uncited == ()
    assert [each.source for each in checked(f"{first} [7] {second}", research).uncited] == [1, 2]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_when_it_says(weft, server, status):
    waits = []
    server.replies += [(status, {"Retry-After": "7"}, {}), (status, {}, {}), says("Panic [1].")]
    assert asked(weft, model_at(server, waits)).answer == "Panic [1]."
    assert waits == [7.0, 1.0]


def test_a_server_that_stays_busy_is_given_up_on(weft, server):
    server.replies += [(429, {}, {})] * 3
    with pytest.raises(ModelError, match=r"HTTP 429 for tiny after 3 attempts: wait, or check the quota"):
        asked(weft, model_at(server, max_retries=2))


def test_a_server_that_wants_a_long_wait_is_not_waited_for(weft, server):
    server.replies += [(429, {"Retry-After": "3600"}, {})]
    with pytest.raises(ModelError, match="asks to wait 3600 seconds"):
        asked(weft, model_at(server))


@pytest.mark.parametrize(("status", "fix"), [(401, "API key"), (404, "model's name"), (400, "--max-tokens")])
def test_what_will_not_pass_is_reported_at_once(weft, server, status, fix):
    server.replies.append((status, {}, {"error": {"message": f"key {KEY} is bad"}}))
    with pytest.raises(ModelError, match=fix) as caught:
        asked(weft, model_at(server))
    assert KEY not in str(caught.value)
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "junk", [b"<html>", b"", {}, {"choices": []}, {"choices": [{"message": {"content": None}}]},
             {"choices": [{"message": {"content": "  "}}]}, [1], {"choices": "x"},
             b"[" * 100_000, b"x" * 5_000_000],
)  # fmt: skip
def test_junk_is_no_answer(weft, server, junk):
    server.replies.append((200, {}, junk))
    with pytest.raises(ModelError, match=r"127\.0\.0\.1"):
        asked(weft, model_at(server))


def test_a_server_that_hangs_up_or_is_not_there_is_reported(weft, server):
    server.replies += [(None, {}, {})] * 2
    with pytest.raises(ModelError, match=r"could not be reached .* after 2 attempts"):
        asked(weft, model_at(server, max_retries=1))
    nowhere = ChatModel(ModelSettings(name="x", url="http://127.0.0.1:9/v1", max_retries=0))
    with pytest.raises(ModelError, match="could not be reached"):
        asked(weft, nowhere)


def test_a_server_that_never_answers_times_out(weft):
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match="ReadTimeout"):
            asked(weft, ChatModel(ModelSettings(name="x", url=url, timeout=0.2, max_retries=0)))


# As it comes


class Speaking:
    """A model that speaks piece by piece, and knows whether it was heard to the end."""

    name = "speaking"

    def __init__(self, *pieces):
        self.pieces = pieces
        self.asked = []
        self.closed = False

    def complete(self, messages):
        self.asked.append("complete")
        return "".join(self.pieces)

    def stream(self, messages):
        self.asked.append("stream")
        try:
            yield from self.pieces
        finally:
            self.closed = True


@pytest.fixture
def research(weft):
    return asyncio.run(ContextBuilder.for_weft(weft).build_context(QUESTION))


def test_the_sources_come_first_then_the_answer_piece_by_piece_and_then_all_of_it(weft, research):
    model = Speaking("A global ", "panic [1]", ". ")
    (first, sources), *pieces, (last, answer) = ask_events(QUESTION, research, model=model)
    assert (first, sources) == ("sources", research.sources)
    assert pieces == [("piece", "A global "), ("piece", "panic [1]"), ("piece", ". ")]
    assert (last, answer.answer, answer.cited, answer.model) == ("done", "A global panic [1].", (1,), "speaking")
    assert model.asked == ["stream"]


def test_asking_is_the_end_of_the_events_and_lets_a_model_answer_at_once(weft, research):
    model = Speaking("A global panic [1].")
    *_, (_, answer) = ask_events(QUESTION, research, model=model)
    assert asked(weft, model) == answer
    assert model.asked == ["stream", "complete"]
    *_, (_, extract) = ask_events(QUESTION, research, embedder=weft.tools.embedder)
    assert asked(weft) == extract


def test_who_stops_listening_ends_the_models_answer(research):
    model = Speaking("on ", "and ", "on")
    events = ask_events(QUESTION, research, model=model)
    assert [next(events)[0], next(events)] == ["sources", ("piece", "on ")]
    assert not model.closed
    events.close()
    assert model.closed


def test_sentences_of_the_sources_come_line_by_line():
    research = ContextBuilder(Fixed([]), Shelf({})).fitted(
        [source(1, "The zeppelin flew over the lake."), source(2, "A zeppelin burned at the mast in May.")]
    )
    pieces = [told for name, told in ask_events("zeppelin", research) if name == "piece"]
    assert len(pieces) == 2
    assert [piece.rstrip()[-3:] for piece in pieces] == ["[1]", "[2]"]


def test_what_could_not_be_read_is_noted_with_the_answer():
    class Damaged(Shelf):
        async def get_document_markdown(self, doc_id):
            if doc_id == "broken":
                raise ValueError("no gzip")
            return await super().get_document_markdown(doc_id)

    results = [{"doc_id": name, "page": 1, "score": 0.5, "filename": f"{name}.pdf"} for name in ("broken", "whole")]
    shelf = Damaged({"broken": {1: "x"}, "whole": {1: "The zeppelin flew over the lake."}})
    answer = asyncio.run(ask(ContextBuilder(Fixed(results), shelf), "zeppelin"))
    assert answer.answer == "The zeppelin flew over the lake. [1]"
    assert answer.note.endswith("; the pages of document 'broken' are left out: no gzip")


def test_no_model_is_asked_about_nothing(tmp_path, server):
    from weftwork import Weft

    with Weft.open(tmp_path / "empty.weft") as empty:
        answer = asked(empty, model_at(server))
    assert (answer.answer, answer.sources) == (NOTHING, ())
    assert answer.note.startswith("no page of a document was found; there is nothing in workspace 'main'")
    assert server.received == []


# Settings


def test_the_key_of_openai_goes_to_openai_alone():
    keys = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://gateway.example/v1"}
    for url, key in (
        ("https://api.openai.com/v1", KEY),
        ("http://gateway.example/v1", KEY),
        ("http://stranger.example/v1", None),
    ):
        for table in ({}, {"key_env": "OPENAI_API_KEY"}):
            assert ModelSettings.from_mapping({"name": "m", "url": url, **table}, keys).key == key


def test_settings_come_from_the_table_and_the_environment_over_it(tmp_path):
    table = {"name": "m", "url": "http://localhost:1/v1", "key_env": "WEFTWORK_TEST_KEY"}
    plain = ModelSettings.from_mapping(table, {"WEFTWORK_TEST_KEY": KEY})
    assert (plain.name, plain.url, plain.key) == ("m", "http://localhost:1/v1", KEY)
    variables = {"WEFTWORK_MODEL_NAME": "n", "WEFTWORK_MODEL_KEY": "k", "WEFTWORK_TEST_KEY": KEY}
    over = ModelSettings.from_mapping(table, variables)
    assert (over.name, over.key) == ("n", "k")
    assert ModelSettings.from_mapping({}, {}) is None
    named = tmp_path / "key"
    named.write_text(f"{KEY}\n")
    assert ModelSettings.from_mapping(table, {"WEFTWORK_MODEL_KEY_FILE": str(named)}).key == KEY
    with pytest.raises(InvalidInput, match="cannot be read"):
        ModelSettings.from_mapping(table, {"WEFTWORK_MODEL_KEY_FILE": str(tmp_path / "none")})
    assert KEY not in repr(plain)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"key": "sk"}, "key_env"),
        ({"api_key": "sk"}, "key_env"),
        ({"name": "x", "key_env": "AWS_SECRET_ACCESS_KEY"}, "begin with WEFTWORK_"),
        ({"nam": "x"}, "unknown setting"),
        ({"name": 3}, "name"),
        ({"name": "x", "url": "ftp://x"}, "http"),
        ({"name": "x", "url": "http://127.0.0.1:abc/v1"}, "http"),
        ({"name": "x", "url": "http://[::1"}, "http"),
        ({"name": "x", "timeout": 0}, "timeout"),
    ],
)
def test_wrong_settings_are_refused(table, message):
    with pytest.raises(InvalidInput, match=message):
        ModelSettings.from_mapping(table, {})


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it():
    with pytest.raises(ModelError) as caught:
        ChatModel(ModelSettings(name="x", url="http://127.0.0.1:9", key="geheim\nnis")).complete([])
    assert "geheim" not in str(caught.value)


# Without a model


def test_the_sentences_that_answer_are_quoted_with_their_citations(weft):
    answer = asked(weft)
    first = answer.answer.splitlines()[0]
    assert first == "The collapse of Lehman Brothers in September 2008 triggered a global financial panic. [1]"
    assert (answer.model, answer.note) == (None, "no model was used: the answer quotes the sources")
    assert answer.unknown == answer.uncited == () and 1 in answer.cited


def test_what_nobody_wrote_about_is_not_answered():
    assert extract_answer("zeppelin", [source(1, "Nothing of the kind is said on this page.")]) == NOTHING
    assert extract_answer("", [source(1, "Nothing is asked, so nothing answers it here.")]) == NOTHING
    assert extract_answer("zeppelin", [source(1, "")]) == NOTHING


def test_headings_tables_and_marks_are_not_quoted():
    text = (
        "# Zeppelin zeppelin zeppelin zeppelin\n\n| zeppelin | a | b | c |\n\n- The **zeppelin** flew over the lake.\n"
    )
    assert extract_answer("zeppelin", [source(1, text)]) == "The zeppelin flew over the lake. [1]"


def test_a_sentence_that_ends_with_a_colon_brings_its_list():
    text = "Lessons covered by the plan include:\n\n- skiing lessons\n- *yoga* classes.\n\nThe plan ends in June."
    wanted = "Lessons covered by the plan include: skiing lessons; yoga classes [1]"
    assert extract_answer("Which lessons are covered?", [source(1, text)]) == wanted


def test_an_entry_that_answers_by_itself_is_quoted_by_itself():
    text = "The rules of the house are these:\n\n- Dogs sleep in the hall at night.\n- Cats go where they like."
    assert "Dogs sleep in the hall at night. [1]" in extract_answer("Where do dogs sleep?", [source(1, text)])


def test_a_list_without_end_is_quoted_as_far_as_a_sentence_goes():
    entries = "\n".join(f"- lesson number {number}" for number in range(500))
    answer = extract_answer("Which lessons are covered?", [source(1, f"Lessons covered include:\n\n{entries}")])
    assert answer.startswith("Lessons covered include: lesson number 0; lesson number 1;")
    assert len(answer.split()) < 200


def test_steps_below_a_heading_are_quoted_together():
    text = "# Publish to the web\n\n1. Turn pages on in the settings.\n2. Push the branch to the server.\n3. Wait."
    answer = extract_answer(
        "How do I publish to the web?", [source(1, text), source(2, "The web is a nice thing to have.")]
    )
    assert answer == "Turn pages on in the settings; Push the branch to the server; Wait [1]"


def test_who_asks_how_gets_the_steps_beside_a_sentence_about_them():
    steps = "1. Run the linter on all notes.\n2. [Turn pages on for the site](https://x.org)."
    about = "Whoever wants to publish such notes by a linter could quickly turn old pages into some new site tomorrow."
    text = f"{steps}\n\n{about} We publish every day. They publish once a year."
    shown = "Run the linter on all notes; Turn pages on for the site [1]"
    assert shown in extract_answer("How do I turn on pages of a site to publish linter notes?", [source(1, text)])
    assert shown not in extract_answer("Who can turn on pages of a site to publish linter notes?", [source(1, text)])


def test_code_is_quoted_with_the_sentence_that_leads_to_it():
    text = "# Cron\n\nIt runs by itself. Add this line to your crontab:\n\n```sh\n* * * * * env[1] > ~/env\n```\n"
    answer = extract_answer("What do I add to my crontab?", [source(1, text), source(2, "A cron job is a job.")])
    assert answer == "Add this line to your crontab: [1]\n```\n* * * * * env[1] > ~/env\n```"
    assert checked(answer, ContextBuilder(Fixed([]), Shelf({})).fitted([source(1, text)])).cited == (1,)


def test_code_right_below_a_heading_is_quoted_under_its_words():
    answer = extract_answer(
        "How do I mount the disk?", [source(1, "## Mount the disk\n\n~~~\nmount /dev/sdb /mnt\n~~~\n")]
    )
    assert answer == "Mount the disk: [1]\n```\nmount /dev/sdb /mnt\n```"


def test_a_sentence_that_announces_an_answer_is_quoted_with_what_follows():
    text = "This page shows how notes are exported to PDF. Choose the printer. Then press the button."
    answer = extract_answer("How are notes exported to PDF?", [source(1, text), source(2, "Some notes are long ones.")])
    assert "Then press the button. [1]" in answer
    long = f"This page shows how notes are exported to PDF. {' '.join(['word'] * 90)}. Then press the button."
    assert "press" not in extract_answer("How are notes exported to PDF?", [source(1, long)])


def test_a_list_that_follows_is_quoted_as_one_with_what_leads_to_it():
    text = "The house has some rules on pets. Not allowed are:\n\n- Cats that bite people.\n- Dogs that bark at night."
    answer = extract_answer(
        "What are the rules of the house on pets?", [source(1, text), source(2, "A pet is nice to have.")]
    )
    assert answer.splitlines() == [
        "The house has some rules on pets. [1]",
        "Not allowed are: Cats that bite people; Dogs that bark at night [1]",
    ]


def test_the_source_that_was_found_first_is_quoted_before_one_with_more_of_the_words():
    first = replace(source(1, "The panel lists all orphan notes of a workspace."), relevance_score=0.9)
    other = replace(source(2, "A panel of others lists orphan notes and placeholders."), relevance_score=0.85)
    answer = extract_answer("Which panel lists orphan notes and placeholders?", [first, other])
    assert answer.splitlines()[0] == "The panel lists all orphan notes of a workspace. [1]"


def test_the_name_of_a_file_and_the_heading_above_say_what_a_sentence_is_about():
    said = "It takes ten minutes in the oven."
    pages = [
        source(1, "Bread is good with a little butter."),
        source(2, f"# Baking time\n\n{said}", filename="bread.md"),
    ]
    assert f"{said} [2]" in extract_answer("What is the baking time of bread?", pages)


def test_what_was_said_is_not_said_again():
    said = "The zeppelin flew over the lake in June."
    answer = extract_answer("zeppelin lake", [source(1, said), source(2, f"{said} The lake was calm on that day.")])
    assert answer.count(said) == 1


def test_a_number_in_brackets_on_a_page_is_no_citation_of_the_answer():
    answer = extract_answer("zeppelin", [source(1, "The zeppelin [7] flew as [2] and [Document 9] have shown.")])
    assert answer == "The zeppelin (7) flew as (2) and (Document 9) have shown. [1]"


def test_marks_of_code_in_a_sentence_hide_no_citation():
    answer = extract_answer("ferry", [source(1, "The ferry ``` leaves at nine from pier four in the morning.")])
    assert "`" not in answer
    assert answer.endswith("[1]")


def test_code_is_quoted_as_it_can_be_run():
    text = "To rotate all the keys of the ferry you execute\n`sops updatekeys -y files[1]` for each of them [2]."
    quoted = "To rotate all the keys of the ferry you execute `sops updatekeys -y files[1]` for each of them (2). [1]"
    assert extract_answer("ferry keys", [source(1, text)]) == quoted
    nested = extract_answer("ferry keys", [source(1, "The keys of the ferry [`a` 7] are `old` and lost.")])
    assert nested == "The keys of the ferry ('a' 7) are 'old' and lost. [1]"


@given(st.lists(st.text(max_size=150), min_size=1, max_size=4), st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_every_line_of_an_extract_ends_with_the_number_of_its_source(texts, query):
    sources = [source(number, text) for number, text in enumerate(texts, start=1)]
    answer = extract_answer(query, sources, HashingEmbedder(32))
    builder = ContextBuilder(Fixed([]), Shelf({}))
    if answer != NOTHING:
        for line in re.sub(r"^(`{3,})\n(?:.*\n)*?\1$\n?", "", answer, flags=re.MULTILINE).rstrip("\n").split("\n"):
            assert line.endswith(tuple(f" [{number}]" for number in range(1, len(texts) + 1)))
        found = checked(answer, builder.fitted(sources))
        assert found.unknown == () and found.cited
