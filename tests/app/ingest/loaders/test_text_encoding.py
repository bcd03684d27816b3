"""Bytes become text in whatever encoding they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.ingest.loaders.text_encoding import Unreadable, decode
from tests.app.ingest.conftest import skipped

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


@pytest.mark.parametrize("codec", ["shift_jis", "euc_jp"])
def test_japanese_is_not_taken_for_broken_utf8(codec: str) -> None:
    """Bytes of another alphabet that happen to be UTF-8 here and there make no file UTF-8."""
    text = "ブレーキの点検は祝日を除いて毎日行われます。カートを運ぶ前に確認してください。" * 3
    assert decode(text.encode(codec)) == text


@pytest.mark.parametrize("at", [10, 70_000])
def test_a_nul_changes_no_encoding(at: int) -> None:
    """A zero byte in UTF-8, wherever it stands, is left out, and the rest is read as UTF-8."""
    data = (GERMAN * 400).encode()
    assert decode(data[:at] + b"\0" + data[at:]) == GERMAN * 400


@pytest.mark.parametrize("broken", [b"\xf6", b"\xc3"])
def test_a_broken_byte_changes_no_encoding(broken: bytes) -> None:
    """A byte that is no UTF-8 in a file that is becomes U+FFFD and harms no other word."""
    assert decode(GERMAN.encode() + b"Caf" + broken + b" au lait. " + GERMAN.encode()) == (
        f"{GERMAN}Caf\ufffd au lait. {GERMAN}"
    )


def test_line_ends_and_nul() -> None:
    """Line ends of every system are one, and no NUL is left."""
    assert decode("a\r\nb\rc\nd\0e".encode("utf-16")) == "a\nb\nc\nde"


@pytest.mark.parametrize("data", [bytes(range(256)) * 20, b"\x7fELF\0\0\1\2" * 500])
def test_binary_data_is_refused(data: bytes, tmp_path: Path) -> None:
    """A program with the suffix of a text is named, not stored."""
    with pytest.raises(Unreadable):
        decode(data)
    (path := tmp_path / "a.txt").write_bytes(data)
    assert skipped(path).reason == "binary data, not text"


@pytest.mark.parametrize("name", ["page.html", "notes.md", "notes.txt"])
def test_a_file_of_zero_bytes_is_damaged(name: str, tmp_path: Path) -> None:
    """A text whose blocks were not all written is refused, not stored by the few words that were."""
    (path := tmp_path / name).write_bytes(b"<p>The gate opens at six.</p>" + bytes(4096))
    assert skipped(path).reason == "a damaged file (mostly zero bytes)"
    padded = GERMAN.encode() + bytes(128)
    assert decode(padded) == GERMAN
