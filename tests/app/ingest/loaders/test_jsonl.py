"""JSON Lines: rows with a chunk id stay whole, others are split; a broken row harms no other."""

from __future__ import annotations

import json
from pathlib import Path

from app.ingest.documents import LoadedDocument, SkippedFile
from app.ingest.loaders.jsonl import MAX_ROW_CHARS
from app.ingest.loaders.table import load_file
from tests.app.ingest.conftest import load, load_one, skipped, split_one, texts


def rows(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def test_a_row_with_a_chunk_id_is_one_chunk_to_the_letter(tmp_path: Path) -> None:
    """Its text is stored as it stands, however long, with its own id and place."""
    text = "  # Not a heading\n\n" + "A sentence of some length stands here. " * 60
    row = {"document_id": "d", "title": "T", "url": "https://x.org", "text": text, "chunk_id": "c-1", "page": 3}
    split = split_one(load_one(rows(tmp_path / "a.jsonl", row | {"chapter": "C", "section": "S", "other": 1})))
    (chunk,) = split.chunks
    assert (chunk.chunk_id, chunk.text, chunk.page, chunk.chapter, chunk.section) == ("c-1", text, 3, "C", "S")
    assert (split.document_id, split.title, split.url, split.source) == ("d", "T", "https://x.org", "d")


def test_rows_of_a_document_are_one_document(tmp_path: Path) -> None:
    """Rows that share a document id belong together, wherever they stand, in file order."""
    lines = [{"document_id": d, "text": t} for d, t in (("a", "One."), ("b", "Two."), ("a", "Three."))]
    first, second = load(rows(tmp_path / "a.jsonl", *lines))
    assert isinstance(first, LoadedDocument)
    assert isinstance(second, LoadedDocument)
    assert (first.document_id, second.document_id) == ("a", "b")
    assert [chunk.text for chunk in split_one(first).chunks] == ["One.\n\nThree."]


def test_rows_without_chunk_id_are_split(tmp_path: Path) -> None:
    """A long row becomes chunks ``document_id#n`` that carry the row's place; no line of it is taken for a heading."""
    text = "Short line\n\n" + "\n\n".join(f"Paragraph {n} says something about gardens. " * 8 for n in range(6))
    split = split_one(load_one(rows(tmp_path / "a.jsonl", {"document_id": "d", "text": text, "section": "S"})))
    assert [chunk.chunk_id for chunk in split.chunks] == [f"d#{n}" for n in range(len(split.chunks))]
    assert len(split.chunks) > 2
    assert split.chunks[0].text.startswith("S\n\nShort line")
    assert {chunk.section for chunk in split.chunks} == {"S"}


def test_broken_rows_are_named_and_left_out(tmp_path: Path) -> None:
    """Each broken row is reported by line number and reason; the others are kept."""
    good = {"document_id": "d", "text": "Good."}
    path = rows(
        tmp_path / "a.jsonl", good, "{", "[1]", {"document_id": "d"}, "", {"document_id": "e", "text": " "}, good
    )
    *broken, document = load(path)
    reasons = [file.reason for file in broken if isinstance(file, SkippedFile)]
    assert reasons[:2] == ["line 2: not JSON", "line 3: not a JSON object"]
    assert reasons[2:] == ["line 4: text: Field required", "line 6: text: is empty"]
    assert isinstance(document, LoadedDocument)
    assert len(document.blocks) == 2


def test_many_broken_rows_are_counted(tmp_path: Path) -> None:
    """After twenty named rows the rest is a number."""
    results = load(rows(tmp_path / "a.jsonl", {"document_id": "d", "text": "Good."}, *["{"] * 50))
    assert [result.reason for result in results if isinstance(result, SkippedFile)][-1] == "30 more broken lines"


def test_rows_that_are_no_documents(tmp_path: Path) -> None:
    """A file of other rows (questions, tasks) is named once, and does not put the pruning of others in doubt."""
    result = skipped(rows(tmp_path / "q.jsonl", {"question": "Why?"}, {"question": "How?"}))
    assert result.reason == "no row is a document (line 1: document_id: Field required)"
    assert not result.rows_lost


def test_records_are_a_table(tmp_path: Path) -> None:
    """Rows with values of their own, as a program exports them, are a table of one document."""
    path = rows(
        tmp_path / "calls.jsonl",
        {"call": "C-7", "machine": "Press 2", "part": {"no": "P-11", "pieces": 2}},
        {"call": "C-8", "machine": "Kiln", "part": {"no": None, "pieces": 0}},
    )
    (block,) = load_one(path).blocks
    assert (
        block.text == "| call | machine | part no | part pieces |\n| C-7 | Press 2 | P-11 | 2 |\n| C-8 | Kiln |  | 0 |"
    )


def test_records_with_long_texts_are_sections(tmp_path: Path) -> None:
    """A text of several sentences is read in a section of its record, sentence by sentence."""
    text = "The pump stood still on Friday. " * 12
    path = rows(tmp_path / "notes.jsonl", {"id": "N-1", "text": text}, {"id": "N-2", "text": "Nothing."})
    document = load_one(path)
    assert [block.section for block in document.blocks] == ["N-1", "N-2"]
    assert len(split_one(document).chunks[0].spans) > 12


def test_questions_with_more_to_them_are_no_records(tmp_path: Path) -> None:
    """Questions for an evaluation are named, whatever stands beside them; with their answers they are read."""
    path = rows(tmp_path / "q.jsonl", {"question": "Why?", "expected_sources": ["a.md"]})
    assert skipped(path).reason.startswith("no row is a document")
    half = rows(tmp_path / "half.jsonl", '{"call": "\\ud83d", "minutes": 4}', {"call": "C-8", "minutes": 5})
    assert skipped(half).reason.startswith("no row is a document")
    faq = [{"question": "When is tea?", "answer": "At four."}, {"question": "Where?", "answer": "In the shed."}]
    lines = "| question | answer |\n| When is tea? | At four. |\n| Where? | In the shed. |"
    assert texts(load_one(rows(tmp_path / "faq.jsonl", *faq))) == [lines]


def test_an_overlong_row_is_named(tmp_path: Path) -> None:
    """A row longer than the limit is named, and the rows around it are kept."""
    good = {"document_id": "d", "text": "Good."}
    path = rows(tmp_path / "a.jsonl", good, '{"document_id": "x", "text": "' + "a" * MAX_ROW_CHARS + '"}', good)
    named, document = load(path)
    assert isinstance(named, SkippedFile)
    assert named.reason == "line 2: longer than 10,000,000 characters"
    assert isinstance(document, LoadedDocument)
    assert len(document.blocks) == 2


def test_a_row_too_long_for_one_chunk_is_named(tmp_path: Path) -> None:
    """A chunk has its limit, and is never cut."""
    row = {"document_id": "d", "chunk_id": "c", "text": "a" * 100_001}
    assert "longer than the 100,000 characters" in skipped(rows(tmp_path / "a.jsonl", row)).reason


def test_encodings_of_json_lines(tmp_path: Path) -> None:
    """Byte-order marks and UTF-16 are understood; a lone surrogate is a broken row, not a crash."""
    line = json.dumps({"document_id": "ä", "text": "Grüße."}, ensure_ascii=False)
    for codec in ("utf-8-sig", "utf-16", "cp1252"):
        path = tmp_path / f"{codec}.jsonl"
        path.write_text(f"{line}\r\n{line}\r\n", encoding=codec, newline="")
        assert load_one(path).document_id == "ä"
    (path := tmp_path / "s.jsonl").write_text('{"document_id": "a", "text": "\\ud800"}\n')
    assert isinstance(next(load_file(path, "s.jsonl")), SkippedFile)
