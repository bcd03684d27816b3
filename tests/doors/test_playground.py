"""The LangServe playground in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from .test_query_api import CHEMICALS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium; a machine without one says so."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


def test_playground_answers_a_question(browser: Browser, address: str) -> None:
    """The page loads, its form shows the question, and starting it brings the answer on the screen."""
    page = browser.new_page()
    page.goto(f"{address}/rag/playground/")
    question = page.locator("textarea, input[type=text]").first
    question.fill(CHEMICALS)
    page.get_by_role("button", name="Start").click()
    expect(page.locator("body")).to_contain_text("goggles", timeout=30_000)
    expect(page.locator("body")).to_contain_text("safety_manual.pdf")
    page.close()
