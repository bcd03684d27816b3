"""Sums of a closed shard: what they see, and that they are the same with and without holes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.providers.edge_sums import BLOCK, SUMS_FILE, checksum, take_sums, write_sums


def shard(folder: Path) -> Path:
    """A folder with a file of a few bytes amid holes, and a small one."""
    made = folder / "shard-1"
    made.mkdir()
    with (made / "page.dat").open("wb") as file:
        file.truncate(40 * BLOCK)
        file.seek(17 * BLOCK + 5)
        file.write(b"something")
    (made / "status.dat").write_bytes(b"")
    return made


def test_a_note_is_true_once(tmp_path: Path) -> None:
    """What was left so is found so, the note is gone then, and with no note nothing is said."""
    made = shard(tmp_path)
    write_sums(made)
    assert take_sums(made) is True
    assert not (tmp_path / SUMS_FILE).exists()
    assert take_sums(made) is False


def test_holes_do_not_count(tmp_path: Path) -> None:
    """A copy whose holes are filled with zeros has the same sum; the place of the bytes does count."""
    made = shard(tmp_path)
    full = tmp_path / "full"
    full.write_bytes((made / "page.dat").read_bytes())
    assert checksum(full) == checksum(made / "page.dat")
    moved = tmp_path / "moved"
    with moved.open("wb") as file:
        file.truncate(40 * BLOCK)
        file.seek(18 * BLOCK + 5)
        file.write(b"something")
    assert checksum(moved) != checksum(full)


def test_every_kind_of_change_is_seen(tmp_path: Path) -> None:
    """A changed bit, a byte less and a file gone are named each, and the note stays."""
    made = shard(tmp_path)
    page = made / "page.dat"
    whole = page.read_bytes()
    write_sums(made)
    page.write_bytes(whole[: 17 * BLOCK + 5] + b"Something" + whole[17 * BLOCK + 14 :])
    with pytest.raises(ValueError, match=r"page\.dat is not as it was left"):
        take_sums(made)
    os.truncate(page, len(whole) - 1)
    with pytest.raises(ValueError, match=rf"page\.dat has {len(whole) - 1} bytes where {len(whole)} were left"):
        take_sums(made)
    page.write_bytes(whole)
    (made / "status.dat").unlink()
    with pytest.raises(ValueError, match=r"status\.dat is gone"):
        take_sums(made)
    assert (tmp_path / SUMS_FILE).exists()


def test_a_damaged_note_accuses_nobody(tmp_path: Path) -> None:
    """A note that is not as it was written, or is of another shard, is none."""
    made = shard(tmp_path)
    write_sums(made)
    note = tmp_path / SUMS_FILE
    note.write_text(note.read_text().replace(str(40 * BLOCK), str(41 * BLOCK)))
    assert take_sums(made) is False
    write_sums(made)
    note.write_text(note.read_text().replace("shard-1", "shard-2"))
    assert take_sums(made) is False
    note.write_text("{")
    assert take_sums(made) is False
