"""Open pages in a real browser: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# faults of these levels make a page hard or impossible to use with assistive technology
SERIOUS = ("serious", "critical")


def chromium_path() -> str | None:
    """Return the path of the system's Chromium, or None; ``PARAQD_CHROMIUM`` names another one."""
    given = os.environ.get("PARAQD_CHROMIUM")
    found = [shutil.which(name) for name in ((given,) if given else _NAMES)]
    return next((path for path in found if path), None)


def reason_to_skip() -> str:
    """Return why browser tests cannot run here, or an empty string if they can."""
    missing = [name for name in ("playwright", "axe_playwright_python") if find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed: run make setup"
    return "" if chromium_path() else "Chromium is not installed: install the system's package chromium"


skip_without_chromium = pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip())


@contextmanager
def open_browser() -> Iterator:
    """Start Chromium, and yield the Playwright browser.

    Close it before other tests run an event loop, because Playwright's own loop counts as running until then.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watch:
    """What a page complained about, and the addresses that it asked for."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def watched_page(browser, *, expect_errors: bool = False, **options) -> Iterator:
    """Yield a page of a new context, with ``page.watch``. The page must not report an error.

    ``options`` are those of Playwright's ``new_context``, such as ``color_scheme="dark"`` or ``viewport``.
    """
    context = browser.new_context(**options)
    page = context.new_page()
    page.watch = watch = Watch()
    page.on("pageerror", lambda error: watch.errors.append(str(error)))
    page.on("console", lambda message: message.type == "error" and watch.errors.append(message.text))
    page.on("dialog", lambda dialog: (watch.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: watch.requests.append(request.url))
    try:
        yield page
        assert expect_errors or not watch.errors, watch.errors
    finally:
        context.close()


def accessibility_faults(page) -> list[str]:
    """Return a line for each serious fault that axe-core finds in the page as it is now."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']} ({fault['impact']}): {fault['help']}: {node['html'][:200]}"
        for fault in found
        if fault["impact"] in SERIOUS
        for node in fault["nodes"]
    ]


def folder_of_pictures() -> Path | None:
    """Return the folder in ``PARAQD_SCREENSHOTS`` to which tests may write pictures of pages, or None."""
    given = os.environ.get("PARAQD_SCREENSHOTS")
    return Path(given) if given else None
