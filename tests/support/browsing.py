"""Opens pages in a real Chromium and notes everything they do."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import Factory, define

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

REQUIRED = "JRH_BROWSER_REQUIRED"
"""Environment variable that makes a missing browser a failure."""
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
DESKTOP = (1440, 900)
PHONE = (390, 844)
_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium; skip the test where there is none, unless it is required."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        path = None
    if path is None:
        message = "no browser: these tests need the package playwright and the program chromium"
        if os.environ.get(REQUIRED):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, headless=True, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


def follow(link: Locator) -> None:
    """Click what leads to another page, and wait until that page is whole.

    A click alone returns when the new address is known. What does not wait by itself (`count`, `all_inner_texts`,
    `evaluate`) then reads a page of which half has arrived.
    """
    with link.page.expect_navigation():
        link.click()


def wait_until(page: Page, script: str, arg: Any = None, seconds: float = 30) -> None:
    """Ask the page, and the one it leads to, until the script is true.

    Playwright's `wait_for_function` asks again from inside the page, where a policy without `unsafe-eval` refuses it.
    """
    end = time.monotonic() + seconds
    while not _answer(page, script, arg):
        if time.monotonic() > end:
            pytest.fail(f"not true within {seconds:g} s: {script}\nThe page shows: {page.inner_text('body')[:2000]}")
        page.wait_for_timeout(20)


def _answer(page: Page, script: str, arg: Any) -> Any:
    from playwright.sync_api import Error

    try:
        return page.evaluate(script, arg)
    except Error as error:
        if "context was destroyed" in error.message:  # the page is on its way to another
            return False
        raise


@define
class Visit:
    """A page that is open, and what it has done."""

    page: Page
    said: list[str] = Factory(list)
    """Console messages and uncaught errors."""
    asked: list[str] = Factory(list)
    """Requests other than for the page itself."""
    dialogs: list[str] = Factory(list)

    def evaluate(self, script: str) -> Any:
        """Run a script in the page, as a debugger does: the page's policy is not asked."""
        return self.page.evaluate(script)

    @property
    def violations(self) -> list[str]:
        """Return what the page's policy has refused."""
        found: list[str] = self.evaluate("window.violations")
        return found

    def assert_quiet(self) -> None:
        """Fail where the page said, asked or tried anything."""
        assert self.said == []
        assert self.asked == []
        assert self.dialogs == []
        assert self.violations == []


def refused(seen: Visit, *directives: str) -> None:
    """Wait until the page's policy has refused something under each of these directives: events tell of it later."""
    wait_until(seen.page, "(wanted) => wanted.every((each) => window.violations.join().includes(each))", directives)


@contextmanager
def visit(browser: Browser, path: Path, size: tuple[int, int] = DESKTOP, **settings: Any) -> Iterator[Visit]:
    """Open a file in a window of its own.

    Args:
        browser: the browser.
        path: the file.
        size: width and height of the window.
        settings: of the browser context, such as `color_scheme`.
    """
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **settings)
    context.add_init_script(_VIOLATIONS)
    visit = Visit(context.new_page())
    visit.page.on("console", lambda message: visit.said.append(f"{message.type}: {message.text}"))
    visit.page.on("pageerror", lambda error: visit.said.append(str(error)))
    visit.page.on("dialog", lambda dialog: (visit.dialogs.append(dialog.message), dialog.dismiss()))
    address = path.resolve().as_uri()
    visit.page.on("request", lambda request: None if request.url == address else visit.asked.append(request.url))
    try:
        visit.page.goto(address)
        yield visit
    finally:
        context.close()
