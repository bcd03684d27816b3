"""Find how well the chunks that a citation names support what it claims."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from answering.evidence.anchors import CitationAnchor, SupportedSpan
from answering.evidence.claims import ANSWERS, YES_OR_NO, bare_claim, completed
from answering.evidence.support import CLEAR_SUPPORT, SUPPORT_BAR, Quote, likely, quotes, supported
from answering.text.amounts import as_written
from answering.text.sentences import Span
from answering.text.terms import question_stems, words_of
from answering.types import Chunk, Passage, PassageReader, ReadingFailed

MAX_CHUNKS = 2  # of one document or page that are searched for one claim: those with most of its words
MAX_CLAIM = 4_000  # characters of a claim that is checked; no sentence of a document carries a longer one
log = logging.getLogger("garden.graph")

Groups = tuple[tuple[int, ...], ...]  # the chunks that each source of a citation may mean
Pair = tuple[str, Passage]  # a claim, and the passage read for it


@dataclass(slots=True)
class _Check:
    """A claim of an answer, and the ``candidates`` for its quote, those of each source that it names.

    ``claim_text`` and ``claim_with_question`` are what a reader gets: the assertion alone, and after its question.
    """

    claim: str
    claim_text: str
    claim_with_question: str
    question: str
    candidates: list[list[Quote]]

    def pairs(self) -> list[Pair]:
        """List what to read: quotes neither verbatim nor refused."""
        pending = (quote.passage for group in self.candidates for quote in group if not quote.refused)
        return [pair for passage in pending if passage for form in self._forms(passage) for pair in form]

    def _forms(self, passage: Passage) -> list[tuple[Pair, Pair]]:
        """Pair the claim with *passage*, as it is and with its amounts as written there, which says the same.

        Without its question too where half its words, or a number, are only there.
        """
        claim_words, found = words_of(self.claim_text), words_of(" ".join((passage.title, *passage.sentences)))
        echoed = claim_words & words_of(self.question) - found
        echo = 2 * len(echoed) >= len(claim_words) > 0 or any(word[0].isdigit() for word in echoed)
        forms = (self.claim_with_question, self.claim_text)[: 1 + echo]
        return [((form, passage), (as_written(form, passage.sentences), passage)) for form in forms]

    def score(self, logits: dict[Pair, float]) -> None:
        """Set every quote's support by the reader's *logits*; the overlap limits that of a mere "yes" or "no"."""
        limits = [None] if YES_OR_NO.fullmatch(self.claim) else []
        for group in self.candidates:
            for at, quote in enumerate(group):
                forms = self._forms(quote.passage) if quote.passage else [()]
                best = [max((logits[pair] for pair in form if pair in logits), default=None) for form in forms]
                group[at] = replace(quote, support=min(supported(quote, logit) for logit in best + limits))

    def support(self) -> float:
        """Return the highest support of a quote."""
        return max((quote.support for group in self.candidates for quote in group), default=0.0)

    def supported_spans(self, bar: float) -> list[SupportedSpan]:
        """Return the best quote of each group that has one, where its support reaches *bar*."""
        best = (max(group, key=lambda quote: quote.support) for group in self.candidates if group)
        return [(self.claim, quote) for quote in best if quote.support >= bar]

    def divisible(self) -> bool:
        """Whether to check clause by clause: another clause may hold what a quote lacks, or denies in other words."""
        refused = any(quote.refused for group in self.candidates for quote in group)
        return self.support() < SUPPORT_BAR and not refused


async def check_claims(
    anchors: list[CitationAnchor],
    text: str,
    chunks: Sequence[Chunk],
    reader: PassageReader | None,
    question: str,
    until: float | None,
) -> list[CitationAnchor]:
    """Set each anchor's quotes and support in *text*; after *until*, on the event loop's clock, nothing is read.

    A claim without one supporting quote is checked clause by clause.
    """
    checks: dict[tuple[str, Groups], _Check] = {}

    async def checked(stretches: Iterable[tuple[Span, Groups]]) -> list[_Check]:
        results = []
        for stretch, groups in stretches:
            key = (text[slice(*stretch)], groups)
            if key not in checks:
                await asyncio.sleep(0)  # a long answer must not block the event loop, and its deadline must end it
                checks[key] = _check(key[0], groups, chunks, question)
            results.append(checks[key])
        await _read(results, reader, until)
        return results

    claims = await checked((anchor.claim, anchor.groups) for anchor in anchors)
    divided = [a.clauses if claim.divisible() else [] for a, claim in zip(anchors, claims, strict=True)]
    clauses = iter(await checked((span, a.groups) for a, spans in zip(anchors, divided, strict=True) for span in spans))
    for anchor, claim, spans in zip(anchors, claims, divided, strict=True):
        bar = CLEAR_SUPPORT if anchor.uncited else SUPPORT_BAR
        anchor.support, anchor.supported = claim.support(), claim.supported_spans(bar)
        held = [next(clauses).supported_spans(bar) for _ in spans]
        if held and all(held) and not anchor.supported:
            anchor.supported = [found for some in held for found in some]
            anchor.support = min(max(quote.support for _, quote in some) for some in held)
    return anchors


def _check(claim: str, groups: Groups, chunks: Sequence[Chunk], question: str) -> _Check:
    """Find the quotes for *claim* in its bare form; a mere "yes" or "no" claims what *question* asks."""
    if len(claim) > MAX_CLAIM:
        return _Check(claim, "", "", "", [])
    claim_text, context = bare_claim(claim) or claim, question
    if YES_OR_NO.fullmatch(claim):
        claim_text, context = completed(claim, question), ""
    answer = ANSWERS.match(claim) if question else None
    answered = f"{answer[1].capitalize()}, {claim_text}" if answer else claim_text
    question_terms, row = question_stems(question), " ".join(claim.split())
    candidates: list[list[Quote]] = []
    for group in groups:
        named = [chunks[position] for position in group]
        near = likely(claim_text, named, MAX_CHUNKS) if len(named) > 1 else named
        whole = [row.startswith("|") and row in " ".join(chunk.text.split()) for chunk in near]
        forms = zip((row if is_row else claim_text for is_row in whole), near, strict=True)
        found = (quotes(form, chunk, question_terms, must_read=answer is not None) for form, chunk in forms)
        candidates.append([quote for some in found for quote in some])
    return _Check(claim, claim_text, completed(answered, context), context, candidates)


async def _read(checks: Sequence[_Check], reader: PassageReader | None, until: float | None) -> None:
    """Score *checks* by the reader; by lexical overlap where it fails or times out."""
    logits: dict[Pair, float] = {}
    pairs = list(dict.fromkeys(pair for check in checks for pair in check.pairs())) if reader else []
    if reader and pairs:
        try:
            async with asyncio.timeout_at(until):
                read = await asyncio.gather(*(reader.support(*pair) for pair in pairs))
            logits = dict(zip(pairs, read, strict=True))
        except (ReadingFailed, TimeoutError) as error:
            log.warning("support scored by overlap", extra={"failed": type(error).__name__, "pairs": len(pairs)})
    for check in checks:
        check.score(logits)
