"""A calendar file at an address, as calendars are published."""

from __future__ import annotations

from hashlib import blake2b

from weftwork.errors import InvalidInput
from weftwork.ingest.remotes.protocol import Address, Mirror
from weftwork.ingest.remotes.web import ask, authorised

NAME = "calendar.ics"


class Ics:
    """An iCalendar file."""

    connector = "calendar"

    def __init__(self, address: Address) -> None:
        self._address = address

    def pull(self, mirror: Mirror) -> bool | None:
        """Fetch the file if it changed; private addresses of calendars have secrets in them, so it is private."""
        known = {"If-None-Match": mirror.state.get("etag"), "If-Modified-Since": mirror.state.get("modified")}
        headers = {name: value for name, value in known.items() if value}
        answer = ask(self._address.url, headers=headers | authorised(self._address))
        if answer.status != 304:
            if b"BEGIN:VCALENDAR" not in answer.body[:1000]:
                raise InvalidInput("the address is no calendar: give that of its .ics file")
            mirror.agree({NAME: blake2b(answer.body, digest_size=8).hexdigest()}, lambda _: answer.body)
            mirror.state |= {"etag": answer.headers.get("ETag"), "modified": answer.headers.get("Last-Modified")}
        mirror.save()
        return None
