"""Any bytes in any file, and any filter over any metadata: read or named, matched or refused, never a crash."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.table import LOADERS, load_file
from app.ingest.split import split_document
from app.providers.stores.embedded import EmbeddedStore
from graph.errors import InvalidInput
from tests.app.ingest.conftest import pdf

PIECES = [
    *"# * - > | ` ~ = _ [ ] ( ) { } < > & ; : \\ \" ' ! ^ $ % @ \n \t \r \0 \ufeff \u2028 \u202e".split(" "),
    *(
        "```",
        "---\n",
        "===\n",
        "| a | b |\n|---|---|\n",
        "[x]: y\n",
        "![",
        "](",
        "&#0;",
        "&#xD800;",
        "&amp",
        "<!--",
        "-->",
    ),
    *(
        "<table>",
        "<tr>",
        "<td>",
        "</p>",
        "<script>",
        "<svg>",
        "<![CDATA[",
        "<?",
        "<h1>",
        "<ul><li>",
        "<pre>",
        "<base href=",
    ),
    *(".. include:: /etc/hostname\n", ".. raw:: html\n\n   ", "`x`_", "|x|", "::\n\n  ", ".. _a:\n", "+---+\n", "\f"),
    *('{"document_id": "a", "title": "t", "text": "', '"}', '"page": -1,', '"chunk_id": null', "[[[", "1e999", "NaN"),
    *("%PDF-1.4\n", "1 0 obj<<", "/Kids[1 0 R]", "stream\n", "endstream", "xref\n", "trailer<<", "%%EOF"),
    *("Words in a row. ", "Zwölf Boxkämpfer", "日本語", "👩‍👩‍👧", "a" * 400),
]
hostile_text = st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=30).map("".join)
encoded = st.builds(
    lambda text, codec: text.encode(codec, "replace"),
    hostile_text,
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "shift_jis", "cp037"]),
)
SAMPLE = pdf([(20, "Title"), (11, "Some words of a page. And more of them.")], [(11, "Another page.")])


@st.composite
def broken_pdf(draw: st.DrawFn) -> bytes:
    """A real PDF with some of its bytes changed, or cut."""
    content = bytearray(SAMPLE)
    for place, value in draw(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), max_size=20)):
        content[place] = value
    return bytes(content[: draw(st.integers(0, len(SAMPLE)) | st.just(len(SAMPLE)))])


def read(content: bytes, suffix: str) -> None:
    """Read *content* as a file of that kind, and split what is in it."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder, f"a{suffix}")).write_bytes(content)
        for found in load_file(path, path.name):
            assert isinstance(found, LoadedDocument) or "internal error" not in found.reason, found
            if isinstance(found, LoadedDocument):
                for split in split_document(found):
                    for chunk in getattr(split, "chunks", ()):
                        chunk.text.encode()  # no half characters
                        assert "\0" not in chunk.text


@pytest.mark.parametrize("suffix", sorted(LOADERS))
@settings(max_examples=25)
@given(encoded | st.binary(max_size=300))
@example(b"\xff\xfe\x00\xd8" * 3)
@example("a&#xD800;b<p>\ud800".encode("utf-8", "surrogatepass"))
def test_any_bytes_are_read_or_named(suffix: str, content: bytes) -> None:
    """Whatever the bytes and whatever the suffix says they are."""
    read(content, suffix)


@settings(max_examples=40)
@given(broken_pdf())
def test_a_broken_pdf_is_read_or_named(content: bytes) -> None:
    """Any byte of a PDF may be another one."""
    read(content, ".pdf")


values = (
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.sampled_from(["a", "b", "", "é", "'", '"', "a.b", "*", "null"])
)
names = st.sampled_from(
    ["source", "plain", "a.b", "with space", 'quo"te', "é", "a[0]", "$x", "", "_id", "metadata.plain"]
)
STORED = [{"source": "a", "plain": 1}, {"source": "b", "plain": "a"}, {"source": "é", "with space": 'quo"te'}, {}]


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A collection of four documents with unlike metadata."""
    store = EmbeddedStore(DeterministicFakeEmbedding(size=8), tmp_path_factory.mktemp("filters"), "c", 8)
    store.add_documents([Document(f"Text {n}.", id=str(n), metadata=dict(more)) for n, more in enumerate(STORED)])
    yield store
    store.close()


@settings(max_examples=60)
@given(st.dictionaries(names, values | st.lists(values, max_size=3) | st.booleans() | st.floats(), max_size=2))
@example({"source": "a"})
@example({"plain": [1, "a"]})
@example({"source": "*"})
def test_any_filter_is_obeyed_or_refused(filtered: Any, where: dict[str, Any]) -> None:
    """What comes back has what the filter asks for; ``source`` "*" is any, as a name may end with a star.

    A filter that compares with anything but text, or whole numbers, or names a field with a quotation mark, is refused
    by name.
    """
    try:
        found = filtered.similarity_search("text", k=10, filter=where)
    except InvalidInput as error:
        refused = error.details["field"]
        asked = where[refused] if isinstance(where[refused], list) else [where[refused]]
        assert '"' in refused or {type(part) for part in asked} not in ({str}, {int})
        return
    if where == {"source": "*"}:
        assert len(found) == len(STORED)
    for document in found:
        for name, value in where.items():
            wanted = value if isinstance(value, list) else [value]
            if name in ("source", "plain", "with space") and not (name == "source" and "*" in wanted):
                assert document.metadata.get(name) in wanted
