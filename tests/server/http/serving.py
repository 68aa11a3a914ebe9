"""A workspace with two users, keys for it, and an application that tests can call."""

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime

import uvicorn
from starlette.testclient import TestClient

from weftwork import Node, Weft
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Local, Options
from weftwork.server.keys import make_key

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
LOCAL_URL = "http://127.0.0.1:8000"
SAME_REQUEST = {"X-Request-Id": "the-same-request"}
"""Answers to be compared byte by byte differ in nothing but what they say."""
STUDIO = Local(user="ana", workspace="studio")


def open_studio(path, clock=lambda: NOW):
    """A store with the workspaces studio (ana, ben) and other (ana), and a few pages."""
    weft = Weft.open(path, embedder="hashing", clock=clock)
    for workspace in ("studio", "other"):
        weft.create_workspace(workspace, owner="ana")
    weft.add_user("ben", workspace="studio")
    weft.add(
        [
            Node(id="plan", type="page", title="Mirror plan", text="The mirror cell ships in March."),
            Node(id="private", type="page", title="Salary", text="Ana earns a secret sum.", access=frozenset({"ana"})),
        ],
        workspace="studio",
    )
    weft.add([Node(id="elsewhere", type="page", title="Elsewhere", text="Another mirror.")], workspace="other")
    return weft


def key_for(weft, *, user="ana", workspaces=("studio",), scope="read", **more):
    """The header of a new key."""
    _, token = make_key(weft.store, user=user, workspaces=workspaces, scope=scope, now=weft.now(), **more)
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def calling(weft, base_url=LOCAL_URL, **options):
    """A client of an application, started and stopped; it is local unless there are keys."""
    app = make_app(weft, Options(**{"local": STUDIO, **options}))
    with TestClient(app, base_url=base_url, headers=SAME_REQUEST, raise_server_exceptions=True) as client:
        yield client


@contextmanager
def served(weft, *, port=0, **options):
    """The address of a real server in this process."""
    app = make_app(weft, Options(**{"local": STUDIO, **options}))
    with running(app, port=port) as url:
        yield url


@contextmanager
def running(app, *, port=0, http="auto"):
    """The address at which uvicorn serves an application, in a thread."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=port, http=http, log_level="warning", access_log=False, lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def local_client(app):
    """A client of an application that is not started: for what needs no job."""
    return TestClient(app, base_url=LOCAL_URL, headers=SAME_REQUEST)
