"""Find how well the chunks that a citation names support what it claims."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from answering.evidence.anchors import CitationAnchor, SupportedSpan
from answering.evidence.claims import ANSWERS, YES_OR_NO, bare_claim, completed
from answering.evidence.edits import denies
from answering.evidence.support import CLEAR_SUPPORT, SUPPORT_BAR, Quote, likely, overlap, quotes, supported
from answering.ports import ClaimReader, ReadingFailed
from answering.text.amounts import as_written
from answering.text.ranges import with_ranges
from answering.text.sentences import Span
from answering.text.terms import question_stems, words_of
from answering.types import Chunk, Passage

MAX_CHUNKS = 2  # of one document or page that are searched for one claim: those with most of its words
MAX_CLAIM = 4_000  # characters of a claim that is checked; no sentence of a document carries a longer one
RESTATED = 0.75
"""Share of a question's words in a "Yes, …" or "No, …" from which on it is read without the question."""
UNSURE = 3.0
"""Log-odds that are read again where there is a second reader: within ±3.0, a support of .05 to .95."""
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
        """Pair the claim with *passage*, as it is and with its amounts as written there, a bound as its whole range.

        Without its question too where half its words, or a number, are only there.
        """
        claim_words, found = words_of(self.claim_text), words_of(" ".join((passage.title, *passage.sentences)))
        echoed = claim_words & words_of(self.question) - found
        echo = 2 * len(echoed) >= len(claim_words) > 0 or any(word[0].isdigit() for word in echoed)
        forms = (self.claim_with_question, self.claim_text)[: 1 + echo]
        told = passage.sentences
        return [((form, passage), (with_ranges(as_written(form, told), told), passage)) for form in forms]

    def score(self, log_odds: Mapping[Pair, float]) -> None:
        """Set every quote's support by what was read; the overlap limits that of a mere "yes" or "no"."""
        limits = [None] if YES_OR_NO.fullmatch(self.claim) else []
        for group in self.candidates:
            for at, quote in enumerate(group):
                forms = self._forms(quote.passage) if quote.passage else [()]
                best = [max((log_odds[pair] for pair in form if pair in log_odds), default=None) for form in forms]
                group[at] = replace(quote, support=min(supported(quote, read) for read in best + limits))

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


@dataclass(slots=True)
class Readings:
    """What was read for the claims of one answer: the log-odds of each pair, which is read once.

    After ``until``, on the event loop's clock, nothing is read. Where ``reader`` is unsure, ``second`` reads too, if
    there is one, and the mean counts (the logarithmic opinion pool of two readers who weigh the same); where that one
    fails, the first one's reading stays.
    """

    reader: ClaimReader | None
    second: ClaimReader | None = None
    until: float | None = None
    log_odds: dict[Pair, float] = field(default_factory=dict)

    async def read(self, pairs: Iterable[Pair]) -> None:
        """Read what of *pairs* was not read yet; nothing where the reader fails or is too slow."""
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self.log_odds]
        if not (self.reader and fresh):
            return
        try:
            async with asyncio.timeout_at(self.until):
                read = await asyncio.gather(*(self.reader.support(*pair) for pair in fresh))
        except (ReadingFailed, TimeoutError) as error:
            log.warning("support scored by overlap", extra={"failed": type(error).__name__, "pairs": len(fresh)})
            return
        self.log_odds.update(zip(fresh, read, strict=True))
        if self.second:
            await self._read_again(self.second, [pair for pair in fresh if abs(self.log_odds[pair]) < UNSURE])

    async def _read_again(self, second: ClaimReader, pairs: Sequence[Pair]) -> None:
        failures: list[str] = []

        async def again(pair: Pair) -> None:
            try:
                async with asyncio.timeout_at(self.until):
                    self.log_odds[pair] = (self.log_odds[pair] + await second.support(*pair)) / 2
            except (ReadingFailed, TimeoutError) as error:
                failures.append(type(error.__cause__ or error).__name__)

        await asyncio.gather(*map(again, pairs))
        if failures:
            log.warning("claims not read again", extra={"failed": sorted(set(failures)), "pairs": len(failures)})


def restates(claim: str, question: str, *, yes: bool) -> bool:
    """Whether *claim*, which follows a "yes" or "no", says by itself what *question* asks, and both agree.

    It has ``RESTATED`` of the question's words, and denies where the question does, or after a "no" where it does not.
    """
    asked = frozenset(question_stems(question))
    return overlap(asked, words_of(claim)) >= RESTATED and (denies(claim) == denies(question)) is yes


async def check_claims(
    anchors: list[CitationAnchor], text: str, chunks: Sequence[Chunk], question: str, readings: Readings
) -> list[CitationAnchor]:
    """Set each anchor's quotes and support in *text* by *readings*, which grow.

    A claim without one supporting quote is checked clause by clause.
    """
    checks: dict[tuple[str, Groups], _Check] = {}

    async def checked(stretches: Iterable[tuple[Span, Groups]]) -> list[_Check]:
        results = []
        for stretch, groups in stretches:
            key = (text[slice(*stretch)], groups)
            if key not in checks:
                await asyncio.sleep(0)  # a long answer must not block the event loop, and its deadline must end it
                checks[key] = check_of(key[0], groups, chunks, question)
            results.append(checks[key])
        await readings.read(pair for check in results for pair in check.pairs())
        for check in results:
            check.score(readings.log_odds)
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


def check_of(claim: str, groups: Groups, chunks: Sequence[Chunk], question: str) -> _Check:
    """Find the quotes for *claim* in its bare form; a mere "yes" or "no" claims what *question* asks."""
    if len(claim) > MAX_CLAIM:
        return _Check(claim, "", "", "", [])
    claim_text, context = bare_claim(claim) or claim, question
    if YES_OR_NO.fullmatch(claim):
        claim_text, context = completed(claim, question), ""
    answer = ANSWERS.match(claim) if question else None
    if answer and restates(claim_text, question, yes=answer[1].lower() == "yes"):
        answer, context = None, ""  # the question before it would only distract
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
