"""The page in a real browser: documents listed, shown whole and deleted, and answers rated; by keyboard alone."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, FilePayload, Page, Route, expect

from app.bootstrap.compose import AppContainer, build_container
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.app.api.test_ingest_again import LOG
from tests.app.api.test_page import TWO_QUOTES
from tests.app.api.test_query_api import CHEMICALS
from tests.app.api.visitor import SLOW, Visitor, answered, ask, overflow, violations
from tests.support.calling import BYTES
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


@pytest.fixture(scope="module")
def uploaded(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Path:
    """A data folder whose collection got three documents by upload; not open."""
    folder = tmp_path_factory.mktemp("uploaded") / "data"
    with serve(build_container(load_settings(data_dir=folder), embedding=embedding)) as address:
        for name, text in FILES.items():
            sent = httpx.post(
                f"{address}/api/v1/documents", params={"name": name}, content=text, headers=BYTES, timeout=30
            )
            assert sent.json()["added"] == 1
    return folder


@pytest.fixture
def container(uploaded: Path, tmp_path: Path, embedding: EmbeddingModel) -> AppContainer:
    """A copy of that collection for one test."""
    folder = shutil.copytree(uploaded, tmp_path / "data")
    return build_container(load_settings(data_dir=folder), embedding=embedding)


@pytest.fixture
def own(container: AppContainer) -> Iterator[str]:
    """The address of a service over it."""
    with serve(container) as address:
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
    httpx.delete(f"{own}/api/v1/documents/pier.txt", timeout=30)
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
    listed = httpx.get(f"{own}/api/v1/documents", timeout=30).json()["documents"]
    assert [document["id"] for document in listed] == ["notes.md", "pier.txt"]
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


def test_folders_are_shown_with_their_last_sync(visitor: Visitor, own: str, container: AppContainer) -> None:
    """Folders that `garden ingest` read stand above the documents, with the time, and whether they are watched."""
    settings = container.settings
    folder = Path("/srv/handbook")
    IngestManifest(settings.data_dir / settings.vector_store_collection, [folder]).synced(watched=True)
    page = visitor.open(own)
    page.locator("#documents summary").click()
    expect(page.locator("#folders p")).to_contain_text("/srv/handbook · watched, in step")
    assert violations(page) == []


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
        route.fulfill(json={"examples": [], "mayUpload": False, "maxUploadBytes": 1, "suffixes": [], "collections": []})

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
    """The page that the quote stands on is named where it is marked, and shown as printed, the quote marked on it."""
    page = visitor.open(address)
    ask(page, CHEMICALS)
    answered(page)
    page.get_by_role("button", name="Whole document").first.click()
    dialog = page.get_by_role("dialog")
    passage = dialog.locator(".passage").filter(has=page.locator("mark"))
    expect(passage.first).to_contain_text("page 3")
    expect(passage.first).to_contain_text("goggles")
    expect(dialog.get_by_role("status")).to_contain_text("The quoted sentence is on page 3.")
    pdf = dialog.get_by_role("link", name="Open the PDF at page 3")
    expect(pdf).to_have_attribute("href", "/api/v1/files/safety_manual.pdf#page=3")
    assert httpx.get(f"{address}/api/v1/files/safety_manual.pdf", timeout=30).content.startswith(b"%PDF")
    printed = dialog.get_by_role("button", name="The page as printed")
    printed.press("Enter")
    picture = dialog.get_by_role("img", name="Page 3 of Safety Manual, the quoted sentence marked")
    expect(picture).to_be_visible()
    expect(printed).to_have_attribute("aria-pressed", "true")
    expect(passage.first).to_be_hidden()
    expect(dialog.get_by_role("status")).to_contain_text("Page 3 of Safety Manual")
    assert picture.evaluate("(node) => [node.complete, node.naturalWidth > 500]") == [True, True]
    assert violations(page) == []
    printed.press("Enter")
    expect(passage.first).to_be_visible()
    expect(dialog.get_by_role("status")).to_contain_text("The quoted sentence is on page 3.")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator("#documents summary").click()
    page.get_by_role("button", name="API Overview", exact=True).click()
    expect(dialog.get_by_role("status")).to_contain_text("passages.")
    expect(dialog.get_by_role("link")).to_have_count(0)


def test_a_pdf_behind_a_key_is_opened_with_it(visitor: Visitor, sample_data: Path, embedding: EmbeddingModel) -> None:
    """No link or picture can carry the key: the page fetches both with it, and shows the PDF at its page in another
    tab."""
    visitor.failures_expected = True
    closed = build_container(load_settings(data_dir=sample_data, api_keys="sesame"), embedding=embedding)
    with serve(closed) as address:
        page = visitor.open(address)
        page.get_by_label("API key", exact=True).fill("sesame")
        page.get_by_role("button", name="Use it").click()
        ask(page, CHEMICALS)
        answered(page)
        page.get_by_role("button", name="Whole document").first.click()
        page.get_by_role("button", name="The page as printed").press("Enter")
        expect(page.get_by_role("dialog").get_by_role("img")).to_be_visible()
        pdf = page.get_by_role("link", name="Open the PDF at page 3")
        with page.expect_response("**/api/v1/files/safety_manual.pdf") as fetched, page.expect_popup() as opened:
            pdf.focus()
            page.keyboard.press("Enter")
        assert fetched.value.headers["content-type"] == "application/pdf"
        opened.value.wait_for_url(re.compile(r"^blob:.*#page=3$"), wait_until="commit")


def test_a_document_is_ingested_again_by_keyboard(
    visitor: Visitor, own: str, container: AppContainer, tmp_path: Path
) -> None:
    """What became of a file that is read again stands in its row and is announced, and the focus stays; a file that is
    gone meanwhile is reported beside its row."""
    visitor.failures_expected = True
    (file := tmp_path / "tide.md").write_text("# Tide\n\nThe tide of Larkfield is 3 m.\n")
    collection = container.settings.data_dir / container.settings.vector_store_collection
    with ThreadPoolExecutor(1) as beside_the_browsers_loop:
        ingesting = ingest_into(container.writer, [file], manifest=IngestManifest(collection, [file]))
        assert beside_the_browsers_loop.submit(asyncio.run, ingesting).result().added == 1
    page = visitor.open(own)
    page.locator("#documents summary").click()
    row = page.locator("#documents li").filter(has_text="Tide")
    again = row.locator(".again")
    expect(row).to_contain_text("tide.md · 1 passage · ingested")
    for text, outcome in (("4 m", "replaced, 1 passage"), ("4 m", "already stored, unchanged")):
        file.write_text(f"# Tide\n\nThe tide of Larkfield is {text}.\n")
        again.focus()
        page.keyboard.press("Enter")
        expect(row.locator(".state")).to_have_text(outcome, timeout=SLOW)
        expect(page.locator("#said")).to_have_text(f"Tide: {outcome}")
        expect(again).to_be_focused()
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert overflow(page) <= 0
    file.unlink()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("no file of this document")


def test_an_upload_shows_its_progress(visitor: Visitor, own: str) -> None:
    """Bytes sent, then passages indexed of those found, in view on a phone; each stage is announced once, politely."""
    page = visitor.open(own, viewport={"width": 390, "height": 480}, reduced_motion="reduce")
    page.evaluate(
        """() => { window.shown = []; window.told = [];
            const note = (list, text) => text && list.at(-1) !== text && list.push(text);
            new MutationObserver(() => note(shown, document.querySelector("#uploads .state")?.textContent))
                .observe(document.querySelector("#uploads"), {subtree: true, childList: true});
            new MutationObserver(() => note(told, document.querySelector("#said").textContent))
                .observe(document.querySelector("#said"), {childList: true}); }"""
    )
    expect(page.get_by_role("button", name="Add documents")).to_be_visible()
    page.locator("#files").set_input_files([FilePayload(name="log.jsonl", mimeType="", buffer=LOG.encode())])
    expect(page.locator("#uploads .good")).to_contain_text("added, 150 passages", timeout=SLOW)
    expect(page.locator("#uploads .good")).to_be_in_viewport(ratio=1)
    shown, told = page.evaluate("[shown, told]")
    (size,) = {line.split(" of ")[1] for line in shown if line.startswith("sending, ")}
    assert size == f"{-(-len(LOG) // 1024)} kB"
    assert {"indexing, 64 of 150 passages", "indexing, 128 of 150 passages"} <= set(shown)
    assert [line.removeprefix("log.jsonl: ")[:8] for line in told] == ["sent; th", "indexing", "added, 1"]
    assert page.locator("#said").get_attribute("role") == "status"


def test_answer_and_sources_are_in_view_together_on_a_phone(visitor: Visitor, address: str) -> None:
    """A tapped marker brings its quote into view below the answer, which does not move; its figures show on focus."""
    page = visitor.open(address, viewport={"width": 360, "height": 740}, reduced_motion="reduce")
    ask(page, TWO_QUOTES)
    answered(page)
    markers = page.locator(".marker")
    for marker in (markers.first, markers.last, markers.nth(1)):
        marker.evaluate("(node) => node.scrollIntoView({block: 'center'})")
        before = page.evaluate("scrollY")
        marker.click()
        assert page.evaluate("scrollY") == before
        expect(marker).to_be_in_viewport(ratio=1)
        expect(page.locator("mark.lit").first).to_be_in_viewport(ratio=1)
        top = page.locator("#sources").evaluate("(node) => node.getBoundingClientRect().top")
        assert marker.evaluate("(node) => node.getBoundingClientRect().bottom") < top
    figure = page.locator(".figure").first
    assert figure.evaluate("(node) => node.offsetWidth") == 1
    page.locator(".measures dd").first.focus()
    assert figure.evaluate("(node) => node.offsetWidth") > 1
    assert violations(page) == []
    assert overflow(page) <= 0


def test_an_answer_is_in_view_when_it_comes_on_a_phone(visitor: Visitor, address: str) -> None:
    """The sources below do not cover it, and the field for the question gives its keyboard up."""
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    page = visitor.open(address, reduced_motion="reduce", **phone)
    ask(page, CHEMICALS)
    answered(page)
    end = page.locator("#answer").evaluate("(node) => node.getBoundingClientRect().bottom")
    assert end <= page.locator("#sources").evaluate("(node) => node.getBoundingClientRect().top")
    expect(page.get_by_label("Your question")).not_to_be_focused()


def test_a_close_passage_of_a_declined_question_opens(visitor: Visitor, address: str) -> None:
    """Where each stands is named beside its title; the first is open where it is close, its best sentence lit and its
    relevance a word; its whole document opens at it, and the decline can be rated."""
    page = visitor.open(address)
    ask(page, "How many vacation days does the Hamburg office carry over for night watchmen?")
    passages = page.locator(".closest details")
    expect(passages).to_have_count(3, timeout=SLOW)
    expect(passages.first.locator("summary")).to_contain_text("page")
    expect(passages.first.locator(".measures")).to_contain_text("Relevance")
    expect(passages.first.locator("mark")).to_contain_text("vacation")
    expect(passages.nth(1).locator("blockquote")).to_be_hidden()
    passages.nth(1).locator("summary").focus()
    page.keyboard.press("Enter")
    expect(passages.nth(1).locator("blockquote")).to_be_visible()
    expect(page.get_by_role("button", name="Not helpful")).to_be_visible()
    expect(page.get_by_role("button", name="Copy answer")).to_have_count(0)
    assert violations(page) == []
    passages.first.get_by_role("button", name="Whole document").press("Enter")
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("The passage is on page")
