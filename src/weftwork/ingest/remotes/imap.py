"""IMAP mailboxes: a letter for each message."""

from __future__ import annotations

import imaplib
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from weftwork.errors import AccessDenied, NotFound, RemoteError
from weftwork.ingest.events import Skipped
from weftwork.ingest.remotes.protocol import Address, Mirror, file_name

LARGEST = 100_000_000
AT_ONCE = 200
"""Messages whose sizes are asked for at once."""
SECONDS = 60.0
_SIZE = re.compile(rb"UID (\d+).*?RFC822\.SIZE (\d+)|RFC822\.SIZE (\d+).*?UID (\d+)")


class Imap:
    """The messages of one mailbox: `imaps://user@host/INBOX`."""

    connector = "mail"

    def __init__(self, address: Address) -> None:
        self._address = address
        self._box = unquote(urlsplit(address.url).path.strip("/")) or "INBOX"

    def pull(self, mirror: Mirror) -> bool | None:
        """Fetch new messages, and remove those that are gone; mail is private."""
        with self._connected() as server:
            validity = self._select(server)
            if mirror.state.get("validity") != validity:  # the numbers of messages mean others now
                for name in list(mirror.versions):
                    mirror.remove(name)
                mirror.state = {"validity": validity}
            numbers = _checked(server.uid("SEARCH", "ALL"))[0].split()
            files = {f"{file_name(self._box)}/{number.decode()}.eml": number.decode() for number in numbers}
            large = self._large(server, [number for name, number in files.items() if name not in mirror.versions])
            mirror.skipped += [
                Skipped(name, f"is larger than {LARGEST // 1_000_000} MB") for name in files if files[name] in large
            ]
            listed = {name: validity for name, number in files.items() if number not in large}
            mirror.agree(listed, lambda name: self._letter(server, files[name]))
        return None

    @contextmanager
    def _connected(self) -> Iterator[imaplib.IMAP4]:
        parts = urlsplit(self._address.url)
        host = parts.hostname or ""
        try:
            if parts.scheme == "imaps":
                context = ssl.create_default_context()
                server: imaplib.IMAP4 = imaplib.IMAP4_SSL(host, parts.port or 993, ssl_context=context, timeout=SECONDS)
            else:
                server = imaplib.IMAP4(host, parts.port or 143, timeout=SECONDS)
        except (OSError, imaplib.IMAP4.error) as error:
            raise RemoteError(f"{host} cannot be reached ({error}): try again later") from error
        try:
            self._log_in(server, host)
            yield server
        except (OSError, imaplib.IMAP4.error) as error:
            raise RemoteError(f"{host} broke off ({error}): try again, which goes on where this stopped") from error
        finally:
            try:
                server.logout()
            except (OSError, imaplib.IMAP4.error):
                server.shutdown()

    def _log_in(self, server: imaplib.IMAP4, host: str) -> None:
        try:
            server.login(self._address.user, self._address.key)
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error as error:
            why = f"{host} refuses {self._address.user!r}: set the right key, see  weftwork pull --help"
            raise AccessDenied(why) from error

    def _select(self, server: imaplib.IMAP4) -> str:
        """Open the mailbox, for reading only, and return the number that its message numbers hold for."""
        quoted = '"' + self._box.replace("\\", "\\\\").replace('"', '\\"') + '"'
        state, _ = server.select(quoted, readonly=True)
        if state != "OK":
            raise NotFound(f"there is no mailbox {self._box!r}: check the address")
        _, values = server.response("UIDVALIDITY")
        return (values[0] or b"").decode() if values and isinstance(values[0], bytes) else ""

    def _large(self, server: imaplib.IMAP4, numbers: list[str]) -> set[str]:
        large = set()
        for start in range(0, len(numbers), AT_ONCE):
            for line in _checked(server.uid("FETCH", ",".join(numbers[start : start + AT_ONCE]), "(RFC822.SIZE)")):
                if match := _SIZE.search(line):
                    number, size = (match[1], match[2]) if match[1] else (match[4], match[3])
                    large |= {number.decode()} if int(size) > LARGEST else set()
        return large

    def _letter(self, server: imaplib.IMAP4, number: str) -> bytes | None:
        _, parts = server.uid("FETCH", number, "(BODY.PEEK[])")
        return next((part[1] for part in parts or () if isinstance(part, tuple)), None)


def _checked(answer: tuple[str, list[bytes | tuple[bytes, bytes] | None]]) -> list[bytes]:
    state, lines = answer
    if state != "OK":
        raise RemoteError(f"the mailbox answers {state}: try again later")
    return [line for line in lines if isinstance(line, bytes)] or [b""]
