"""A real browser for tests: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
TABLET = {"width": 820, "height": 1180}


def no_browser(reason: str) -> Any:
    """Skip the test, or fail in CI, where the test must run."""
    return pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)


@contextmanager
def opened_browser() -> Iterator[Any]:
    """Run a browser with Playwright."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        no_browser("playwright is not installed: pip install 'risk-env[dev]'")
    if CHROMIUM is None:
        no_browser("no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened_page(
    browser: Any, url: str, size: dict[str, int] = DESKTOP, scheme: str = "light", touch: bool = False
) -> Iterator[Any]:
    """Open a page in a new window. With `touch`, the window has a touch screen.

    At the end, the console of the page must be free of errors.
    """
    context = browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion="reduce", has_touch=touch
    )
    page, problems = context.new_page(), []
    page.on(
        "console",
        lambda message: problems.append(message.text) if message.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if is_outside(request.url, url) else None)
    try:
        page.goto(url)
        yield page
        assert problems == []
    finally:
        context.close()


def is_outside(request: str, page: str) -> bool:
    """Return True if a request leaves the page's own server or, for a file, the file itself."""
    if request.startswith(("data:", "blob:")):
        return False
    there, here = urlsplit(request), urlsplit(page)
    return there.netloc != here.netloc or (here.scheme == "file" and there.path != here.path)


def violations(page: Any) -> list[str]:
    """Return the violations that axe finds on a page: contrast, names and roles (WCAG 2.1 AA)."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        no_browser("axe is not installed: pip install 'risk-env[dev]'")
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    found = Axe().run(page, options=options).response["violations"]
    return [f"{rule['id']}: {[node['html'][:200] for node in rule['nodes'][:3]]}" for rule in found]
