"""The LangServe playground in a real browser."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.app.api.test_query_api import CHEMICALS


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
