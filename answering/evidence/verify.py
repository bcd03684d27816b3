"""Verify the sentences of a draft against the chunks that it cites, or may have come from."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from answering.evidence.anchors import (
    AnchoredDraft,
    CitationAnchor,
    SupportedSpan,
    anchor_draft,
    introduces,
    says_yes_or_no,
    states,
    uncited_anchor,
)
from answering.evidence.attribution import Readings, check_claims
from answering.evidence.claims import claim_span, introduced
from answering.evidence.support import Quote
from answering.ports import ClaimReader
from answering.text.terms import asks_whether, question_stems, words_of
from answering.types import Chunk, CitedSentence

_JOINS = frozenset("and but or while whereas although though because which".split())
_SEPARATORS = " \t\n,;:—–"
"""What joins a clause that is cut off to the one before it."""


@dataclass(frozen=True, slots=True)
class VerifiedSentence:
    """A sentence of a draft after verification.

    ``supported`` are its citations: the position in ``text``, the stretch that is supported, and its quote. ``support``
    in [0, 1] is the best that was found, None for a sentence that states nothing. What was ``removed`` of it, all or
    the clauses at its end, is not supported; ``text`` is what stays, "" where nothing does.
    """

    text: str
    before: str
    supported: tuple[tuple[int, SupportedSpan], ...] = ()
    support: float | None = None
    removed: str = ""


async def verify(
    sentences: Sequence[CitedSentence],
    chunks: Sequence[Chunk],
    *,
    reader: ClaimReader | None,
    second: ClaimReader | None = None,
    question: str = "",
    attribute: bool = False,
    seconds: float | None = None,
) -> list[VerifiedSentence]:
    """Verify every sentence against *chunks*, cited or not; each that states something is supported or removed.

    A claim need not repeat what *question* says. Only with *attribute* a supported sentence that the model did not cite
    gets its citation. A heading, a preamble and code stay only with what they introduce. Where *reader* is
    unsure, *second* reads too. After *seconds* nothing more is read; what no reader read, the lexical overlap decides.
    """
    if any(source.span for sentence in sentences for source in sentence.sources):
        return [copied(sentence, chunks) for sentence in sentences]
    draft = anchor_draft(sentences)
    until = None if seconds is None else asyncio.get_running_loop().time() + seconds
    readings = Readings(reader, second, until)
    checked = partial(check_claims, text=draft.text, chunks=chunks, question=question, readings=readings)
    cited = await checked([anchor for anchor in draft.anchors if says_more(draft, anchor.sentence, question)])
    stating = [
        number for number in range(len(sentences)) if states(draft, number) and says_more(draft, number, question)
    ]
    held = {anchor.sentence for anchor in cited if anchor.supported}
    uncited = await checked([uncited_anchor(draft, number, len(chunks)) for number in stating if number not in held])
    by_sentence: dict[int, list[CitationAnchor]] = defaultdict(list)
    for anchor in sorted([*cited, *uncited], key=lambda anchor: (anchor.position, anchor.uncited)):
        by_sentence[anchor.sentence].append(anchor)
    verified = [
        _judged(draft, number, sentence, by_sentence[number], attribute=attribute)
        if by_sentence[number]
        else VerifiedSentence("", sentence.before, removed="" if introduces(draft, number) else sentence.text)
        for number, sentence in enumerate(sentences)
    ]
    return _once(_with_introductions(draft, sentences, verified, chunks))


def says_more(draft: AnchoredDraft, number: int, question: str) -> bool:
    """Whether a sentence has a word that *question* lacks, or answers whether something is so."""
    if not question or any(map(asks_whether, re.split(r"[,;:.!?]\s+", question))):
        return True
    return not words_of(draft.sentence(number)) <= frozenset(question_stems(question))


def copied(sentence: CitedSentence, chunks: Sequence[Chunk]) -> VerifiedSentence:
    """Compare a sentence with the span of the chunk that it was copied from; one without a source states nothing."""
    supported: list[tuple[int, SupportedSpan]] = []
    for source in sentence.sources:
        chunk = chunks[source.chunks[0]]
        start, end = source.span or (0, 0)
        text = chunk.text[start:end]
        if _bare(text) == _bare(sentence.text):
            quote = Quote(chunk.chunk_id, start, end, text, 1.0, support=1.0)
            supported.append((source.position, (sentence.text, quote)))
    if sentence.sources and not supported:
        return VerifiedSentence("", sentence.before, support=0.0, removed=sentence.text)
    support = 1.0 if supported else None
    return VerifiedSentence(sentence.text, sentence.before, tuple(supported), support)


def _bare(text: str) -> str:
    """Return *text* on one line, without the backticks that code is written in."""
    return " ".join(text.replace("`", "").split())


def _judged(
    draft: AnchoredDraft, number: int, sentence: CitedSentence, anchors: Sequence[CitationAnchor], *, attribute: bool
) -> VerifiedSentence:
    """Keep a sentence with its citations, without the clauses at its end that nothing supports, or remove it."""
    start, end = draft.sentences[number]
    support = max(anchor.support for anchor in anchors)
    supported = [anchor for anchor in anchors if anchor.supported]
    whole = any(anchor.uncited for anchor in supported)
    stop = end
    if not whole:
        reaches = [_reach(draft, anchor) for anchor in anchors if not anchor.uncited]
        stop = next((at for at, complete in reaches if not complete), end)
    kept = draft.text[start:stop].rstrip(_SEPARATORS)
    if stop < end:
        kept = _without_join(kept)
    nothing = VerifiedSentence("", sentence.before, support=support, removed=sentence.text)
    if not supported or not kept:
        return nothing
    explained = says_yes_or_no(draft, number) and number + 1 < len(draft.sentences)  # the next sentence is cited
    shown = [anchor for anchor in supported if not anchor.uncited or (attribute and not explained)]
    carried: set[tuple[str, int, str]] = set()
    citations: list[tuple[int, SupportedSpan]] = []
    for anchor in shown:
        for stretch, quote in anchor.supported:
            key = (quote.chunk_id, quote.start, stretch)
            if key not in carried:
                carried.add(key)
                claim = stretch if stretch in kept or stop == end else _without_join(stretch)
                if stop == end or claim in kept:  # what follows is cut off, with its citations
                    citations.append((min(anchor.position, stop) - start, (claim, quote)))
    if stop < end and not citations:
        return nothing
    text = sentence.text if stop == end else f"{kept}{_closing(sentence.text)}"
    removed = draft.text[slice(*claim_span(draft.text, stop, end))] if stop < end else ""
    return VerifiedSentence(text, sentence.before, tuple(citations), support, removed.strip(".!? ") and removed)


def _without_join(text: str) -> str:
    """Return *text* without what joins it to a clause that is cut off: ", and"."""
    text = text.rstrip(_SEPARATORS)
    before, _, last = text.rpartition(" ")
    return before.rstrip(_SEPARATORS) if last.lower() in _JOINS else text


def _reach(draft: AnchoredDraft, anchor: CitationAnchor) -> tuple[int, bool]:
    """Return up to where a cited claim is supported, and whether that is all of it."""
    start, end = anchor.claim
    if not anchor.supported:
        return start, False
    in_clauses = anchor.clauses and anchor.supported[0][0] != draft.text[start:end]
    if in_clauses and anchor.clauses[-1][1] < end:
        return anchor.clauses[-1][1], False
    return end, True


def _closing(text: str) -> str:
    """Return the mark that ends a sentence, if any."""
    return text[-1] if text[-1:] in (".", "!", "?") else "."


def _with_introductions(
    draft: AnchoredDraft,
    sentences: Sequence[CitedSentence],
    verified: list[VerifiedSentence],
    chunks: Sequence[Chunk],
) -> list[VerifiedSentence]:
    """Put back headings, preambles and code with what stays below or above them; close the gaps of what went."""
    texts = [sentence.text for sentence in sentences]
    gaps = [sentence.before for sentence in sentences]
    fenced = [number for number in range(len(texts)) if draft.fenced(number)]
    for number in fenced:
        lines = _bare(texts[number].strip("`~"))
        if any(lines.partition(" ")[2] in _bare(chunk.text) or lines in _bare(chunk.text) for chunk in chunks):
            verified[number] = replace(verified[number], text=texts[number], removed="")
    for number in reversed(range(len(texts))):
        if introduces(draft, number) and not verified[number].text:
            below = introduced(texts, gaps, number, fenced)
            if any(verified[at].text for at in below):
                verified[number] = replace(verified[number], text=texts[number])
    before = ""
    for number, sentence in enumerate(verified):
        if not sentence.text:
            before = before or (sentence.before if "\n" in sentence.before else "")
        else:
            if before and "\n" not in sentence.before:
                verified[number] = replace(sentence, before=before)
            before = ""
    return verified


def _once(verified: Sequence[VerifiedSentence]) -> list[VerifiedSentence]:
    """Show a sentence that the model repeats once."""
    seen: set[str] = set()
    out = []
    for sentence in verified:
        repeated = sentence.support is not None and sentence.text in seen
        seen.add(sentence.text)
        out.append(replace(sentence, text="", supported=()) if repeated else sentence)
    return out
