"""OAuth 2.1: discovery, PKCE, clients by their documents, the page for owners of keys, and a local OIDC issuer."""

import base64
import hashlib
import json
import re
import secrets
import socket
import threading
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.client.auth.utils import validate_authorization_response_iss
from mcp.shared.auth import OAuthMetadata
from starlette.testclient import TestClient

from weftwork import Node, Weft
from weftwork.errors import InvalidInput
from weftwork.server.http.app import make_app
from weftwork.server.http.oauth import client_documents
from weftwork.server.http.oauth.client_documents import ClientDocuments
from weftwork.server.http.oauth.sealing import Seal
from weftwork.server.http.oauth.settings import OAuthSettings
from weftwork.server.http.options import Limits, Options
from weftwork.server.keys import make_key, revoke_key

URL = "http://127.0.0.1:8123"
READ = f"{URL}/v1/workspaces/main/search"
REDIRECT = "http://127.0.0.1:7777/callback"


@contextmanager
def serving(documents):
    """A server on this machine that hands out JSON documents by their paths."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = documents.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("oauth") / "a.weft", embedder="hashing") as engine:
        engine.add_user("ana@example.org")
        engine.add([Node(id="dome", title="Dome", text="The dome turns on rollers.")])
        yield engine


@pytest.fixture(scope="module")
def key(weft):
    return make_key(weft.store, user="me", workspaces=["main"], scope="write", now=weft.now())


def client_of(weft, **oauth):
    settings = OAuthSettings(url=URL, **oauth)
    app = make_app(weft, Options(oauth=settings, limits=Limits(requests_per_minute=0)))
    return TestClient(app, base_url=URL, follow_redirects=False)


@pytest.fixture(scope="module")
def http(weft, key):
    with client_of(weft) as client:
        yield client


@pytest.fixture(scope="module")
def assistant():
    """The address of the document that describes a client."""
    documents = {}
    with serving(documents) as address:
        documents["/client.json"] = {
            "client_id": f"{address}/client.json",
            "client_name": "A <b>helper</b>",
            "redirect_uris": [REDIRECT],
        }
        documents["/liar.json"] = {"client_id": "https://else.example/x", "redirect_uris": [REDIRECT]}
        documents["/secret.json"] = documents["/client.json"] | {
            "client_id": f"{address}/secret.json",
            "token_endpoint_auth_method": "client_secret_post",
        }
        yield f"{address}/client.json"


class Flow:
    """What a client does, one step after the other."""

    def __init__(self, http, client_id):
        self.http, self.client_id = http, client_id
        self.verifier = secrets.token_urlsafe(40)
        digest = hashlib.sha256(self.verifier.encode()).digest()
        self.challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def begin(self, **more):
        asked = {
            "client_id": self.client_id, "redirect_uri": REDIRECT, "response_type": "code", "state": "s1",
            "code_challenge": self.challenge, "code_challenge_method": "S256", "scope": "read write",
            "resource": f"{URL}/mcp",
        }  # fmt: skip
        return self.http.get("/authorize", params=asked | more)

    def answer(self, token, answer="allow", **more):
        page = self.begin(**more).headers["location"]
        sealed = parse_qs(urlsplit(page).query)["request"][0]
        return self.http.post("/oauth/approve", data={"request": sealed, "key": token, "answer": answer})

    def code(self, token, **more):
        told = parse_qs(urlsplit(self.answer(token, **more).headers["location"]).query)
        assert told["state"] == ["s1"]
        return told["code"][0]

    def exchange(self, **data):
        given = {"client_id": self.client_id, "redirect_uri": REDIRECT, "grant_type": "authorization_code"}
        return self.http.post("/token", data=given | {"code_verifier": self.verifier} | data)


@pytest.fixture
def flow(http, assistant):
    return Flow(http, assistant)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def search(http, token):
    return http.post(READ, json={"query": "rollers"}, headers=bearer(token))


def test_whoever_has_no_key_is_told_where_to_get_a_token(http):
    for path, metadata in (("/mcp", "/mcp"), ("/v1/workspaces", "")):
        answer = http.get(path)
        assert answer.status_code == 401
        (address,) = re.findall(r'resource_metadata="([^"]+)"', answer.headers["WWW-Authenticate"])
        assert address == f"{URL}/.well-known/oauth-protected-resource{metadata}"
        resource = http.get(urlsplit(address).path).json()
        assert resource["resource"].rstrip("/") == URL + metadata
        assert [each.rstrip("/") for each in resource["authorization_servers"]] == [URL]
    server = http.get("/.well-known/oauth-authorization-server").json()
    assert server["client_id_metadata_document_supported"] is True
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["authorization_endpoint"] == f"{URL}/authorize"
    assert "registration_endpoint" not in server


def test_an_owner_of_a_key_lets_a_client_in(flow, http, key):
    page = http.get(flow.begin().headers["location"])
    assert "A &lt;b&gt;helper&lt;/b&gt;" in page.text and "<b>helper" not in page.text
    assert "form-action 'self' http://127.0.0.1:7777" in page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    tokens = flow.exchange(code=flow.code(key[1])).json()
    assert (tokens["token_type"], tokens["scope"], tokens["expires_in"]) == ("Bearer", "write", 3600)
    assert search(http, tokens["access_token"]).json()["results"][0]["node"]["id"] == "dome"
    headers = {"Accept": "application/json, text/event-stream"} | bearer(tokens["access_token"])
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert len(http.post("/mcp", json=hello, headers=headers).json()["result"]["tools"]) >= 10
    again = flow.exchange(grant_type="refresh_token", refresh_token=tokens["refresh_token"]).json()
    assert search(http, again["access_token"]).status_code == 200
    assert search(http, tokens["refresh_token"]).status_code == 401
    assert search(http, key[1]).status_code == 200


def test_a_client_gets_no_more_than_it_asked_for_nor_than_the_key_has(flow, http, weft, key):
    reading = flow.exchange(code=flow.code(key[1], scope="read")).json()
    assert reading["scope"] == "read"
    writing = bearer(reading["access_token"])
    written = http.post(f"{URL}/v1/workspaces/main/memories", json={"text": "x"}, headers=writing)
    assert written.status_code == 403
    _, read_key = make_key(weft.store, user="me", workspaces=["main"], scope="read", now=weft.now())
    assert flow.exchange(code=flow.code(read_key)).json()["scope"] == "read"
    _, record = make_key(weft.store, user="me", workspaces=["main"], scope="record", now=weft.now())
    assert flow.answer(record).status_code == 403


def test_tokens_end_with_their_key(flow, http, weft):
    made, token = make_key(weft.store, user="me", workspaces=["main"], scope="read", now=weft.now())
    tokens = flow.exchange(code=flow.code(token)).json()
    assert search(http, tokens["access_token"]).status_code == 200
    revoke_key(weft.store, made.id, weft.now())
    assert search(http, tokens["access_token"]).status_code == 401
    answer = flow.exchange(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert answer.json()["error"] == "invalid_grant"


def test_a_code_is_used_once_by_the_client_that_began(flow, key):
    code = flow.code(key[1])
    assert flow.exchange(code=code, code_verifier="x" * 60).json()["error"] == "invalid_grant"
    assert flow.exchange(code=code, redirect_uri="http://127.0.0.1:7777/else").status_code == 400
    assert flow.exchange(code=code).status_code == 200
    assert flow.exchange(code=code).json()["error"] == "invalid_grant"


def test_every_answer_names_the_issuer_as_its_metadata_do(flow, http, key):
    metadata = OAuthMetadata.model_validate(http.get("/.well-known/oauth-authorization-server").json())
    for answer in ("allow", "deny"):
        told = parse_qs(urlsplit(flow.answer(key[1], answer).headers["location"]).query)
        validate_authorization_response_iss(told["iss"][0], metadata)


def test_what_is_not_approved_gives_no_code(flow, http, key):
    denied = parse_qs(urlsplit(flow.answer(key[1], "deny").headers["location"]).query)
    assert denied == {"error": ["access_denied"], "state": ["s1"], "iss": [f"{URL}/"]}
    wrong = flow.answer("weftwork_" + "x" * 43)
    assert wrong.status_code == 403 and "no key that holds" in wrong.text
    assert http.post("/oauth/approve", data={"request": "weftwork-oauth.v1.forged", "key": key[1]}).status_code == 400
    assert search(http, "weftwork-oauth.v1.forged").status_code == 401


def test_clients_are_who_their_documents_say(http, assistant, key):
    for wrong in ("liar.json", "secret.json", "none.json"):
        answer = Flow(http, assistant.replace("client.json", wrong)).begin()
        assert answer.status_code == 400 and "location" not in answer.headers
    flow = Flow(http, assistant)
    assert flow.begin(redirect_uri="https://evil.example/cb").status_code == 400
    assert flow.begin(redirect_uri="http://127.0.0.1:9999/callback").status_code == 302  # any port of this machine
    assert "invalid_target" in flow.begin(resource="https://other.example/mcp").headers["location"]
    for changed in ({"code_challenge": ""}, {"code_challenge_method": "plain"}):
        assert "error=invalid_request" in flow.begin(**changed).headers["location"]


def test_documents_are_fetched_from_public_addresses_alone(assistant):
    assert ClientDocuments(local=True).get(assistant) is not None
    for address in (
        assistant, "http://example.org/c.json", "https://127.0.0.1/c.json", "https://10.0.0.1/c", "https://localhost/c",
        "https://[::1]/c", "https://169.254.169.254/latest", "file:///etc/passwd", "https://u:p@example.org/c", "x", "",
    ):  # fmt: skip
        assert ClientDocuments(local=False).get(address) is None


def test_a_document_that_comes_byte_by_byte_is_given_up(monkeypatch):
    monkeypatch.setattr(client_documents, "SECONDS", 0.5)
    gone = threading.Event()

    def drip(listener, document):
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(10_000)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for _ in range(200):
                gone.wait(0.02)
                connection.sendall(b" ")
            connection.sendall(json.dumps(document).encode())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/client.json"
        document = {"client_id": address, "redirect_uris": [REDIRECT]}
        dripping = threading.Thread(target=drip, args=(listener, document))
        dripping.start()
        assert ClientDocuments(local=True).get(address) is None
        gone.set()
        dripping.join()


def test_a_secret_lets_tokens_outlive_a_restart(weft):
    one, two, other = Seal("a" * 32), Seal("a" * 32), Seal(None)
    token = one.close("access", {"x": 1}, weft.now(), timedelta(minutes=1))
    assert two.open("access", token, weft.now())["x"] == 1
    assert two.open("refresh", token, weft.now()) is None
    assert two.open("access", token, weft.now() + timedelta(minutes=2)) is None
    assert other.open("access", token, weft.now()) is None


def test_any_issuer_can_be_configured(weft, key):
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key())) | {"kid": "1", "use": "sig"}
    documents: dict[str, dict] = {"/keys": {"keys": [public]}}
    with serving(documents) as issuer, client_of(weft, issuer=issuer) as http:
        documents["/.well-known/openid-configuration"] = {"issuer": issuer, "jwks_uri": f"{issuer}/keys"}
        good = {"iss": issuer, "aud": f"{URL}/mcp", "exp": time.time() + 60, "email": "ana@example.org"}

        def token(signer=private, **claims):
            return jwt.encode(good | claims, signer, "RS256", {"kid": "1"})

        assert search(http, token()).status_code == 200
        written = http.post(f"{URL}/v1/workspaces/main/memories", json={"text": "x"}, headers=bearer(token()))
        assert written.status_code == 403
        allowed = bearer(token(scope="openid write"))
        assert http.post(f"{URL}/v1/workspaces/main/memories", json={"text": "x"}, headers=allowed).status_code == 201
        stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        for wrong in (
            token(signer=stranger),
            token(aud="https://other.example"),
            token(iss="https://other.example"),
            token(exp=time.time() - 120),
            token(email="nobody@example.org"),
            token(email_verified=False),
            jwt.encode(good, None, "none"),
            "rubbish",
        ):
            assert search(http, wrong).status_code == 401
        assert search(http, key[1]).status_code == 200  # keys go on working
        told = http.get("/.well-known/oauth-protected-resource/mcp").json()
        assert [each.rstrip("/") for each in told["authorization_servers"]] == [issuer]
        assert http.get("/authorize").status_code == 404


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"url": "http://weft.example.org"}, "begins with https://"),
        ({"url": "https://weft.example.org/app"}, "without a path"),
        ({"issuer": "https://id.example.org"}, "needs url"),
        ({"url": URL, "colour": "red"}, "use url, issuer"),
        ({"url": URL, "issuer": "ftp://x"}, "begins with https://"),
    ],
)
def test_settings_that_cannot_work_are_refused(table, why):
    with pytest.raises(InvalidInput, match=why):
        OAuthSettings.from_mapping(table, {})
    with pytest.raises(InvalidInput, match="at least 32"):
        OAuthSettings.from_mapping({"url": URL}, {"WEFTWORK_OAUTH_SECRET": "short"})
    assert OAuthSettings.from_mapping({}, {}) is None


def test_without_oauth_nothing_of_it_is_there(weft, key):
    with TestClient(make_app(weft, Options()), base_url=URL) as client:
        for path in ("/authorize", "/.well-known/oauth-protected-resource/mcp", "/oauth/approve"):
            assert client.get(path).status_code == 404
        assert client.post("/token", data={"x": "y"}).status_code == 401
        assert client.get("/mcp").headers["WWW-Authenticate"] == 'Bearer realm="weftwork"'
