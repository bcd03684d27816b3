"""Split a document by its structure into chunks that fit an encoder of 256 tokens.

A chunk stays within one section and page. Blocks are packed in order, without overlap; one that is too long is broken
(``app.ingest.break_block``). What leads in a list or a table stands with it, if need be on the next page. Each chunk
begins with its section's heading, which is none of its sentences.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, zip_longest
from math import ceil

from answering.text.sentences import Span, is_question, sentence_spans
from app.ingest.break_block import broken, weight, word_pieces
from app.ingest.documents import Block, LoadedDocument, SkippedFile, SplitDocument, TextChunk

TARGET = 190
"""Word pieces aimed at, title and heading not counted: about 140 words of English."""
LIMIT = 240
"""Word pieces of title, chapter, heading and text together: the encoder reads 256, and the count is an estimate."""
LEADING_CHARS = 200
"""Longest line that may lead to what follows it."""
LEADING_ENDS = (":", "：")
"""Ends of a section that only leads on; what says something stays in its own section, which a citation names."""
TINY = 40
"""Characters below which a section that only leads on joins the next one of the same page and chapter in one chunk."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Unbroken text. ``glue`` separates it from the piece before; a heading holds no sentence."""

    text: str
    glue: str = "\n\n"
    heading: bool = False
    paragraph: bool = False

    @property
    def leads(self) -> bool:
        """Whether it is one short line that needs what follows: a title, a question."""
        text = self.text
        return self.paragraph and len(text) <= LEADING_CHARS and "\n" not in text and text[-1:] not in ".!;…。！；．।۔؛"


def _size(pieces: Iterable[_Piece]) -> float:
    return sum(weight(piece.text) for piece in pieces)


def split_document(document: LoadedDocument) -> Iterator[SplitDocument | SkippedFile]:
    """Yield the document in chunks, after rows skipped for a duplicate chunk id.

    The id of a chunk is ``document_id#n`` (n: its number in the document, from 0), or its row's ``chunk_id``.
    """
    chunks: dict[str, TextChunk] = {}
    for number, (block, text, spans) in enumerate(_drafts(document)):
        chunk_id = f"{document.document_id}#{number}" if block.chunk_id is None else block.chunk_id
        if chunk_id in chunks:
            reason = f"document {document.document_id} names the chunk {chunk_id} twice; the first one is kept"
            yield SkippedFile(path=document.source, reason=reason)
            continue
        position = block.model_dump(include={"chapter", "section", "page", "recognised"})
        chunks[chunk_id] = TextChunk(chunk_id=chunk_id, chunk_index=len(chunks), text=text, spans=spans, **position)
    yield SplitDocument(**document.model_dump(exclude={"blocks"}), chunks=tuple(chunks.values()))


def _drafts(document: LoadedDocument) -> Iterator[tuple[Block, str, tuple[Span, ...]]]:
    """Yield chunks without their ids: a block of the chunk's position, the text, the sentences.

    Blocks that share chapter, section and page are packed together; a block with a chunk id is a chunk of its own.
    """
    before: list[_Piece] = []  # tiny sections, which the next chunk begins with
    blocks = _with_lead_ins(document.blocks)
    runs = [list(run) for _, run in groupby(blocks, key=lambda b: (b.chapter, b.section, b.page, b.chunk_id))]
    for run, following in zip_longest(runs, [run[0] for run in runs[1:]]):
        first = run[0]
        if first.chunk_id is not None:
            yield from ((block, block.text, sentence_spans(block.text)) for block in run)
            continue
        named = first.section is not None and first.section != document.title
        heading = [_Piece(first.section or "", heading=True)] if named else []
        size = _size(before)
        if (
            sum(len(block.text) for block in run) < TINY
            and run[-1].text.endswith(LEADING_ENDS)
            and following
            and (following.chunk_id, following.chapter, following.page) == (None, first.chapter, first.page)
            and size < LIMIT // 3
        ):
            before += [*heading, *(_Piece(block.text) for block in run)]
            continue
        taken = sum(map(word_pieces, {document.title, first.chapter or "", first.section or ""})) + size
        limit = max(LIMIT - ceil(taken), LIMIT // 3)
        for pack in _packed(list(_pieces(run, limit)), limit):
            yield first, *_rendered([*before, *heading, replace(pack[0], glue="\n\n"), *pack[1:]])
            before = []


def _with_lead_ins(blocks: Iterable[Block]) -> list[Block]:
    """Part the sentence that leads in a list or a table from a long paragraph, and put it on the page of these."""
    parted: list[Block] = []
    for block in blocks:
        above = parted[-1] if parted else None
        if (
            above
            and block.kind in ("list", "table")
            and above.kind == "prose"
            and above.text.endswith(LEADING_ENDS)
            and (above.chapter, above.section, above.chunk_id) == (block.chapter, block.section, None)
            and block.chunk_id is None
            and (above.page != block.page or weight(above.text) > LIMIT // 3)
            and (spans := sentence_spans(above.text))
        ):
            start, _ = spans[-1]
            rest = [above.model_copy(update={"text": text})] if (text := above.text[:start].rstrip()) else []
            lead = above.model_copy(update={"text": above.text[start:], "page": block.page})
            parted[-1:] = [*rest, lead]
        parted.append(block)
    return parted


def _pieces(blocks: Sequence[Block], limit: int) -> Iterator[_Piece]:
    for block in blocks:
        if weight(block.text) <= limit:
            yield _Piece(block.text, paragraph=block.kind == "prose")
            continue
        for number, text in enumerate(broken(block, min(limit, TARGET))):
            yield _Piece(text, glue="" if number and block.kind == "prose" else "\n\n")


def _packed(pieces: list[_Piece], limit: int) -> Iterator[list[_Piece]]:
    """Fill chunks evenly: as few as the target asks for, each near the same size.

    A chunk does not end with a line that leads to the next; a question stays with its answer where both fit.
    """
    total = _size(pieces)
    aim = limit if total <= limit else total / ceil(total / min(TARGET, limit))
    held: list[_Piece] = []
    size = 0.0
    for group in _groups(pieces, limit):
        more = _size(group)
        if held and (size + more > limit or size + more / 2 > aim):
            cut = next((at for at in range(len(held), 0, -1) if not held[at - 1].leads), len(held))
            yield held[:cut]
            held = held[cut:]
            size = _size(held)
            if held and size + more > limit:
                yield held
                held, size = [], 0.0
        held += group
        size += more
    if held:
        yield held


def _groups(pieces: list[_Piece], limit: int) -> Iterator[list[_Piece]]:
    """Yield single pieces, or a question with its answer where both fit one chunk."""
    starts = [at for at, piece in enumerate(pieces) if is_question(piece.text) and piece.leads]
    for number, (start, end) in enumerate(pairwise([0, *starts, len(pieces)])):
        together = number and _size(pieces[start:end]) <= limit
        yield from [pieces[start:end]] if together else ([piece] for piece in pieces[start:end])


def _rendered(pieces: Sequence[_Piece]) -> tuple[str, tuple[Span, ...]]:
    """Return the text of a chunk and its sentences, without those of headings."""
    text = ""
    headings: list[Span] = []
    for piece in pieces:
        if text:
            text = (text.rstrip() if piece.glue else text) + piece.glue
        if piece.heading:
            headings.append((len(text), len(text) + len(piece.text)))
        text += piece.text
    text = text.rstrip()
    spans = sentence_spans(text)
    return text, tuple(s for s in spans if not any(start <= s[0] and s[1] <= end for start, end in headings))
