"""The file of ``garden export``: a tar archive of JSON Lines and numpy arrays, with a checksum of every member.

::

    garden.json             format, version, layout, collection, embedding_model, dimension
    000000.chunks.jsonl     a line per chunk: {"chunk_id", "text", "metadata", "sparse": n, "sentences": n}
    000000.dense.npy        float32 [chunks, d], a row per line
    000000.sparse.npy       {index: uint32, value: float32} [sum of "sparse"], BM25 weights, chunk by chunk
    000000.sentences.npy    float16 [sum of "sentences", d], chunk by chunk
    000001.chunks.jsonl     … groups of up to 256 chunks, numbered without a gap
    sha256.json             {"members": {name: SHA-256}, "chunks": n, "documents": n}; always last

``"sparse": null`` says that the collection held no such vector; then it is computed from the text at the import. All
that is needed to read a file are tar, JSON and ``numpy.load``. Nothing of it is compressed: vectors do not shrink.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from app.ingest.identify import LAYOUT
from app.providers.stores.layout import Point

FORMAT = "knowledge-garden-collection"
VERSION = 1
HEAD, SUMS = "garden.json", "sha256.json"
PARTS = ("chunks.jsonl", "dense.npy", "sparse.npy", "sentences.npy")
GROUP = 256
"""Most chunks in a group, which is what is held in memory: about 3 MB of 384 dimensions."""
GROUP_BYTES = 1 << 26
"""Most bytes of a group's vectors and texts, if it has more than one chunk; a member may have four times that."""
WEIGHT = np.dtype([("index", "<u4"), ("value", "<f4")])


class Head(BaseModel):
    """What the file says of itself before anything else."""

    model_config = ConfigDict(frozen=True, strict=True)

    format: str = FORMAT
    version: int = VERSION
    layout: str = LAYOUT
    collection: str
    embedding_model: str
    dimension: int = Field(ge=0)


class Sums(BaseModel):
    """The last member: a SHA-256 of every other one, and what there must be in all."""

    model_config = ConfigDict(frozen=True, strict=True)

    members: dict[str, str]
    chunks: int
    documents: int


async def write_archive(
    path: Path, head: Head, pages: AsyncIterator[list[Point]], told: Callable[[int], None] = lambda _: None
) -> Sums:
    """Write every point into a new file at *path*, which is there only when it is whole; *told* hears of each group.

    Raises ``OSError``. A file of that name is replaced.
    """
    draft = path.with_name(f"{path.name}.part")
    writer = _Writer()
    try:
        with draft.open("wb") as file, tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            writer.add(tar, HEAD, head.model_dump_json().encode())
            held: list[Point] = []
            size = 0
            async for page in pages:
                for point in page:
                    if held and (len(held) == GROUP or size + _bytes(point) > GROUP_BYTES):
                        writer.group(tar, held)
                        told(writer.chunks)
                        held, size = [], 0
                    held.append(point)
                    size += _bytes(point)
            if held:
                writer.group(tar, held)
                told(writer.chunks)
            sums = Sums(members=dict(writer.sums), chunks=writer.chunks, documents=len(writer.documents))
            writer.add(tar, SUMS, sums.model_dump_json().encode())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return sums


class _Writer:
    """Adds members and remembers their sums."""

    def __init__(self) -> None:
        self.sums: dict[str, str] = {}
        self.documents: set[str] = set()
        self.chunks = 0
        self._groups = 0

    def add(self, tar: tarfile.TarFile, name: str, content: bytes) -> None:
        """One member, without a time or an owner: the same collection makes the same file."""
        member = tarfile.TarInfo(name)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
        tar.members = []  # type: ignore[attr-defined]  # tarfile keeps all it ever met
        self.sums[name] = hashlib.sha256(content).hexdigest()

    def group(self, tar: tarfile.TarFile, points: Sequence[Point]) -> None:
        """The four members of some points."""
        sparse = [None if point.sparse is None else _weights(point.sparse) for point in points]
        lines = [_line(point, weights) for point, weights in zip(points, sparse, strict=True)]
        arrays = {
            "dense.npy": np.stack([point.dense for point in points]).astype("<f4"),
            "sparse.npy": np.concatenate([np.zeros(0, WEIGHT), *(one for one in sparse if one is not None)]),
            "sentences.npy": np.concatenate([point.sentences for point in points]).astype("<f2"),
        }
        stem = f"{self._groups:06d}"
        self.add(tar, f"{stem}.chunks.jsonl", b"".join(lines))
        for name, array in arrays.items():
            self.add(tar, f"{stem}.{name}", _npy(array))
        self._groups += 1
        self.chunks += len(points)
        self.documents.update(str(point.metadata.get("document_id", "")) for point in points)


def _bytes(point: Point) -> int:
    """About what a point takes in a group."""
    return point.dense.nbytes + point.sentences.nbytes + len(point.text) + len(repr(point.metadata))


def _line(point: Point, weights: NDArray[Any] | None) -> bytes:
    row = {
        "chunk_id": point.chunk_id,
        "text": point.text,
        "metadata": point.metadata,
        "sparse": None if weights is None else len(weights),
        "sentences": len(point.sentences),
    }
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _weights(sparse: Any) -> NDArray[Any]:
    return np.array(list(sparse.items()), WEIGHT)


def _npy(array: NDArray[Any]) -> bytes:
    held = io.BytesIO()
    np.lib.format.write_array(held, array, version=(1, 0), allow_pickle=False)
    return held.getvalue()
