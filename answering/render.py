"""Write a verified answer out: with ``[k]``, with document names, and the snippets of its sources."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from answering.evidence.verify import VerifiedSentence
from answering.text.sentences import Span
from answering.types import Chunk, Citation

SNIPPET_CHARS = 300
"""Length of a cited document's snippet, in code points."""
Pieces = Sequence[str | int]
"""An answer cut at its citations: text, or the 0-based position of a citation in the list of them."""
_CLOSING = re.compile(r"(?<![.!?])[.!?][\"'”’)*_]{0,3}\Z")
_GOES_ON = re.compile(r"[ \t]*[^\W\d_A-Z]|[.!?…]")  # the full stop itself follows: "(paper, etc.) [1]."
_ABBREVIATED = re.compile(r"\b[A-Za-z]\.[A-Za-z]\.\Z")
_NEAR = 8
"""Characters before a marker that are searched for the end of its sentence."""


@dataclass(slots=True)
class Rendered:
    """An answer as text, and for each citation where its markers stand in it, (start, end) in code points."""

    text: str
    markers: dict[int, list[Span]] = field(default_factory=dict)


def cite_by_document(
    verified: Sequence[VerifiedSentence], chunks: Sequence[Chunk]
) -> tuple[list[Citation], list[str | int]]:
    """Number the kept quotes by document, in order of first citation (contract, "Markers").

    Returns the citations, and the answer's pieces.
    """
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    numbers: dict[str, int] = {}
    citations: list[Citation] = []
    pieces: list[str | int] = []
    for sentence in verified:
        if not sentence.text:
            continue
        pieces.append(sentence.before if pieces else sentence.before.lstrip())
        since = 0
        for position, (claim, quote) in sentence.supported:
            chunk = by_id[quote.chunk_id]
            if position < 0:  # in what stands before the sentence: behind the preamble of a block of code
                cut = len(sentence.before) + position
                pieces[-1:] = [sentence.before[:cut], len(citations), sentence.before[cut:]]
            else:
                pieces += [sentence.text[since:position], len(citations)]
                since = position
            citations.append(
                Citation(
                    marker=numbers.setdefault(chunk.document_id, len(numbers) + 1),
                    document_id=chunk.document_id,
                    chunk_id=chunk.chunk_id,
                    sentence=claim,
                    quote=quote.text,
                    start=quote.start,
                    end=quote.end,
                    support=quote.support,
                    title=chunk.title,
                    source=chunk.source or chunk.document_id,
                    page=chunk.page,
                    section=chunk.section,
                    url=chunk.url,
                    recognised=chunk.recognised,
                )
            )
        pieces.append(sentence.text[since:])
    return citations, [piece for piece in pieces if piece != ""]


def numbered(pieces: Pieces, citations: Sequence[Citation]) -> Rendered:
    """Write markers as ``[k]``, the k-th cited document (Query API)."""
    return _render(pieces, citations, lambda citation: f"[{citation.marker}]")


def named(pieces: Pieces, citations: Sequence[Citation]) -> str:
    """Write markers as ``[safety_manual.pdf, page 5]``, or ``, section Y``, or the name alone (Library)."""
    return _render(pieces, citations, _source).text


def _source(citation: Citation) -> str:
    """Name document and page of a citation; brackets in names become parentheses."""
    detail = f", section {citation.section}" if citation.section else ""
    detail = detail if citation.page is None else f", page {citation.page}"
    return f"[{' '.join((citation.source.strip() + detail).replace('[', '(').replace(']', ')').split())}]"


def _render(pieces: Pieces, citations: Sequence[Citation], write: Callable[[Citation], str]) -> Rendered:
    """Join the pieces; markers follow their words and precede the full stop, without repeats."""
    runs = [list(run) for _, run in groupby(pieces, key=lambda piece: isinstance(piece, str))]
    text = ""
    markers: dict[int, list[Span]] = {}
    for number, run in enumerate(runs):
        cited = [index for index in run if isinstance(index, int)]
        if not cited:
            text += "".join(str(piece) for piece in run)
            continue
        words, end = text.rstrip(" \t"), ""
        after = str(runs[number + 1][0]) if number + 1 < len(runs) else ""
        near = max(0, len(words) - _NEAR)
        closing = _CLOSING.search(words, near)
        if closing and not _GOES_ON.match(after) and not _ABBREVIATED.search(words, near):
            words, end = words[: closing.start()], closing[0]
        text = f"{words} " if words and not words.endswith("\n") else words
        placed: dict[str, Span] = {}
        for index in cited:
            marker = write(citations[index])
            if marker not in placed:
                placed[marker] = (len(text), len(text) + len(marker))
                text += marker
            markers.setdefault(index, []).append(placed[marker])
        text += end
    leading = len(text) - len(text.lstrip())
    shifted = {index: [(start - leading, end - leading) for start, end in spans] for index, spans in markers.items()}
    return Rendered(text.strip(), shifted)


def snippet(text: str, start: int, end: int) -> str:
    """Cut at most ``SNIPPET_CHARS`` from *text* between words, around the quote at *start*:*end*.

    An ellipsis stands where something was left out. Of a quote longer than that, the beginning is shown.
    """
    if len(text) <= SNIPPET_CHARS:
        return text
    most = SNIPPET_CHARS - 2
    first = max(0, min(start - max(0, most - (end - start)) // 2, len(text) - most))
    if first:
        space = text.find(" ", first, start)
        first = space + 1 if space >= 0 else start
    last = min(len(text), first + most)
    if last < len(text):
        space = text.rfind(" ", max(first + 1, end), last + 1)
        last = space if space >= 0 else last
    return f"{'…' if first else ''}{text[first:last].strip()}{'…' if last < len(text) else ''}"
