"""What the tests of ingest share: a real collection, and files read the way ingest reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import IngestReport, LoadedDocument, SkippedFile, SplitDocument
from app.ingest.loaders.table import load_file
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import ingest_into
from app.ingest.split import split_document
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.stores.embedded import EmbeddedStore

MODEL = "all-MiniLM-L6-v2"


@pytest_asyncio.fixture
async def store(tmp_path: Path, embeddings: MiniLMEmbeddings) -> AsyncIterator[EmbeddedStore]:
    """An empty embedded collection."""
    made = EmbeddedStore(embeddings, tmp_path / "data", "documents", embeddings.dimension)
    yield made
    await made.aclose()


@pytest.fixture
def run_ingest(store: EmbeddedStore, embeddings: MiniLMEmbeddings, tmp_path: Path) -> Callable[..., Any]:
    """``await run_ingest(path, …, prune=False)``: ingest into ``store`` with the real model."""

    async def run(*paths: Path, prune: bool = False) -> IngestReport:
        manifest = IngestManifest(tmp_path / "data" / "documents", paths, prune=prune)
        return await ingest_into(CollectionWriter(store, embeddings, MODEL), paths, manifest=manifest)

    return run


def load(path: Path) -> list[LoadedDocument | SkippedFile]:
    """What is in one file."""
    return list(load_file(path, path.name))


def load_one(path: Path) -> LoadedDocument:
    """The one document in a file."""
    (document,) = load(path)
    assert isinstance(document, LoadedDocument), document
    return document


def skipped(path: Path) -> SkippedFile:
    """Why a file is left out."""
    (result,) = load(path)
    assert isinstance(result, SkippedFile), result
    return result


def split_one(document: LoadedDocument) -> SplitDocument:
    """The document in chunks."""
    (split,) = split_document(document)
    assert isinstance(split, SplitDocument), split
    return split


def places(document: LoadedDocument) -> list[tuple[str | None, str | None, int | None, str]]:
    """Chapter, section, page and first words of every block."""
    return [(block.chapter, block.section, block.page, block.text[:20]) for block in document.blocks]


def texts(document: LoadedDocument) -> list[str]:
    """The text of every block."""
    return [block.text for block in document.blocks]


def pdf(*pages: Sequence[tuple[int, str]], title: str | None = None, password: str | None = None) -> bytes:
    """A PDF whose pages are lists of (size of type, paragraph), encrypted where there is a *password*, empty or not."""
    from fpdf import FPDF
    from fpdf.enums import EncryptionMethod

    document = FPDF()
    if title:
        document.set_title(title)
    if password is not None:
        document.set_encryption("owner", password or None, EncryptionMethod.AES_256)
    for page in pages:
        document.add_page()
        for size, text in page:
            document.set_font("Helvetica", size=size)
            document.multi_cell(0, size * 0.5, text, new_x="LMARGIN", new_y="NEXT")
            document.ln(4)
    return bytes(document.output())


def raw_pdf(objects: Sequence[str]) -> bytes:
    """A PDF of *objects* as it writes them, the first its catalog."""
    written, offsets = "%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(written))
        written += f"{number} 0 obj{content}endobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    trailer = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(written)}\n%%EOF"
    return f"{written}{head}{table}{trailer}".encode("latin-1")


def stream(content: str) -> str:
    """A stream as PDF writes it."""
    return f"<</Length {len(content)}>>stream\n{content}\nendstream"
