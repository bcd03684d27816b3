"""The LangServe playground in a real browser."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.app.api.test_query_api import CHEMICALS
from tests.app.api.visitor import SLOW


def test_playground_shows_the_answer_once_and_each_step(browser: Browser, address: str) -> None:
    """The form takes a question; the output is the answer's body alone, the steps are the nodes without their text."""
    page = browser.new_page()
    page.goto(f"{address}/rag/playground/")
    page.locator("textarea, input[type=text]").first.fill(CHEMICALS)
    page.get_by_role("button", name="Start").click()
    output = page.locator("h2:text('Output') + div")
    expect(output).to_contain_text("citedDocuments", timeout=SLOW)
    expect(output).to_contain_text("safety_manual.pdf")
    text = output.inner_text()
    assert text.startswith("{")
    assert text.count('"answer"') == 1
    assert "token" not in text
    button = page.get_by_role("button", name="Intermediate steps")
    button.click()
    steps = button.locator("xpath=..")
    for name, summary in (
        ("validate", "1 sub-question"),
        ("retrieve", "10 chunks retrieved, best similarity"),
        ("grade", "of 10 chunks passed, best relevance"),
        ("synthesize", "a draft of"),
        ("cite", "answered, 1 citation"),
    ):
        expect(steps).to_contain_text(name)
        expect(steps).to_contain_text(summary)
    expect(steps.locator("pre")).to_have_count(5)
    assert "goggles" not in steps.inner_text()
    page.close()
