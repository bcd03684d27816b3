"""A person's browser as the tests have it: whatever the console complains of is kept, and fails the test."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
SLOW = 20_000
"""Milliseconds to wait for what a busy machine may take long for."""
expect.set_options(timeout=SLOW)


class Visitor:
    """Opens the page in contexts of its own, with nothing remembered from before."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self.failures_expected = False
        """Whether answers that are no success, which the browser's console names, belong to the test."""

    def open(self, address: str, **options: Any) -> Page:
        """The page at *address*, loaded."""
        context = self._browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(SLOW)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(f"{address}/")
        return page

    def close(self) -> None:
        """Close every context."""
        for context in self._contexts:
            context.close()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not (
            self.failures_expected and message.text.startswith("Failed to load resource")
        ):
            self.complaints.append(message.text)


def ask(page: Page, question: str) -> None:
    """Type a question and press Enter."""
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page) -> None:
    """Wait for a verified answer, passages included."""
    expect(page.locator(".marker").first).to_be_visible(timeout=SLOW)
    expect(page.locator(".passage.arrived").first).to_be_visible(timeout=SLOW)


def violations(page: Page) -> list[str]:
    """What axe-core finds against WCAG 2.2 A and AA, by rule and element."""
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": RULES}}).response["violations"]
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]


def overflow(page: Page) -> int:
    """CSS pixels by which the page is wider than its window."""
    wide: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wide
