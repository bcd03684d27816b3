"""Write and read the file of ``garden export``: an uncompressed ZIP archive of JSON Lines and numpy arrays.

::

    000000.chunks.jsonl     a line per chunk: {"chunk_id", "text", "metadata", "sparse": n, "sentences": n}
    000000.dense.npy        float32 [chunks, d], a row per line
    000000.sparse.npy       {index: uint32, value: float32} [sum of "sparse"], BM25 weights, chunk by chunk
    000000.sentences.npy    float16 [sum of "sentences", d], chunk by chunk
    000001.chunks.jsonl     … groups of up to 256 chunks, numbered without a gap
    garden.json             format, version, layout, collection, embedding_model, dimension, chunks, documents

``"sparse": null``: the import computes it. ZIP keeps a CRC-32 of every member. Nothing is unpickled or put at a path.
"""

from __future__ import annotations

import io
import struct
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from app.ingest.parts import LAYOUT
from app.providers.stores.layout import Point
from app.providers.stores.payloads import document_hashes
from graph.errors import InvalidInput

FORMAT = "knowledge-garden-collection"
VERSION = 1
HEAD = "garden.json"
PARTS = ("chunks.jsonl", "dense.npy", "sparse.npy", "sentences.npy")
GROUP, GROUP_BYTES = 256, 1 << 26
"""Most chunks, and most bytes of vectors and texts, in a group; a group is what is held in memory."""

MAX_MEMBER_BYTES = 1 << 28
WEIGHT = np.dtype([("index", "<u4"), ("value", "<f4")])


class Head(BaseModel):
    """Describes the file."""

    model_config = ConfigDict(frozen=True, strict=True)

    format: str = FORMAT
    version: int = VERSION
    layout: str = LAYOUT
    collection: str
    embedding_model: str
    dimension: int = Field(ge=0)
    chunks: int = 0
    documents: int = 0


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    chunk_id: str = Field(min_length=1)
    text: str
    metadata: dict[str, Any]
    sparse: int | None = Field(ge=0)
    sentences: int = Field(ge=0)


async def write_archive(
    path: Path, head: Head, pages: AsyncIterator[list[Point]], on_progress: Callable[[int], None] = lambda _: None
) -> Head:
    """Write every point into a file at *path*, which exists only when it is complete; return the head with counts.

    *on_progress* is called with the number of chunks written. The same points make the same bytes. A file of that name
    is replaced. Raises ``OSError``.
    """
    draft = path.with_name(f"{path.name}.part")
    documents: set[str] = set()
    number = chunks = 0
    try:
        with ZipFile(draft, "w", ZIP_STORED) as file:
            async for group in _groups(pages):
                for part, content in zip(PARTS, _members(group), strict=True):
                    file.writestr(ZipInfo(f"{number:06d}.{part}"), content)  # a ZipInfo of its own has no time in it
                number, chunks = number + 1, chunks + len(group)
                documents.update(str(point.metadata.get("document_id", "")) for point in group)
                on_progress(chunks)
            head = head.model_copy(update={"chunks": chunks, "documents": len(documents)})
            file.writestr(ZipInfo(HEAD), head.model_dump_json())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return head


async def _groups(pages: AsyncIterator[list[Point]]) -> AsyncIterator[list[Point]]:
    held: list[Point] = []
    size = 0
    async for page in pages:
        for point in page:
            more = point.dense.nbytes + point.sentences.nbytes + len(point.text) + len(repr(point.metadata))
            if held and (len(held) == GROUP or size + more > GROUP_BYTES):
                yield held
                held, size = [], 0
            held.append(point)
            size += more
    if held:
        yield held


def _members(points: Sequence[Point]) -> Iterator[bytes]:
    """Yield the contents of the four members of a group."""
    sparse = [None if one.sparse is None else np.array(list(one.sparse.items()), WEIGHT) for one in points]
    lines: list[bytes] = []
    for point, weights in zip(points, sparse, strict=True):
        count = None if weights is None else len(weights)
        own = {"chunk_id": point.chunk_id, "text": point.text, "metadata": point.metadata}
        row = _Row.model_validate({**own, "sparse": count, "sentences": len(point.sentences)})
        lines.append(row.model_dump_json().encode() + b"\n")
    yield b"".join(lines)
    dense = np.stack([point.dense for point in points]).astype("<f4")
    all_weights = np.concatenate([np.zeros(0, WEIGHT), *(one for one in sparse if one is not None)])
    for array in (dense, all_weights, np.concatenate([point.sentences for point in points]).astype("<f2")):
        held = io.BytesIO()
        np.lib.format.write_array(held, array, version=(1, 0), allow_pickle=False)
        yield held.getvalue()


class Archive:
    """A complete file. ``documents`` is document id → ``content_hash`` of its first chunk."""

    def __init__(self, path: Path) -> None:
        """Read *path* through. Raises ``InvalidInput`` that says what is wrong with it."""
        self.path = path
        with _errors(path), ZipFile(path) as file:
            self.head = _head(path, file)
            self.documents = document_hashes(one.metadata for group in self._read(file) for one in group)
            if len(self.documents) != self.head.documents:
                raise _wrong(path, "documents are missing")

    async def apoints(self) -> AsyncIterator[list[Point]]:
        """Yield every point of the file, group by group; it is checked again on the way."""
        with _errors(self.path), ZipFile(self.path) as file:
            for points in self._read(file):
                yield points

    def _read(self, file: ZipFile) -> Iterator[list[Point]]:
        chunks = 0
        groups, rest = divmod(len(file.namelist()) - 1, len(PARTS))
        for number in range(groups):
            points = _points(self.head, *(_member(file, f"{number:06d}.{part}") for part in PARTS))
            chunks += len(points)
            yield points
        if rest or chunks != self.head.chunks:
            raise _wrong(self.path, "chunks are missing")


def _head(path: Path, file: ZipFile) -> Head:
    head = orjson.loads(_member(file, HEAD))
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise _wrong(path, "it has another format")
    if head.get("version") != VERSION:
        raise _wrong(path, f"it is of version {head.get('version')}, and this Knowledge Garden reads {VERSION}")
    return Head.model_validate(head)


def _member(file: ZipFile, name: str) -> bytes:
    """Return the content of a member, its CRC-32 compared. Raises ``KeyError`` and what ``ZipFile.read`` does."""
    info = file.getinfo(name)
    if info.compress_type != ZIP_STORED or info.file_size > MAX_MEMBER_BYTES:
        raise ValueError(f"{name} is compressed or too large")
    return file.read(info)


def _points(head: Head, lines: bytes, dense: bytes, sparse: bytes, sentences: bytes) -> list[Point]:
    """Return the points of one group. Raises ``ValueError`` when its four members do not fit each other."""
    rows = [_Row.model_validate_json(line) for line in lines.splitlines()]
    if not 0 < len(rows) <= GROUP:
        raise ValueError("too many chunks, or none")
    near = _array(dense, np.dtype("<f4"), (len(rows), head.dimension))
    weights = _array(sparse, WEIGHT, (sum(row.sparse or 0 for row in rows),))
    vectors = _array(sentences, np.dtype("<f2"), (sum(row.sentences for row in rows), head.dimension))
    if not (np.isfinite(near).all() and np.isfinite(vectors).all()):
        raise ValueError("a vector holds a number that is not finite")
    points, weight, sentence = [], 0, 0
    for row, vector in zip(rows, near, strict=True):
        some = weights[weight : weight + (row.sparse or 0)]
        own = None if row.sparse is None else dict(zip(some["index"].tolist(), some["value"].tolist(), strict=True))
        spans = vectors[sentence : sentence + row.sentences].astype(np.float32)
        points.append(Point(row.chunk_id, row.text, row.metadata, vector, spans, own))
        weight, sentence = weight + len(some), sentence + row.sentences
    return points


def _array(content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the array in *content*, whose header must be exactly that of *dtype* and *shape*."""
    header = io.BytesIO()
    expected = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, expected)
    if not content.startswith(header.getvalue()):
        raise ValueError("the members do not fit each other")
    return np.frombuffer(content, dtype, offset=len(header.getvalue())).reshape(shape)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Raise everything a damaged file causes as ``InvalidInput``."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.", field="file") from error
    except (BadZipFile, KeyError, ValueError, EOFError, RuntimeError, OverflowError, struct.error) as error:
        raise _wrong(path, "it is truncated, or was changed") from error


def _wrong(path: Path, what: str) -> InvalidInput:
    return InvalidInput(f"{path} is not a complete export: {what}. Nothing was imported.", field="file")
