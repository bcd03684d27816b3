"""Reading the file of ``garden export``. It is read through and checked whole before anything is done with it.

Nothing in it is ever written to a path: members are read one after the other into memory, each must bear the name that
comes next, and an array's header is compared, not obeyed. So a file from a stranger can be wrong, but not dangerous.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.ingest.transfer.archive import FORMAT, GROUP, HEAD, PARTS, SUMS, VERSION, WEIGHT, Head, Sums
from app.providers.stores.layout import Point
from app.providers.stores.payloads import chunk_index_of
from graph.errors import InvalidInput

MOST_BYTES = 1 << 28
"""Largest member that is read; a group is some megabytes."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    chunk_id: str = Field(min_length=1)
    text: str
    metadata: dict[str, Any]
    sparse: int | None = Field(ge=0)
    sentences: int = Field(ge=0)


_ROW = TypeAdapter(_Row)


class Archive:
    """A file that was found whole. ``documents`` is document id -> ``content_hash`` of its first chunk."""

    def __init__(self, path: Path) -> None:
        """Read *path* through. Raises ``InvalidInput`` saying what is wrong with it."""
        self.path = path
        self.documents: dict[str, str] = {}
        first: dict[str, int] = {}
        self.count = 0
        self.head, groups = _open(path)
        for points in groups:
            self.count += len(points)
            for point in points:
                document = str(point.metadata.get("document_id", ""))
                at = chunk_index_of(point.metadata)
                if document not in first or at < first[document]:
                    first[document] = at
                    self.documents[document] = str(point.metadata.get("content_hash") or "")

    async def apoints(self) -> AsyncIterator[list[Point]]:
        """Every point of the file, group by group; it is checked again on the way."""
        for points in _open(self.path)[1]:
            yield points


def _open(path: Path) -> tuple[Head, Iterator[list[Point]]]:
    """The head, and the groups, which are read as they are asked for; the last check is made after the last one."""
    members = _members(path)
    name, content = next(members)
    if name != HEAD:
        raise _wrong(path, "it does not begin like one")
    try:
        said = orjson.loads(content)
        if said.get("format") != FORMAT:
            raise _wrong(path, "it is of another format")
        if said.get("version") != VERSION:
            raise _wrong(path, f"it is of version {said.get('version')}, and this Knowledge Garden reads {VERSION}")
        head = Head.model_validate(said)
    except (ValueError, AttributeError) as error:
        raise _wrong(path, "it does not begin like one") from error
    return head, _groups(path, head, members, {HEAD: hashlib.sha256(content).hexdigest()})


def _groups(
    path: Path, head: Head, members: Iterator[tuple[str, bytes]], sums: dict[str, str]
) -> Iterator[list[Point]]:
    chunks = 0
    documents: set[str] = set()
    for number in count():
        parts: list[bytes] = []
        for part in PARTS:
            name, content = next(members)
            if name == SUMS and not parts:
                _compare(path, content, sums, chunks, len(documents))
                return
            if name != f"{number:06d}.{part}":
                raise _wrong(path, f"{number:06d}.{part} is not where it must be")
            sums[name] = hashlib.sha256(content).hexdigest()
            parts.append(content)
        try:
            points = _points(head, *parts)
        except (ValueError, ValidationError, EOFError) as error:
            raise _wrong(path, f"group {number} cannot be read") from error
        chunks += len(points)
        documents.update(str(point.metadata.get("document_id", "")) for point in points)
        yield points


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each member in order; never ends by itself, for the last one says what there must be."""
    try:
        with path.open("rb") as file, tarfile.open(fileobj=file, mode="r:") as tar:
            while (member := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined]  # tarfile keeps all it ever met
                held = tar.extractfile(member) if member.isreg() and member.size <= MOST_BYTES else None
                if held is None:
                    raise _wrong(path, f"{member.name!r} is none of its members")
                content = held.read()
                if len(content) != member.size:
                    break
                yield member.name, content
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", field="file") from error
    except (tarfile.TarError, ValueError, EOFError, RecursionError) as error:  # a header may announce the next one
        raise _wrong(path, "it is cut short, or has been changed") from error
    raise _wrong(path, "it is cut short")


def _compare(path: Path, content: bytes, sums: dict[str, str], chunks: int, documents: int) -> None:
    try:
        said = Sums.model_validate_json(content)
    except ValidationError as error:
        raise _wrong(path, f"{SUMS} cannot be read") from error
    changed = [name for name in sums if said.members.get(name) != sums[name]]
    if changed:
        raise _wrong(path, f"{changed[0]} is not what was written")
    if said.members.keys() != sums.keys() or (said.chunks, said.documents) != (chunks, documents):
        raise _wrong(path, "parts of it are missing")


def _points(head: Head, lines: bytes, dense: bytes, sparse: bytes, sentences: bytes) -> list[Point]:
    """The points of one group. Raises ``ValueError`` when its four members do not fit each other."""
    rows = [_ROW.validate_python(orjson.loads(line)) for line in lines.splitlines()]
    if not 0 < len(rows) <= GROUP:
        raise ValueError("too many chunks, or none")
    near = _array(dense, np.dtype("<f4"), (len(rows), head.dimension))
    weights = _array(sparse, WEIGHT, (sum(row.sparse or 0 for row in rows),))
    spans = _array(sentences, np.dtype("<f2"), (sum(row.sentences for row in rows), head.dimension))
    if not (np.isfinite(near).all() and np.isfinite(spans).all()):
        raise ValueError("not every number is one")
    points, weight, span = [], 0, 0
    for row, vector in zip(rows, near, strict=True):
        some = weights[weight : weight + (row.sparse or 0)]
        own = None if row.sparse is None else dict(zip(some["index"].tolist(), some["value"].tolist(), strict=True))
        vectors = spans[span : span + row.sentences].astype(np.float32)
        points.append(Point(row.chunk_id, row.text, row.metadata, vector, vectors, own))
        weight, span = weight + len(some), span + row.sentences
    return points


def _array(content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array that must be in *content*: its header is compared with the one there must be, and never interpreted."""
    header = io.BytesIO()
    said = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, said)
    if not content.startswith(header.getvalue()):
        raise ValueError("the members do not fit each other")
    return np.frombuffer(content, dtype, offset=len(header.getvalue())).reshape(shape)


def _wrong(path: Path, what: str) -> InvalidInput:
    return InvalidInput(f"{path} is no whole export of a garden: {what}. Nothing was imported.", field="file")
