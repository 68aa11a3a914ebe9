"""A real browser for the tests of the inspector, without a window."""

import os
import shutil
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
QUERY = "Which mirrors may we ship?"


@contextmanager
def browser():
    """The browser of this machine; where there is none, the test is skipped."""
    named = (os.environ.get("WEFTWORK_BROWSER"), *map(shutil.which, NAMES))
    path = next((each for each in named if each), None)
    if path is None:
        pytest.skip("no browser: install one with  apt-get install chromium  or name it in WEFTWORK_BROWSER")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield opened
        opened.close()


class Visit:
    """A page of the inspector, and everything that went wrong in it."""

    def __init__(self, context, url, allowed=()):
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.url = url
        self.errors = []
        self.dialogs = []
        self._allowed = allowed
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", self._asked)

    def _heard(self, message):
        if message.type in ("error", "warning") and not any(part in message.text for part in self._allowed):
            self.errors.append(message.text)

    def _asked(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, **settings):
        """Go to the inspector with these settings, and wait for what it shows."""
        known = {"workspace": "studio", "user": "ana", "budget": 900, "query": QUERY, **settings}
        self.page.goto(f"{self.url}/#{urlencode(known)}")
        self.settled()
        return self.page

    def settled(self):
        """Wait until no question is open any more."""
        self.page.wait_for_selector("body.asked:not(.busy)")
