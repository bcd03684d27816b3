"""The page for people, in a real browser: what is asked, shown, lit, declined, broken, remembered and kept out."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, expect

from app.bootstrap.compose import AppContainer, build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC
from tests.app.api.visitor import SLOW, Visitor, answered, ask, overflow, violations
from tests.peers.ollama_peer import OllamaPeer
from tests.peers.wire import Fault
from tests.support.samples_service import serve

TWO_QUOTES = "How many unused vacation days can be carried over, and what training budget does each employee have?"
KEY = "sesame"
HOSTILE = """# <img src=x onerror="window.pwned=1"> Lighthouse

🐚🐚🐚 Shells lie on the shore.
The lighthouse of Larkfield was painted by `<script>window.pwned=1</script>` and <b onclick="window.pwned=1">Ada</b>
in 1931, and its lamp is called `javascript:window.pwned=1`.
"""


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    """Somebody with a fresh browser, whose console has nothing to complain of in the end."""
    someone = Visitor(browser)
    yield someone
    someone.close()
    assert someone.complaints == []


@dataclass
class Place:
    """A service of its own, and its address."""

    address: str
    container: AppContainer


def place(folder: Path, embedding: EmbeddingModel, **settings: Any) -> Iterator[Place]:
    container = build_container(load_settings(data_dir=folder, **settings), embedding=embedding)
    with serve(container) as address:
        yield Place(address, container)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Iterator[Place]:
    """An empty collection, for one's own documents."""
    yield from place(tmp_path_factory.mktemp("own"), embedding)


@pytest.fixture(scope="module")
def peer() -> Iterator[OllamaPeer]:
    """A chat model that answers from its chunks, until a fault is put on it."""
    with OllamaPeer() as started:
        yield started


@pytest.fixture(scope="module")
def chat(
    sample_data: Path, tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel, peer: OllamaPeer
) -> Iterator[Place]:
    """The sample documents behind a key, its answers written by a chat model."""
    folder = tmp_path_factory.mktemp("chat") / "data"
    shutil.copytree(sample_data, folder)
    yield from place(folder, embedding, chat_model="ollama:llama3.2:1b", ollama_host=peer.url, api_keys=KEY)


def let_in(page: Page) -> None:
    """Give the key where it is asked for."""
    page.get_by_label("API key", exact=True).fill(KEY)
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#key")).to_be_hidden()


def test_a_question_its_answer_and_the_sentence_that_carries_it(visitor: Visitor, address: str) -> None:
    """Enter asks; a marker, hovered, focused or tapped, lights its quote inside the source and its claim beside it."""
    page = visitor.open(address)
    ask(page, TWO_QUOTES)
    answered(page)
    expect(page.get_by_role("heading", name=TWO_QUOTES)).to_be_visible()
    expect(page.locator(".source")).to_have_count(1)
    expect(page.locator(".source h3")).to_contain_text("HR Policy")
    expect(page.locator(".source")).to_contain_text("page 4")
    expect(page.locator(".measures").first).to_contain_text("Relevance")
    expect(page.locator(".measures").first).to_contain_text("Support")
    expect(page.locator("mark.lit")).to_have_count(0)
    lines = page.locator(".kept").evaluate_all(
        "(nodes) => nodes.map((node) => [node.innerText, node.getClientRects().length])"
    )
    assert lines == [["1.", 1]] * 4  # no full stop is alone at the beginning of a line

    page.locator(".marker").nth(1).hover()
    expect(page.locator("mark.lit")).to_have_text(
        "Up to 5 unused days can be carried over into the next year, and they expire on 31 March."
    )
    assert page.locator(".claim.lit").all_inner_texts()[0].startswith("Up to 5 unused days")
    expect(page.locator(".marker[aria-pressed=true]")).to_have_count(1)

    page.mouse.move(0, 0)
    page.locator(".marker").first.focus()
    expect(page.locator("mark.lit")).to_contain_text("28 working days")
    page.keyboard.press("Tab")
    expect(page.locator("mark.lit")).to_contain_text("Up to 5 unused days")

    page.locator(".marker").nth(2).click()
    expect(page.locator("mark.lit")).to_contain_text("training budget of EUR 1,500")
    expect(page.locator(".source.lit")).to_have_count(1)

    whole = page.get_by_role("button", name="Whole passage").first
    shown = len(page.locator(".quote").first.inner_text())
    whole.click()
    assert len(page.locator(".quote").first.inner_text()) > shown


def test_an_answer_is_copied_with_its_citations_and_a_link_asks_it_again(visitor: Visitor, address: str) -> None:
    """Copied Markdown holds the answer and each quote under its marker, with its page; the copied link asks again."""
    page = visitor.open(address, permissions=["clipboard-read", "clipboard-write"])
    ask(page, CHEMICALS)
    answered(page)
    page.get_by_role("button", name="Copy answer").click()
    expect(page.locator("#said")).to_have_text("Answer copied with its citations")
    answer, _, quotes = str(page.evaluate("navigator.clipboard.readText()")).partition("\n\n")
    assert answer.endswith("[1].")
    assert quotes.startswith("[1] Safety Manual, page 3: “The safety protocols for handling chemicals require")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#said")).to_have_text("Link copied")
    page.goto(str(page.evaluate("navigator.clipboard.readText()")))
    answered(page)
    expect(page.get_by_role("heading", name=CHEMICALS)).to_be_visible()
    expect(page.locator(".measures").first).to_contain_text("very high")


def test_a_reload_asks_the_last_question_again(visitor: Visitor, address: str) -> None:
    """Not that of the link the page was opened by; the address does not hold it, and "Forget all" forgets it."""
    page = visitor.open(f"{address}/?q=Which+composer+wrote+Tosca%3F&from=")
    expect(page.locator("#history .tag")).to_have_text("no answer", timeout=SLOW)
    ask(page, CHEMICALS)
    page.reload()
    answered(page)
    expect(page.get_by_role("heading", name=CHEMICALS)).to_be_visible()
    assert page.url == f"{address}/"
    page.get_by_role("button", name="Forget all").click()
    page.reload()
    expect(page.locator(".example").first).to_be_visible()


def test_table_rows_are_shown_without_bars(visitor: Visitor, address: str) -> None:
    """Dots set their cells apart, in the answer and in its source."""
    page = visitor.open(address)
    ask(page, "What is the first reply time of priority P2?")
    answered(page)
    row = "P2 · One zone is impaired · 4 hours · 1 working day"
    expect(page.locator("#answer")).to_contain_text(row)
    expect(page.locator("#sources mark").get_by_text(row)).to_be_visible()
    assert "|" not in page.locator("#result").inner_text()


def test_a_chunk_that_was_replaced_since_is_not_shown(visitor: Visitor, address: str) -> None:
    """Where the stored chunk no longer holds the quote at its place, the verified quote stands alone."""
    page = visitor.open(address)
    changed = {"text": "Something else altogether.", "page": 3}
    page.route("**/api/v1/chunks/**", lambda route: route.fulfill(json=changed))
    ask(page, CHEMICALS)
    answered(page)
    expect(page.locator("mark")).to_contain_text("goggles")
    expect(page.locator(".sources")).not_to_contain_text("Something else")


def test_times_and_history(visitor: Visitor, address: str) -> None:
    """The stages' times have a legend; questions are remembered in this browser, asked again, and forgotten at will."""
    page = visitor.open(address)
    expect(page.locator("#history")).to_be_hidden()
    ask(page, CHEMICALS)
    answered(page)
    for stage in ("searching", "grading", "writing", "verifying", "in all"):
        expect(page.locator(".legend")).to_contain_text(stage)
    expect(page.locator(".bar .part")).to_have_count(5)
    page.reload()
    page.get_by_role("button", name=CHEMICALS).last.click()
    answered(page)
    kept = page.evaluate("JSON.parse(localStorage['garden.history'])")
    assert kept == [{"question": CHEMICALS, "outcome": "answered"}]
    page.get_by_role("button", name="Forget all").click()
    expect(page.locator("#history")).to_be_hidden()
    assert page.evaluate("localStorage['garden.history']") is None


def test_a_follow_up_is_shown_as_it_was_understood(visitor: Visitor, address: str) -> None:
    """A follow-up shows what it was asked as, and is remembered so; a new conversation knows nothing of it."""
    page = visitor.open(address)
    expect(page.get_by_role("button", name="New conversation")).to_be_hidden()
    ask(page, CHEMICALS)
    answered(page)
    expect(page.locator("#asked-as")).to_be_hidden()
    ask(page, "And what about visitors?")
    complete = "What are the safety protocols for visitors?"
    expect(page.locator("#asked-as")).to_have_text(f"Asked as: {complete}", timeout=SLOW)
    expect(page.locator("form#ask ~ #asked-as ~ #outcome ~ #result")).to_have_count(1)  # above an answer or a decline
    expect(page.locator("#history .link").first).to_have_text(complete, timeout=SLOW)
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert overflow(page) <= 0

    page.get_by_role("button", name="New conversation").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_be_focused()
    expect(page.locator("#result")).to_be_hidden()
    expect(page.get_by_role("button", name="New conversation")).to_be_hidden()
    ask(page, "And what about visitors?")
    expect(page.locator("#history .link").first).to_have_text("And what about visitors?", timeout=SLOW)
    expect(page.locator("#asked-as")).to_be_hidden()


def test_history_is_bounded_and_survives_nonsense(visitor: Visitor, address: str) -> None:
    """At most twenty questions are kept, and what somebody else put there does no harm."""
    page = visitor.open(address)
    page.evaluate(
        "localStorage['garden.history'] = JSON.stringify(Array.from({length: 40}, (_, i) => ({question: `q${i}`})))"
    )
    page.reload()
    expect(page.locator("#history li")).to_have_count(20)
    page.evaluate("localStorage['garden.history'] = '{'")
    page.reload()
    expect(page.locator(".example").first).to_be_visible()
    expect(page.locator("#history")).to_be_hidden()


def test_keyboard(visitor: Visitor, address: str) -> None:
    """Shift+Enter is a new line, the skip link leads to the question, and every stop of Tab can be seen."""
    page = visitor.open(address)
    expect(page.locator(".example").first).to_be_visible()
    question = page.get_by_label("Your question")
    expect(question).to_be_focused()
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    expect(question).to_have_value("one\ntwo")
    skip = page.get_by_role("link", name="Skip to the question")
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(question).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Tab")
        style = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(style) != "none"


def test_a_decline_is_no_failure(visitor: Visitor, address: str) -> None:
    """A decline is announced as a status, with what may help and the step that decided, and nothing is cited."""
    page = visitor.open(address)
    ask(page, OFF_TOPIC)
    notice = page.get_by_role("status").filter(has_text="Nothing was found")
    expect(notice).to_be_visible()
    expect(notice).to_contain_text("Use the words the documents would use")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".marker, .source")).to_have_count(0)
    expect(page.locator("#history .tag")).to_have_text("no answer")
    page.get_by_text("Why was this not answered?").press("Enter")
    expect(page.locator(".why [aria-current=step]")).to_contain_text(
        re.compile(r"^Judging relevance found none .* scores 0\.\d+ of 1")
    )
    assert page.locator(".why li").all_inner_texts()[0] == "Searching found 10 passages."
    assert violations(page) == []


def test_what_a_model_wrote_and_nothing_supports_is_the_reason(visitor: Visitor, chat: Place, peer: OllamaPeer) -> None:
    """The steps after the search are named in order, with the sentences that were taken out as text."""
    visitor.failures_expected = True
    peer.answers = ["The Heron cart was <b>invented</b> by Napoleon in Paris [1]."]
    page = visitor.open(chat.address)
    let_in(page)
    ask(page, "How many vacation days does the Hamburg office carry over for night watchmen?")
    page.get_by_text("Why was this not answered?").press("Enter")
    steps = page.locator(".why > ol > li")
    expect(steps).to_have_count(5)
    expect(steps.nth(3)).to_contain_text("invented</b> by Napoleon")
    expect(steps.nth(4)).to_have_attribute("aria-current", "step")
    expect(steps.nth(4)).to_contain_text("Asking the passages themselves found no sentence")
    assert violations(page) == []


def test_key_failure_and_recovery(visitor: Visitor, chat: Place, peer: OllamaPeer) -> None:
    """A key is asked for and kept for the tab alone; a model that dies is an alert with its code; then all is well."""
    visitor.failures_expected = True
    page = visitor.open(chat.address)
    page.get_by_label("API key", exact=True).fill("wrong")
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_role("heading", name="That key was not accepted")).to_be_visible()
    let_in(page)
    expect(page.locator(".example").first).to_be_visible()
    assert page.evaluate("[JSON.stringify(localStorage), sessionStorage['garden.key']]") == ["{}", KEY]

    peer.fault = Fault("drop", path="/api/chat")
    ask(page, CHEMICALS)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The chat model did not answer")
    expect(alert).to_contain_text("SYNTHESIS_FAILED")
    expect(alert).to_contain_text("req_")
    expect(page.locator(".marker, .source")).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="Nothing was found")).to_have_count(0)
    assert violations(page) == []

    peer.fault = None
    page.get_by_role("button", name="Ask again").click()
    answered(page)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_stream_and_stop(visitor: Visitor, chat: Place, peer: OllamaPeer) -> None:
    """Words show while the model still writes; Esc stops it, the model too, and leaves nothing unverified standing."""
    visitor.failures_expected = True
    page = visitor.open(chat.address)
    let_in(page)
    peer.fault = Fault("drip", path="/api/chat")
    before = peer.hung_up
    ask(page, CHEMICALS)
    expect(page.locator("#answer")).to_contain_text("still", timeout=SLOW)
    expect(page.locator("#result")).to_have_attribute("aria-busy", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("status").filter(has_text="Stopped")).to_be_visible()
    expect(page.locator("#answer")).to_be_hidden()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    peer.fault = None
    assert peer.wait_until(lambda: peer.hung_up > before)


def test_offline_is_shown_and_passes(visitor: Visitor, address: str) -> None:
    """Without a connection the page says so and what to do; when it is back the page finds out by itself."""
    visitor.failures_expected = True
    page = visitor.open(address)
    expect(page.locator(".example").first).to_be_visible()
    page.context.set_offline(True)
    ask(page, CHEMICALS)
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached")
    expect(page.locator("#health")).to_contain_text("The page keeps trying")
    page.context.set_offline(False)
    expect(page.locator("#health")).to_be_hidden(timeout=SLOW)
    page.get_by_role("button", name="Ask again").click()
    answered(page)


def test_not_ready_is_shown_and_passes(visitor: Visitor, own: Place) -> None:
    """While the service is not ready the page says why, and goes on by itself once it is."""
    visitor.failures_expected = True
    own.container.health.draining = True
    page = visitor.open(own.address)
    expect(page.locator("#health")).to_contain_text("The service is shutting down")
    own.container.health.draining = False
    expect(page.locator("#health")).to_be_hidden(timeout=SLOW)


def test_an_empty_collection_is_named_by_a_decline(visitor: Visitor, own: Place) -> None:
    """Other words would not help where no document is stored, so that is said instead."""
    page = visitor.open(own.address)
    ask(page, CHEMICALS)
    expect(page.locator(".declined")).to_contain_text("No document is stored yet.", timeout=SLOW)
    expect(page.locator(".declined")).not_to_contain_text("Use the words")


def test_uploaded_documents_are_answered_from_at_once(visitor: Visitor, own: Place, tmp_path: Path) -> None:
    """A document brought through the page is ingested and answers; what it holds is shown as text and does nothing."""
    visitor.failures_expected = True
    page = visitor.open(own.address)
    expect(page.get_by_role("button", name="Add documents")).to_be_visible()
    expect(page.locator("#examples")).to_be_hidden()
    name = "<img src=x onerror=alert(1)>.md"
    page.locator("#files").set_input_files([FilePayload(name=name, mimeType="", buffer=HOSTILE.encode())])
    row = page.locator("#uploads li").filter(has_text=name)
    expect(row).to_contain_text("added, 1 passage", timeout=SLOW)
    ask(page, "In what year was the lighthouse of Larkfield painted?")
    answered(page)
    expect(page.locator("#answer")).to_contain_text("<script>window.pwned=1</script>")
    page.locator(".marker").first.hover()
    expect(page.locator("mark.lit")).to_contain_text("<script>window.pwned=1</script>")
    assert page.locator("mark.lit").inner_text().startswith("The lighthouse")  # offsets count code points
    expect(page.locator("main img, main script, main b")).to_have_count(0)
    assert page.evaluate("window.pwned") is None

    page.locator("#files").set_input_files([FilePayload(name="broken.pdf", mimeType="", buffer=b"%PDF-1.4 nothing")])
    expect(page.locator("#uploads li.bad")).to_contain_text("broken.pdf was not ingested", timeout=SLOW)
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(33 * 1024 * 1024)
    page.locator("#files").set_input_files(large)
    expect(page.locator("#uploads li").filter(has_text="large.txt")).to_contain_text("not sent")


def test_a_dropped_document_is_ingested(visitor: Visitor, own: Place) -> None:
    """Files dropped anywhere on the page go the same way as chosen ones."""
    page = visitor.open(own.address)
    expect(page.get_by_role("button", name="Add documents")).to_be_visible()
    transfer = page.evaluate_handle(
        """() => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["The pier of Larkfield is 40 m long."], "pier.txt"));
            return transfer;
        }"""
    )
    page.dispatch_event("body", "dragover", {"dataTransfer": transfer})
    expect(page.locator("#drop")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    expect(page.locator("#uploads li").filter(has_text="pier.txt")).to_contain_text("added", timeout=SLOW)
    expect(page.locator("#drop")).to_be_hidden()


def test_light_dark_phone_and_zoom(visitor: Visitor, address: str) -> None:
    """axe-core finds nothing at the start, answered, light and dark; nothing runs over the side at 360 px or 200 %."""
    page = visitor.open(address, color_scheme="dark", reduced_motion="reduce")
    expect(page.locator(".example").first).to_be_visible()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert violations(page) == []
    ask(page, TWO_QUOTES)
    answered(page)
    page.locator(".marker").first.focus()
    assert violations(page) == []
    page.get_by_role("button", name="Auto colours").click()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light != dark
    assert violations(page) == []
    for width in (360, 640):  # 640 CSS pixels are a window of 1280 at 200 %
        page.set_viewport_size({"width": width, "height": 740})
        assert overflow(page) <= 0
    page.get_by_role("button", name="New conversation").click()
    page.reload()
    expect(page.get_by_role("button", name="Light colours")).to_be_visible()
    expect(page.locator(".example").first).to_be_visible()
    assert overflow(page) <= 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light
    assert violations(page) == []


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_for_the_readme(
    visitor: Visitor, address: str, scheme: Literal["light", "dark"], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The picture of an answer, its quote lit, is small; `make pictures` keeps it where the README shows it."""
    page = visitor.open(address, color_scheme=scheme, reduced_motion="reduce", viewport={"width": 1200, "height": 840})
    ask(page, CHEMICALS)
    answered(page)
    page.locator(".marker").first.hover()
    expect(page.locator("mark.lit")).to_be_visible()
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    path = (pytestconfig.getoption("--pictures") or tmp_path) / f"page-{scheme}.webp"
    picture.save(path, quality=82, method=6)
    assert path.stat().st_size < 150_000
