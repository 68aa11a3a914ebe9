"""Small servers with the shapes that feeds, WebDAV, buckets, GitHub, Notion and IMAP answer with."""

import base64
import hashlib
import hmac
import json
import re
import socketserver
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape


class Web:
    """A web server whose `answer(request)` returns a status, headers and a body; `asked` are the requests."""

    def __init__(self, answer):
        self.asked = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                web.asked.append((self.command, self.path))
                status, headers, content = answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_PROPFIND = do_GET

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def basic(headers):
    """User and password of a request."""
    kind, _, pair = headers.get("Authorization", "").partition(" ")
    return tuple(base64.b64decode(pair).decode().split(":", 1)) if kind == "Basic" else None


def webdav(files, *, prefix="/files/", password=None):
    """A server of files: `files` are contents by path; folders are asked for one level at a time."""

    def answer(method, path, headers, _body):
        if password and basic(headers) != ("ann", password):
            return 401, {"WWW-Authenticate": "Basic"}, b""
        inner = unquote(path).removeprefix(prefix)
        if method == "GET":
            return (200, {}, files[inner]) if inner in files else (404, {}, b"")
        if headers.get("Depth") != "1":
            return 403, {}, b""
        entries = [_entry(prefix + inner, None)]
        below = {name.removeprefix(inner) for name in files if name.startswith(inner)}
        entries += [_entry(f"{prefix}{inner}{name}/", None) for name in {n.split("/")[0] for n in below if "/" in n}]
        entries += [_entry(prefix + inner + name, files[inner + name]) for name in below if "/" not in name]
        return 207, {}, f'<d:multistatus xmlns:d="DAV:">{"".join(entries)}</d:multistatus>'.encode()

    return Web(answer)


def _entry(path, content):
    kind = "<d:collection/>" if content is None else ""
    tag = "" if content is None else f'<d:getetag>"{hashlib.md5(content).hexdigest()}"</d:getetag>'
    return (
        f"<d:response><d:href>{escape(quote(path))}</d:href><d:propstat><d:prop>"
        f"<d:resourcetype>{kind}</d:resourcetype>{tag}</d:prop></d:propstat></d:response>"
    )


def bucket(objects, *, key_id, secret, at_once=2):
    """A bucket `docs` whose listing has `at_once` keys a page, and that checks signatures as the protocol says."""

    def answer(_method, path, headers, _body):
        if not _is_signed(path, headers, key_id, secret):
            return 403, {}, b"<Error><Code>SignatureDoesNotMatch</Code></Error>"
        parts = urlsplit(path)
        if parts.query:
            query = parse_qs(parts.query)
            prefix, start = query.get("prefix", [""])[0], int(query.get("continuation-token", ["0"])[0])
            keys = [key for key in sorted(objects) if key.startswith(prefix)]
            shown = "".join(
                f'<Contents><Key>{escape(key)}</Key><ETag>"{hashlib.md5(objects[key]).hexdigest()}"</ETag>'
                f"<Size>{len(objects[key])}</Size></Contents>"
                for key in keys[start : start + at_once]
            )
            more = (
                f"<NextContinuationToken>{start + at_once}</NextContinuationToken>"
                if start + at_once < len(keys)
                else ""
            )
            space = "http://s3.amazonaws.com/doc/2006-03-01/"
            return 200, {}, f'<ListBucketResult xmlns="{space}">{shown}{more}</ListBucketResult>'.encode()
        return 200, {}, objects[unquote(parts.path).removeprefix("/docs/")]

    return Web(answer)


def _is_signed(path, headers, key_id, secret):
    given = headers.get("Authorization", "")
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)",
        given,
    )
    if match is None or match[1] != key_id:
        return False
    parts = urlsplit(path)
    names = match[4].split(";")
    lines = "".join(f"{name}:{headers[name]}\n" for name in names)
    request = "\n".join(["GET", parts.path, parts.query, lines, match[4], headers["x-amz-content-sha256"]])
    scope = f"{match[2]}/{match[3]}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(request.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in (match[2], match[3], "s3", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex() == match[5]


def github(issues, comments, *, private=False, token=None):
    """Issues and comments of `ann/boats`, two a page."""

    def answer(_method, path, headers, _body):
        if token and headers.get("Authorization") != f"Bearer {token}":
            return 401, {}, b"{}"
        parts = urlsplit(path)
        if parts.path == "/repos/ann/boats":
            return 200, {}, json.dumps({"full_name": "ann/boats", "private": private}).encode()
        match = re.fullmatch(r"/repos/ann/boats/issues/(\d+)/comments", parts.path)
        listed = comments.get(int(match[1]), []) if match else list(issues.values())
        page = int(parse_qs(parts.query).get("page", ["1"])[0])
        shown, more = listed[2 * page - 2 : 2 * page], len(listed) > 2 * page
        link = f'<http://{headers["Host"]}{parts.path}?state=all&page={page + 1}>; rel="next"' if more else ""
        return 200, {"Link": link} if link else {}, json.dumps(shown).encode()

    return Web(answer)


def notion(pages, blocks, *, token):
    """Pages and blocks, one page of results at a time."""

    def answer(method, path, headers, body):
        if headers.get("Authorization") != f"Bearer {token}" or not headers.get("Notion-Version"):
            return 401, {}, b"{}"
        parts = urlsplit(path)
        if method == "POST":
            start, results = int(json.loads(body).get("start_cursor") or 0), list(pages.values())
            shown, following = results[start : start + 1], start + 1
        else:
            start, results = 0, blocks.get(parts.path.split("/")[3], [])
            shown, following = results, len(results)
        more = following < len(results)
        answered = {
            "object": "list",
            "results": shown,
            "has_more": more,
            "next_cursor": str(following) if more else None,
        }
        return 200, {}, json.dumps(answered).encode()

    return Web(answer)


class _Mailbox(socketserver.StreamRequestHandler):
    """Answers as an IMAP server with one mailbox, INBOX."""

    server: "_MailServer"

    def handle(self):
        self.wfile.write(b"* OK ready\r\n")
        for line in self.rfile:
            tag, _, command = line.decode().strip().partition(" ")
            word = command.split(" ")[0].upper()
            lines, status = getattr(self, f"answer_{word.lower()}", lambda _: ([], "OK"))(command)
            for each in lines:
                self.wfile.write(each + b"\r\n")
            self.wfile.write(f"{tag} {status} done\r\n".encode())
            if word == "LOGOUT":
                return

    def answer_capability(self, _command):
        return [b"* CAPABILITY IMAP4rev1"], "OK"

    def answer_logout(self, _command):
        return [b"* BYE"], "OK"

    def answer_login(self, command):
        return [], "OK" if self.server.password in command else "NO"

    def answer_examine(self, command):
        validity = f"* OK [UIDVALIDITY {self.server.state['validity']}]".encode()
        return [b"* %d EXISTS" % len(self.server.messages), validity], "OK" if "INBOX" in command else "NO"

    def answer_uid(self, command):
        if command.upper().startswith("UID SEARCH"):
            return [b"* SEARCH " + b" ".join(str(number).encode() for number in self.server.messages)], "OK"
        return list(self._fetched(command)), "OK"

    def _fetched(self, command):
        for number in map(int, command.split(" ")[2].split(",")):
            letter = self.server.messages[number]
            if "BODY.PEEK" in command:
                self.server.fetched.append(number)
                yield b"* 1 FETCH (UID %d BODY[] {%d}\r\n%s)" % (number, len(letter), letter)
            else:
                yield b"* 1 FETCH (UID %d RFC822.SIZE %d)" % (number, len(letter))


class _MailServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    messages: dict
    password: str
    state: dict
    fetched: list


@contextmanager
def imap(messages, *, password, state):
    """A mailbox: `messages` are letters by number, `state["validity"]` is what the numbers hold for."""
    with _MailServer(("127.0.0.1", 0), _Mailbox) as server:
        server.messages, server.password, server.state, server.fetched = messages, password, state, []
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"imap://ann@127.0.0.1:{server.server_address[1]}/INBOX", server.fetched
        server.shutdown()
