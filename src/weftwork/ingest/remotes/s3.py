"""Buckets of S3 and of servers that speak its protocol.

Requests are signed as https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html says.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote, urlencode, urlsplit

from weftwork.errors import InvalidInput
from weftwork.ingest.events import Skipped
from weftwork.ingest.remotes.protocol import Address, Mirror, file_name
from weftwork.ingest.remotes.web import Answer, ask

LARGEST = 250_000_000
_EMPTY = hashlib.sha256(b"").hexdigest()


class S3:
    """The objects of a bucket below a prefix: `s3://bucket/prefix?endpoint=https://…&region=…`."""

    connector = ""

    def __init__(self, address: Address) -> None:
        self._id, _, self._secret = address.key.partition(":")
        if address.key and not self._secret:
            raise InvalidInput("the key of a bucket has two parts: write it as  ID:SECRET")
        self._region = address.options.get("region", "us-east-1")
        endpoint = address.options.get("endpoint", f"https://s3.{self._region}.amazonaws.com")
        parts = urlsplit(address.url)
        self._bucket, self._prefix = f"{endpoint.rstrip('/')}/{parts.netloc}", parts.path.lstrip("/")
        self._keys: dict[str, str] = {}

    def pull(self, mirror: Mirror) -> bool | None:
        """Copy objects with another entity tag; a bucket that answers without a key is public."""
        listed: dict[str, str] = {}
        for key, version, size in self._objects():
            if key.endswith("/"):
                continue
            if size > LARGEST:
                mirror.skipped.append(Skipped(key, f"is larger than {LARGEST // 1_000_000} MB"))
                continue
            name = file_name(key.removeprefix(self._prefix))
            listed[name] = version
            self._keys[name] = key
            mirror.origins[name] = f"{self._bucket}/{quote(key)}"
        mirror.agree(listed, lambda name: self._ask(f"/{quote(self._keys[name])}").body)
        return None if self._secret else True

    def _objects(self) -> Iterator[tuple[str, str, int]]:
        token = ""
        while True:
            query = {"list-type": "2", "prefix": self._prefix} | ({"continuation-token": token} if token else {})
            page = self._ask("", query).xml()
            space = page.tag.rpartition("}")[0] + "}" if "}" in page.tag else ""
            for item in page.iter(f"{space}Contents"):
                values = [item.findtext(f"{space}{name}") or "" for name in ("Key", "ETag", "Size")]
                yield values[0], values[1], int(values[2] or 0)
            token = page.findtext(f"{space}NextContinuationToken") or ""
            if not token:
                return

    def _ask(self, path: str, query: dict[str, str] | None = None) -> Answer:
        asked = urlencode(sorted((query or {}).items()), quote_via=quote, safe="-_.~")
        url = f"{self._bucket}{path}"
        return ask(f"{url}?{asked}" if asked else url, headers=self._signed(url, asked))

    def _signed(self, url: str, query: str) -> dict[str, str]:
        if not self._secret:
            return {}
        now = datetime.now(UTC)
        moment, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
        parts = urlsplit(url)
        headers = {"host": parts.netloc, "x-amz-content-sha256": _EMPTY, "x-amz-date": moment}
        names = ";".join(headers)
        lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
        request = "\n".join(["GET", parts.path or "/", query, lines, names, _EMPTY])
        scope = f"{day}/{self._region}/s3/aws4_request"
        signed = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(request.encode()).hexdigest()])
        signature = hmac.new(signing_key(self._secret, day, self._region), signed.encode(), hashlib.sha256).hexdigest()
        credential = f"Credential={self._id}/{scope}, SignedHeaders={names}, Signature={signature}"
        return {**headers, "Authorization": f"AWS4-HMAC-SHA256 {credential}"}


def signing_key(secret: str, day: str, region: str) -> bytes:
    """The key of a day, a region and the service."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
