"""A real browser, where there is one: make browser installs it."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def find_chromium() -> str | None:
    """Return where the browser is."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """Chromium, started once."""
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: make browser")
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("no chromium on this machine: make browser")
    with api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


class Tab:
    """A page of the browser, and what must not happen on it."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text))

    def requested(self) -> list[str]:
        """Return the addresses that the page requested, without data: and blob:."""
        return [url for url in self.requests if not url.startswith(("data:", "blob:"))]


Opened = Callable[..., Tab]


@pytest.fixture
def opened(browser: "Browser", tmp_path: Path) -> Iterator[Opened]:
    """Open an address in a fresh window; nothing may go wrong in it."""
    tabs: list[Tab] = []
    contexts: list[Any] = []

    def open_(address: str, width: int = 1280, **context: Any) -> Tab:
        result = browser.new_context(
            viewport={"width": width, "height": 900}, accept_downloads=True, **context
        )
        contexts.append(result)
        tabs.append(Tab(result.new_page()))
        tabs[-1].page.set_default_timeout(20_000)
        tabs[-1].page.goto(address)
        return tabs[-1]

    yield open_
    for tab in tabs:
        assert tab.errors == []
        assert not tab.page.evaluate("'hacked' in window")
    for context in contexts:
        context.close()
