"""The page in a real browser: documents listed, shown whole and deleted, and answers rated; by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app.bootstrap.compose import AppContainer, build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.app.api.test_page_api import BYTES
from tests.app.api.test_query_api import CHEMICALS
from tests.app.api.visitor import Visitor, answered, ask, overflow, violations
from tests.support.samples_service import serve

FLOOD = "".join(f"## Day {n}\n\nOn day {n} the gauge of Larkfield stood at {n} cm.\n\n" for n in range(1, 121))
FILES = {
    "flood.md": f"# Flood\n\n{FLOOD}",
    "notes.md": "# Notes <b>bold</b>\n\nThe lighthouse of Larkfield is 31 m high.\n",
    "pier.txt": "The pier of Larkfield is 40 m long.",
}


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    """Somebody with a fresh browser, whose console has nothing to complain of in the end."""
    someone = Visitor(browser)
    yield someone
    someone.close()
    assert someone.complaints == []


@pytest.fixture
def container(tmp_path: Path, embedding: EmbeddingModel) -> AppContainer:
    """A collection of its own."""
    return build_container(load_settings(data_dir=tmp_path / "data"), embedding=embedding)


@pytest.fixture
def own(container: AppContainer) -> Iterator[str]:
    """The address of a service with three documents."""
    with serve(container) as address:
        for name, text in FILES.items():
            sent = httpx.post(f"{address}/api/v1/documents", params={"name": name}, content=text, headers=BYTES)
            assert sent.json()["added"] == 1
        yield address


def focused(page: Page) -> str:
    """The name of the element that has the focus."""
    found: str = page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()")
    return found


def test_a_source_opens_as_the_whole_document(visitor: Visitor, own: str) -> None:
    """All chunks in order, the quoted sentence marked and in view, its section named; Esc closes, focus returns."""
    page = visitor.open(own)
    ask(page, "At what height did the gauge of Larkfield stand on day 97?")
    answered(page)
    whole = page.get_by_role("button", name="Whole document: Flood")
    whole.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Flood")
    expect(dialog.get_by_role("status")).to_contain_text("passages.")
    mark = dialog.locator("mark").first
    expect(mark).to_contain_text("On day 97 the gauge")
    expect(mark).to_be_in_viewport()
    text = dialog.get_by_role("region", name="Flood")
    expect(text).to_be_focused()
    shown = text.inner_text()
    assert shown.index("On day 1 the") < shown.index("On day 97 the") < shown.index("On day 120 the")
    expect(dialog.locator(".place").first).to_contain_text("Day 1")
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 640})
    assert overflow(page) <= 0
    assert page.evaluate("document.querySelector('#document').scrollWidth") <= 360
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(whole).to_be_focused()
    expect(page.locator("#answer")).to_contain_text("day 97")  # Esc stopped nothing else


def test_a_deleted_document_is_reported_in_the_dialog(visitor: Visitor, own: str) -> None:
    """The dialog of a document that was deleted meanwhile says so, and can be closed by its button."""
    visitor.failures_expected = True
    page = visitor.open(own)
    ask(page, "How long is the pier of Larkfield?")
    answered(page)
    httpx.delete(f"{own}/api/v1/documents/pier.txt")
    page.get_by_role("button", name="Whole document").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("status")).to_have_text("No document has this id.")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_documents_are_listed_and_deleted_by_keyboard(visitor: Visitor, own: str) -> None:
    """Deleting asks first; "Keep it" and Esc keep; then the row goes, it is announced, and focus is on the next row."""
    page = visitor.open(own)
    summary = page.locator("#documents summary")
    summary.focus()
    page.keyboard.press("Enter")
    rows = page.locator("#documents li")
    expect(rows).to_have_count(3)
    expect(page.locator("#documents-state")).to_have_text("3 documents.")
    expect(rows.nth(1)).to_contain_text("notes.md · 1 passage")
    expect(page.locator("#documents b")).to_have_count(0)
    assert violations(page) == []

    page.get_by_role("button", name="Delete Flood").focus()
    for key in ("Escape", "Enter"):  # Enter presses "Keep it", where the focus is
        page.keyboard.press("Enter")
        confirm = page.get_by_role("dialog", name="Delete “Flood”?")
        expect(confirm).to_be_visible()
        expect(confirm.get_by_role("button", name="Keep it")).to_be_focused()
        assert violations(page) == []
        page.keyboard.press(key)
        expect(confirm).to_be_hidden()
        assert focused(page) == "Delete Flood"
    expect(rows).to_have_count(3)

    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(2)
    expect(page.locator("#said")).to_have_text("Flood deleted")
    expect(page.locator("#documents-state")).to_have_text("2 documents.")
    assert focused(page).startswith("Delete Notes")
    listed = httpx.get(f"{own}/api/v1/documents").json()["documents"]
    assert [one["id"] for one in listed] == ["notes.md", "pier.txt"]
    for left in (1, 0):
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(rows).to_have_count(left)
    expect(page.locator("#documents-state")).to_have_text("No documents to list.")
    expect(summary).to_be_focused()


def test_a_listed_document_can_be_read(visitor: Visitor, own: str) -> None:
    """Its title opens it, from its beginning and with nothing marked; markup in it is text."""
    page = visitor.open(own)
    page.locator("#documents summary").click()
    page.locator("#documents").get_by_role("button", name="Notes", exact=False).first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("status")).to_have_text("One passage.")
    expect(dialog).to_contain_text("31 m high")
    expect(dialog.locator("mark, b")).to_have_count(0)


def test_where_uploads_are_not_allowed_nothing_can_be_deleted(visitor: Visitor, own: str) -> None:
    """No Delete button is offered; a refused deletion is reported beside its row."""
    visitor.failures_expected = True
    page = visitor.open(own)
    page.locator("#documents summary").click()
    refused = {"error": "FORBIDDEN", "message": "Not from here.", "details": {}}
    page.route("**/api/v1/documents/*", lambda route: route.fulfill(status=403, json=refused))
    page.get_by_role("button", name="Delete Flood").click()
    page.locator("#confirm-yes").click()
    expect(page.get_by_role("alert")).to_have_text("Not from here.")
    expect(page.locator("#documents li")).to_have_count(3)

    def without_leave(route: Route) -> None:
        route.fulfill(json={"examples": [], "mayUpload": False, "maxUploadBytes": 1, "suffixes": []})

    page.route("**/api/v1/page", without_leave)
    page.reload()
    page.locator("#documents summary").click()
    expect(page.locator("#documents li")).to_have_count(3)
    expect(page.locator("#documents .delete")).to_have_count(0)


def test_an_answer_is_rated_once(visitor: Visitor, own: str, container: AppContainer) -> None:
    """A thumb stores question, outcome and sources, is announced and shown as pressed; a failed one can be repeated."""
    visitor.failures_expected = True
    page = visitor.open(own)
    question = "How long is the pier of Larkfield?"
    ask(page, question)
    answered(page)
    up, down = (page.get_by_role("button", name=name, exact=True) for name in ("Helpful", "Not helpful"))
    file = container.settings.data_dir / "feedback.jsonl"
    full = {"error": "INTERNAL_ERROR", "message": "The feedback could not be stored.", "details": {}}
    page.route("**/api/v1/feedback", lambda route: route.fulfill(status=500, json=full))
    down.click()
    expect(page.get_by_role("alert")).to_have_text("The feedback could not be stored.")
    expect(down).to_have_attribute("aria-pressed", "false")
    page.unroute("**/api/v1/feedback")

    up.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Thank you")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(up).to_have_attribute("aria-pressed", "true")
    expect(up).to_be_focused()
    down.click(force=True)
    assert violations(page) == []
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["question"], row["answerable"], row["expected_sources"], row["rating"]) for row in rows] == [
        (question, True, ["pier.txt"], "up")
    ]
    assert rows[0]["id"].startswith("req_")
    assert page.locator(".thumb svg").count() == 2


def test_sources_of_the_samples_open_too(visitor: Visitor, address: str) -> None:
    """The page that the quote stands on is named where it is marked."""
    page = visitor.open(address)
    ask(page, CHEMICALS)
    answered(page)
    page.get_by_role("button", name="Whole document").first.click()
    passage = page.get_by_role("dialog").locator(".passage").filter(has=page.locator("mark"))
    expect(passage.first).to_contain_text("page 3")
    expect(passage.first).to_contain_text("goggles")
