"""Pictures of the page: twelve states at three widths, of the sample workspace, into a folder that is not committed.

`scripts/screenshots.py docs` takes those of the documents anew, into docs/pictures/.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from weftwork import Weft, sample
from weftwork.faces.memory import Memories
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Local, Options

FOLDER = Path("screenshots")
WIDTHS = {"wide": (1440, 900), "tablet": (1024, 768), "phone": (390, 844)}
ASKED = {"query": "Which mirrors may we ship?", "budget": 900}
STATES: dict[str, dict[str, Any]] = {
    "01-start": {},
    "02-empty": {"workspace": "bare"},
    "03-context": ASKED,
    "04-focus": {**ASKED, "focus": "finch"},
    "05-raw": {**ASKED, "raw": 1},
    "06-nothing-fits": {**ASKED, "budget": 3},
    "07-refused": {**ASKED, "recipe": "no-such-recipe"},
    "08-compare": {**ASKED, "view": "compare"},
    "09-two-users": {**ASKED, "view": "compare", "b-user": "ben"},
    "10-receipts": {"view": "receipts"},
    "11-documents": {"view": "documents"},
    "12-memories": {"view": "memories"},
}
PICTURES = Path("docs/pictures")
FOR_DOCS: dict[str, dict[str, Any]] = {
    "context": {"query": "What do librarians check when a telescope comes back?", "budget": 600},
    "two-users": STATES["09-two-users"],
}
COLOURS = 96
"""Enough for the page, and a third of the bytes."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server of the sample, with a receipt and an empty workspace."""
    with Weft.open(folder / "studio.weft", clock=lambda: sample.NOW) as weft:
        sample.load(weft)
        weft.create_workspace("bare", owner=sample.OWNER)
        memories = Memories(weft)
        for text in ("Mira prefers calls before ten.", "The open evening is on 26 March, after the last shipment."):
            memories.remember(text, user=sample.OWNER, workspace=sample.WORKSPACE)
        weft.context("Who can bring the foam in time?", user=sample.OWNER, workspace=sample.WORKSPACE, budget=600)
        options = Options(
            local=Local(user=sample.OWNER, workspace=sample.WORKSPACE), limits=Limits(requests_per_minute=0)
        )
        server = uvicorn.Server(uvicorn.Config(make_app(weft, options), port=0, log_level="warning", lifespan="on"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join()


def take(browser: Browser, url: str, size: str, scheme: Any) -> None:
    """Take the pictures of all states in one size and colour scheme."""
    width, height = WIDTHS[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    for name, settings in STATES.items():
        page = context.new_page()
        page.goto(f"{url}/#{urlencode(settings)}")
        page.wait_for_selector("body.asked:not(.busy)")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=FOLDER / f"{name}-{size}{'-dark' if scheme == 'dark' else ''}.png")
        page.close()
    context.close()


def take_for_docs(browser: Browser, url: str) -> None:
    """Take the pictures that the documents show."""
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    for name, settings in FOR_DOCS.items():
        page.goto("about:blank")
        page.goto(f"{url}/#{urlencode(settings)}")
        page.wait_for_selector("body.asked:not(.busy)")
        page.wait_for_load_state("networkidle")
        picture = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
        picture.save(PICTURES / f"{name}.png", optimize=True)
    page.close()


def main() -> None:
    """Take all pictures."""
    path = os.environ.get("WEFTWORK_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit("no browser: install one with  apt-get install chromium  or name it in WEFTWORK_BROWSER")
    for_docs = sys.argv[1:] == ["docs"]
    folder = PICTURES if for_docs else FOLDER
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as store, serving(Path(store)) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        if for_docs:
            take_for_docs(browser, url)
        else:
            for size in WIDTHS:
                take(browser, url, size, "light")
            take(browser, url, "wide", "dark")
        browser.close()
    sys.stdout.write(f"{len(list(folder.glob('*.png')))} pictures are in {folder}/\n")


if __name__ == "__main__":
    main()
