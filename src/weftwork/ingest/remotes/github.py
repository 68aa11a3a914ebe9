"""GitHub: issues, pull requests and their comments, a note for each.

https://docs.github.com/en/rest/issues
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from weftwork.errors import InvalidInput
from weftwork.ingest.remotes.protocol import Address, Mirror, note
from weftwork.ingest.remotes.web import Answer, ask, authorised

API = "https://api.github.com"
AT_ONCE = 100
MOST_PAGES = 1_000


class GitHub:
    """The issues of one repository: `github:owner/name`."""

    connector = "markdown"

    def __init__(self, address: Address) -> None:
        if len(address.url.strip("/").split("/")) != 2:
            raise InvalidInput(f"github:{address.url} names no repository: write  github:OWNER/NAME")
        self._address = address
        self._api = address.options.get("api", API).rstrip("/")
        self._repository = f"{self._api}/repos/{address.url.strip('/')}"
        self._issues: dict[str, dict[str, Any]] = {}

    def pull(self, mirror: Mirror) -> bool | None:
        """List all issues, and read those that changed; a private repository is private here."""
        private = self._ask(self._repository).json().get("private", True)
        listed: dict[str, str] = {}
        for issue in self._listed(f"{self._repository}/issues?state=all&sort=created&direction=asc"):
            kind = "pull" if "pull_request" in issue else "issue"
            name = f"{kind}-{int(issue['number'])}.md"
            listed[name] = str(issue["updated_at"])
            self._issues[name] = issue
            mirror.origins[name] = str(issue.get("html_url") or "")
        mirror.agree(listed, self._note)
        return None if private else True

    def _note(self, name: str) -> bytes:
        issue = self._issues[name]
        number = int(issue["number"])
        comments = self._listed(f"{self._repository}/issues/{number}/comments") if issue.get("comments") else ()
        said = [
            f"## {_login(comment)}, {comment['created_at'][:10]}\n\n{comment.get('body') or ''}" for comment in comments
        ]
        fields = {
            "status": issue.get("state"), "author": _login(issue), "created": issue.get("created_at"),
            "closed": issue.get("closed_at"), "link": issue.get("html_url"),
            "assignees": [person["login"] for person in issue.get("assignees") or ()],
            "tags": [label["name"].replace(" ", "-") for label in issue.get("labels") or ()],
            "aliases": [f"#{number}"],
        }  # fmt: skip
        return note(str(issue["title"]), fields, "\n\n".join([issue.get("body") or "", *said]))

    def _listed(self, url: str) -> Iterator[dict[str, Any]]:
        following = f"{url}{'&' if '?' in url else '?'}per_page={AT_ONCE}"
        for _ in range(MOST_PAGES):
            answer = self._ask(following)
            yield from answer.json()
            following = _next(answer.headers.get("Link") or "")
            if not following or urlsplit(following)[:2] != urlsplit(self._api)[:2]:
                return

    def _ask(self, url: str) -> Answer:
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        return ask(url, headers=headers | authorised(self._address, "Bearer"))


def _login(item: dict[str, Any]) -> str:
    return str((item.get("user") or {}).get("login") or "ghost")


def _next(links: str) -> str:
    """The address of the next page of a list."""
    for link in links.split(","):
        target, _, relation = link.partition(";")
        if 'rel="next"' in relation:
            return target.strip().strip("<>")
    return ""
