"""Where to search, chosen on the page: a collection, one document, or those whose names begin alike."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from app.bootstrap.compose import AppContainer, build_container
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.app.api.visitor import Visitor, answered, ask, overflow, violations
from tests.support.samples_service import serve

QUESTION = "What is the codeword of the gate?"
FILES = {"corporate_documents": {"old.md": "LANTERN", "new.md": "CANDLE"}, "harbour": {"boats.md": "ANCHOR"}}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Iterator[str]:
    """A service with two collections, of two documents and of one."""
    root = tmp_path_factory.mktemp("scoped")

    async def fill(container: AppContainer) -> None:
        for collection, files in FILES.items():
            async with container.collections.use(collection, create=True) as to:
                for name, word in files.items():
                    (root / name).write_text(f"# {name}\n\nThe codeword of the gate is {word}.\n")
                    await ingest_into(to.writer, [root / name])
        await container.aclose()

    settings = load_settings(data_dir=root / "data")
    with ThreadPoolExecutor(1) as pool:  # the browser's loop may run in this thread
        pool.submit(asyncio.run, fill(build_container(settings, embedding=embedding))).result()
    with serve(build_container(settings, embedding=embedding)) as served:
        yield served


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    someone = Visitor(browser)
    someone.failures_expected = True
    yield someone
    someone.close()
    assert someone.complaints == []


def test_a_collection_and_a_document_are_chosen(visitor: Visitor, address: str, tmp_path: Path) -> None:
    """Answers, passages and the list of documents are of the chosen collection, kept for the tab; a document's name
    narrows the search; an unknown one is answered with the nearest."""
    page = visitor.open(address)
    page.get_by_label("Only in").fill("new*")
    ask(page, QUESTION)
    answered(page)
    expect(page.locator("#answer")).to_contain_text("CANDLE")
    page.get_by_label("Only in").fill("older.md")
    ask(page, QUESTION)
    expect(page.locator("#outcome")).to_contain_text("old.md")
    page.get_by_label("Collection").select_option("harbour")
    expect(page.get_by_label("Only in")).to_have_value("")
    ask(page, QUESTION)
    answered(page)
    expect(page.locator("#answer")).to_contain_text("ANCHOR")
    expect(page.locator(".source")).to_contain_text("boats.md")
    page.locator("#documents summary").click()
    expect(page.locator("#documents li")).to_have_count(1)
    assert violations(page) == []
    page.reload()
    expect(page.get_by_label("Collection")).to_have_value("harbour")


def test_a_single_collection_is_no_choice(visitor: Visitor, tmp_path: Path, embedding: EmbeddingModel) -> None:
    """Then only the document can be named; the fields fit a telephone."""
    with serve(build_container(load_settings(data_dir=tmp_path), embedding=embedding)) as served:
        page = visitor.open(served, viewport={"width": 320, "height": 640})
        expect(page.get_by_label("Only in")).to_be_visible()
        expect(page.get_by_label("Collection")).to_be_hidden()
        assert overflow(page) == 0
