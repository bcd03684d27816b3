"""Checksums of a closed shard, by which damage done while nobody had it open is found before the engine meets it.

The engine keeps no checksums of its segments: of 120 ways to harm its files that were tried, most opened without a
word, some with half the chunks or none. So whoever closes a shard writes down the size and the sum of every file, and
whoever opens it compares first and then takes the note away: while the shard is open it changes, and after a kill there
is none (then ``edge_trial`` has to do).

::

    <collection>/sums.json    {"shard": "shard-1", "files": {"segments/…/page_0.dat": [size, sum], …}, "sum": of these}
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from app.providers.file_blocks import blocks, used

SUMS_FILE = "sums.json"
BLOCK = 1 << 16
"""Bytes summed at once. Blocks of zeros are passed over: the engine's files are mostly room to grow into."""
_ZEROS = bytes(BLOCK)
MOST_BYTES = 2 << 30
"""Data read at one opening or closing, seconds of it; of files past that the size alone is compared, smallest first."""


def write_sums(shard: Path) -> None:
    """Note the sums of a shard that has just been closed. A power cut may take the note; then a trial has to do."""
    sizes = {path: path.stat().st_size for path in sorted(shard.rglob("*")) if path.is_file()}
    left = MOST_BYTES
    files: dict[str, tuple[int, int | None]] = {}
    for path in sorted(sizes, key=sizes.__getitem__):
        left -= used(path)
        files[path.relative_to(shard).as_posix()] = sizes[path], checksum(path) if left >= 0 else None
    draft = shard.parent / f"{SUMS_FILE}.new"
    with draft.open("w", encoding="utf-8") as file:
        json.dump({"shard": shard.name, "files": files, "sum": _own_sum(files)}, file)
    draft.replace(shard.parent / SUMS_FILE)


def take_sums(shard: Path) -> bool:
    """Whether there was a note of this shard, which is true; the note is gone afterwards.

    Raises ``ValueError`` naming the first file that is not as it was left, and then leaves the note.
    """
    note = shard.parent / SUMS_FILE
    try:
        said = json.loads(note.read_text(encoding="utf-8"))
        true = said["shard"] == shard.name and said["sum"] == _own_sum(said["files"])
        files = said["files"] if true else None
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError):
        files = None  # a note that cannot be read tells nothing
    for name, (size, sum_) in (files or {}).items():
        path = shard / name
        if not path.is_file():
            raise ValueError(f"{name} is gone")
        if path.stat().st_size != size:
            raise ValueError(f"{name} has {path.stat().st_size} bytes where {size} were left")
        if sum_ is not None and checksum(path) != sum_:
            raise ValueError(f"{name} is not as it was left")
    note.unlink()
    return files is not None


def checksum(path: Path) -> int:
    """CRC-32 over the places and the bytes of all blocks that are not zero: the same with or without holes."""
    sum_ = 0
    with path.open("rb") as file:
        for at in blocks(file, BLOCK):
            file.seek(at)
            block = file.read(BLOCK)
            if block != _ZEROS[: len(block)]:
                sum_ = zlib.crc32(block, zlib.crc32(at.to_bytes(8, "little"), sum_))
    return sum_


def _own_sum(files: Any) -> int:
    return zlib.crc32(json.dumps(files).encode())
