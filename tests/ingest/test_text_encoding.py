"""Bytes become text in whatever encoding they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.ingest.text_encoding import NotText, decode
from tests.ingest.conftest import skipped

GERMAN = "Die Prüfung der Bremsen ist täglich fällig, außer an Feiertagen. Für Änderungen gilt § 5. " * 3


@pytest.mark.parametrize(
    "codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"]
)
def test_western_text_in_any_encoding(codec: str) -> None:
    """With or without a byte-order mark, the text comes out as it went in."""
    assert decode(GERMAN.encode(codec)) == GERMAN


def test_other_alphabets_are_guessed() -> None:
    """A Cyrillic text without a mark is read as one."""
    text = "Проверка тормозов проводится ежедневно, кроме праздничных дней. " * 5
    assert decode(text.encode("cp1251")) == text


def test_line_ends_and_nul() -> None:
    """Line ends of every system are one, and no NUL is left."""
    assert decode("a\r\nb\rc\nd\0e".encode("utf-16")) == "a\nb\nc\nde"


@pytest.mark.parametrize("data", [bytes(range(256)) * 20, b"\x7fELF\0\0\1\2" * 500, b"\0" * 5000])
def test_binary_data_is_refused(data: bytes, tmp_path: Path) -> None:
    """A program with the suffix of a text is named, not stored."""
    with pytest.raises(NotText):
        decode(data)
    (path := tmp_path / "a.txt").write_bytes(data)
    assert skipped(path).reason == "binary data, not text"
