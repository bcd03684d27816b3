"""Documents → batches of parts that keep an encoder busy, whatever the size of the documents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence

from app.ingest.documents import Described, Part, SplitDocument, TextChunk

BATCH_CHUNKS = 64
"""Chunks embedded together; with their sentences a few hundred texts."""

BATCH_CHARS = 100_000
"""Characters at which a batch is full even with fewer chunks; keeps a batch far below 1 MiB of JSON."""


def parts_of(document: SplitDocument, content_hash: str) -> Iterator[Part]:
    """Cut a document into parts of at most a batch; its first chunk travels in the last of them."""
    described = Described(**document.model_dump(exclude={"chunks"}))
    groups = list(_groups([*document.chunks[1:], document.chunks[0]]))
    for number, group in enumerate(groups, 1):
        last = number == len(groups)
        yield Part(
            document=described,
            chunks=group,
            content_hash=content_hash,
            last=last,
            total=len(document.chunks),
        )


def _groups(chunks: Sequence[TextChunk]) -> Iterator[tuple[TextChunk, ...]]:
    """Runs of chunks that fill a batch."""
    start = size = 0
    for at, chunk in enumerate(chunks):
        if at > start and (at - start == BATCH_CHUNKS or size + len(chunk.text) > BATCH_CHARS):
            yield tuple(chunks[start:at])
            start, size = at, 0
        size += len(chunk.text)
    yield tuple(chunks[start:])


async def batches(parts: AsyncIterator[Part]) -> AsyncGenerator[list[Part]]:
    """Gather parts, of one document or of many, until a batch is full."""
    held: list[Part] = []
    chunks = size = 0
    async for part in parts:
        held.append(part)
        chunks += len(part.chunks)
        size += sum(len(chunk.text) for chunk in part.chunks)
        if chunks >= BATCH_CHUNKS or size >= BATCH_CHARS:
            yield held
            held, chunks, size = [], 0, 0
    if held:
        yield held
