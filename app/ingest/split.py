"""Blocks → chunks that an encoder of 256 tokens reads whole, along the structure of the document.

A chunk stays within one section and one page. Blocks are packed as they come; one that is too long is broken where it
hurts least (``app.ingest.break_block``). Chunks do not overlap. Each begins with the heading of its section, which is
part of its text but none of its sentences: it says what the text is about and answers nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil

from app.ingest.break_block import broken
from app.ingest.documents import Block, LoadedDocument, SkippedFile, SplitDocument, TextChunk
from app.ingest.identify import chunk_ids
from app.ingest.word_pieces import weight, word_pieces
from graph.sentences import Span, sentence_spans

TARGET = 190
"""Word pieces aimed at, title and heading not counted: about 140 words of English."""

LIMIT = 240
"""Word pieces of title, chapter, heading and text together: the encoder reads 256, and the count is an estimate."""

LEADING_CHARS = 200
"""Longest line that may lead to what follows it."""

TINY = 40
"""Characters below which a section is no chunk of its own, if another of the same page and chapter follows: a few such
sections stand at the head of a chunk."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text that stays together. ``glue`` stands before it when it follows another; a heading holds no sentence.

    ``leads`` says that it is a paragraph, which may lead to what follows it.
    """

    text: str
    glue: str = "\n\n"
    heading: bool = False
    leads: bool = False


def split_document(document: LoadedDocument) -> Iterator[SplitDocument | SkippedFile]:
    """Yield the document cut into chunks, after the rows that had to be left out because their chunk id was taken."""
    drafts = list(_drafts(document))
    ids = chunk_ids(document.document_id, [block.chunk_id for block, _, _ in drafts])
    chunks: dict[str, TextChunk] = {}
    for chunk_id, (block, text, spans) in zip(ids, drafts, strict=True):
        if chunk_id in chunks:
            reason = f"document {document.document_id} names the chunk {chunk_id} twice; the first one is kept"
            yield SkippedFile(path=document.source, reason=reason)
            continue
        place = block.model_dump(include={"chapter", "section", "page"})
        chunks[chunk_id] = TextChunk(chunk_id=chunk_id, chunk_index=len(chunks), text=text, spans=spans, **place)
    yield SplitDocument(**document.model_dump(exclude={"blocks"}), chunks=tuple(chunks.values()))


def _drafts(document: LoadedDocument) -> Iterator[tuple[Block, str, tuple[Span, ...]]]:
    """Chunks without their ids: a block that has the chunk's place, the text, the sentences.

    Blocks that share chapter, section and page are packed together; a named chunk stands alone.
    """
    before: list[_Piece] = []  # a tiny section, on its way to the next chunk
    runs = [list(run) for _, run in groupby(document.blocks, key=lambda b: (b.chapter, b.section, b.page, b.chunk_id))]
    for run, following in zip(runs, [*runs[1:], None], strict=True):
        place = run[0]
        if place.chunk_id is not None:
            yield from ((block, block.text, sentence_spans(block.text)) for block in run)
            continue
        named = place.section is not None and place.section != document.title
        heading = [_Piece(place.section or "", heading=True)] if named else []
        if following and _is_tiny(run, following[0]) and sum(weight(piece.text) for piece in before) < LIMIT // 3:
            before += [*heading, *(_Piece(block.text) for block in run)]
            continue
        named_above = {document.title, place.chapter or "", place.section or ""}
        taken = sum(map(word_pieces, named_above)) + sum(weight(piece.text) for piece in before)
        room = max(LIMIT - ceil(taken), LIMIT // 3)
        for pack in _packed(list(_pieces(run, room)), room):
            yield place, *_rendered([*before, *heading, *pack])
            before = []


def _is_tiny(run: Sequence[Block], following: Block) -> bool:
    first = run[0]
    return (
        sum(len(block.text) for block in run) < TINY
        and following.chunk_id is None
        and (first.chapter, first.page) == (following.chapter, following.page)
    )


def _pieces(blocks: Sequence[Block], room: int) -> Iterator[_Piece]:
    for block in blocks:
        if weight(block.text) <= room:
            yield _Piece(block.text, leads=block.kind == "prose")
            continue
        for number, text in enumerate(broken(block, min(room, TARGET))):
            yield _Piece(text, glue="" if number and block.kind == "prose" else "\n\n")


def _packed(pieces: list[_Piece], room: int) -> Iterator[list[_Piece]]:
    """Fill chunks evenly: as few as the target asks for, each near the same size.

    A chunk does not end with a line that leads to what follows, and a question that fits one chunk with its answer
    begins one rather than being parted from it.
    """
    weights = [weight(piece.text) for piece in pieces]
    total = sum(weights)
    aim = room if total <= room else total / ceil(total / min(TARGET, room))
    held: list[_Piece] = []
    size = 0.0
    for group, more in _groups(pieces, weights, room):
        if held and (size + more > room or size + more / 2 > aim):
            kept = _led(held)
            yield held[:kept]
            held = held[kept:]
            size = sum(weight(piece.text) for piece in held)
            if held and size + more > room:
                yield held
                held, size = [], 0.0
        held += group
        size += more
    if held:
        yield held


def _groups(pieces: list[_Piece], weights: list[float], room: int) -> Iterator[tuple[list[_Piece], float]]:
    """Pieces with their weight, one by one, or a question with its answer where both fit one chunk."""
    starts = [at for at, piece in enumerate(pieces) if piece.text.endswith("?") and _leads(piece)]
    for asked, (start, end) in enumerate(pairwise([0, *starts, len(pieces)])):
        size = sum(weights[start:end])
        if asked and size <= room:
            yield pieces[start:end], size
        else:
            yield from (([piece], one) for piece, one in zip(pieces[start:end], weights[start:end], strict=True))


def _led(held: list[_Piece]) -> int:
    """How many of the pieces come before those that lead to what follows; all where none or each of them leads."""
    kept = len(held)
    while kept and _leads(held[kept - 1]):
        kept -= 1
    return kept or len(held)


def _leads(piece: _Piece) -> bool:
    """Whether a piece is one short line that says nothing without what follows: a title, a question, an opening."""
    text = piece.text
    return piece.leads and len(text) <= LEADING_CHARS and "\n" not in text and text[-1:] not in ".!;…"


def _rendered(pieces: Sequence[_Piece]) -> tuple[str, tuple[Span, ...]]:
    """The text of a chunk and its sentences, those of headings left out."""
    text = ""
    headings: list[Span] = []
    glue = ""
    for piece in pieces:
        joint = glue or piece.glue
        if text:
            text = (text.rstrip() if joint else text) + joint
        if piece.heading:
            headings.append((len(text), len(text) + len(piece.text)))
        text += piece.text
        glue = "\n\n" if piece.heading else ""
    text = text.rstrip()
    spans = sentence_spans(text)
    return text, tuple(s for s in spans if not any(start <= s[0] and s[1] <= end for start, end in headings))
