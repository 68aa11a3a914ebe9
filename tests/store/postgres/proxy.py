"""A way to the server that can be cut at the worst moment: after COMMIT was sent, before its answer came back."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

NAME = ".s.PGSQL.5432"


class Proxy:
    """Listens where a server would, passes everything on, and loses the answer to a COMMIT when told to."""

    def __init__(self, server: Path, folder: Path) -> None:
        self._server = str(server / NAME)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / NAME))
        self._listener.listen()
        self.lose_commit = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            threading.Thread(target=self._asked, args=(client, server), daemon=True).start()
            threading.Thread(target=_passed_on, args=(server, client), daemon=True).start()

    def _asked(self, client: socket.socket, server: socket.socket) -> None:
        while data := _received(client):
            losing = self.lose_commit and b"COMMIT" in data
            if losing:
                self.lose_commit = False
                client.shutdown(socket.SHUT_RDWR)
            server.sendall(data)
        server.close()


def _passed_on(source: socket.socket, target: socket.socket) -> None:
    while data := _received(source):
        try:
            target.sendall(data)
        except OSError:
            continue  # nobody listens any more, and the server may go on
    target.close()


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(65_536)
    except OSError:
        return b""
