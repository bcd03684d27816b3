"""Answer in the passages' own sentences, without a model."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log1p
from typing import NamedTuple

from answering.evidence.verify import copied
from answering.extract.sentences import Sentence, answering_sentences, found_sentences, written
from answering.ports import PassageReader
from answering.questions.definitions import asked_term
from answering.relevance.dates import DATED, later_section
from answering.relevance.graders import OTHER_LABEL_FACTOR, Logistic, extractive_confidence, logit
from answering.relevance.possible_answers import are_of_kind
from answering.relevance.rivals import is_of_rival
from answering.render import cite_by_document, numbered
from answering.text.context import antecedents, texts_to_read
from answering.text.terms import coverage, vocabulary
from answering.types import Chunk, CitedSentence, Draft, Passage, Question, SubqueryResults, TokenCallback

UNANSWERED = "The passages found do not answer: {}"
"""Names a sub-question that got no answer, where another one did."""
COUNTED = "{} rows match:", "One row matches:"
"""Leads in the rows that a question counts; it cites nothing, they are its evidence."""
FOUND_SURELY = 0.9
"""Probability that a count or a section is right: every word of its question was found. Not fitted."""
CHARS_PER_TOKEN = 4
"""Characters that a token of ``maxTokens`` stands for where no model counts them."""


SURE, SECOND_SHARE, MIN_SECOND = 0.9, 0.8, 0.5
"""Where the best passage answers less probably than the first, a second one is quoted too that does with at least the
second share of its probability, and the third itself: it may be the right one (``docs/relevance.md``)."""
READ_TWICE = Logistic(1.25, {"answers": 0.36, "alone": 0.36, "nearer": -1.0})
"""How probably a passage answers, by three features (``docs/relevance.md``, "A second reading").

``answers``: the logit of that when it was first read. ``alone``: the margin of its best sentence, read by itself.
``nearer``: ln(1 + n) for the n passages that are nearer. The more are read, the more easily one seems to answer.
"""
MIN_READ_AGAIN = 0.3
"""A passage that answers no more probably than that is not read again: it is declined."""
LARGEST_MARGIN = 12.0
"""Limit of the margin: beyond it a probability does not change."""


class Extract(NamedTuple):
    """The sentences that answer one question, in reading order, and how probably they are right, in [0, 1].

    ``rows``: how many rows they are that were counted, 0 where nothing was. Else ``chunk`` is what answers, if any.
    ``nearer``: how many of the passages are nearer to the question than that chunk.
    """

    question: str
    sentences: tuple[Sentence, ...]
    probability: float
    rows: int = 0
    chunk: Chunk | None = None
    nearer: int = 0


class ExtractiveSynthesizer:
    """Answers each sub-question with the sentences, few but for a list, of the chunk that most probably answers it.

    Where that is not sure, and a second one does so nearly as probably, its best sentence follows.
    """

    def __init__(self, reader: PassageReader | None = None, *, per_sub_question: bool = False) -> None:
        """*reader* reads the sentence that would answer once more.

        With *per_sub_question*, a chunk must pass the relevance threshold for the very sub-question it answers.
        """
        self._reader = reader
        self._per_sub_question = per_sub_question

    async def synthesize(
        self,
        question: Question,
        chunks: Sequence[Chunk],
        assessed: Sequence[SubqueryResults],
        emit: TokenCallback | None,
    ) -> Draft:
        """Return the draft over *chunks*; it has no sentence when no sub-question reaches ``min_confidence``.

        Past ``max_tokens`` the sentences that answer least are left out, whole. Of each answered sub-question the best
        one always stays, a lead-in with the first item after it: who sets a low limit wants a short answer, not none.

        ``confidence`` is that of the least certain answered sub-question; when none is, that of the nearest.
        """
        least = question.relevance_threshold if self._per_sub_question else 0.0
        extracts = [
            await self._read_again(_extract(results, chunks, least, question.added), results.chunks)
            for results in assessed
        ]
        least_certain = question.min_confidence
        answered = [extract for extract in extracts if extract.sentences and extract.probability >= least_certain]
        if not answered:
            return Draft(confidence=max((extract.probability for extract in extracts), default=0.0))
        sentences = [sentence for extract in answered for sentence in extract.sentences]
        unanswered = [extract.question for extract in extracts if extract not in answered]
        notes = tuple(_note(asked) for asked in unanswered)
        most = (question.max_tokens or 0) * CHARS_PER_TOKEN
        added = frozenset(question.added)  # a sentence with these is better than one without
        ranked = [
            sorted(extract.sentences, key=lambda s: (-len(added & vocabulary(s.text)), -s.score, -s.base_score))
            for extract in answered
        ]
        spare = [sentence for best, *others in ranked for sentence in others[best.text.endswith(":") :]]
        spare.sort(key=lambda sentence: (-sentence.score, -sentence.base_score))
        confidence = min(extract.probability for extract in answered)
        draft = Draft((*_written(answered, sentences, chunks), *notes), confidence)
        while most and spare and len(draft.text) > most:
            sentences.remove(spare.pop())
            draft = Draft((*_written(answered, sentences, chunks), *notes), confidence)
        if emit is not None:
            citations, pieces = cite_by_document([copied(sentence, chunks) for sentence in draft.sentences], chunks)
            await emit(numbered(pieces, citations).text)
        return draft

    async def _read_again(self, extract: Extract, chunks: Sequence[Chunk]) -> Extract:
        """Make the probability of *extract* that of being right; its best sentence is read alone for it.

        Alone, but for what its pronoun refers to. A definition is not: the term may stand before it. Of a sentence
        that names a rival of what is asked for little is left, unless it holds of that, too; and of any where the
        question has a name that is in none of *chunks*.
        """
        chunk, probability = extract.chunk, extract.probability
        if not chunk:
            return extract
        read = chunk.reading and not asked_term(extract.question)
        if self._reader and read and probability > MIN_READ_AGAIN:
            of_kind = are_of_kind(extract.question, chunk)
            best = max(range(len(of_kind)), key=lambda n: (of_kind[n], chunk.scores[n]))
            alone = Passage.of(chunk, [*antecedents(chunk, best), texts_to_read(chunk)[best]])
            reading = await self._reader.read(extract.question, alone)
            margin = max(-LARGEST_MARGIN, min(LARGEST_MARGIN, reading.sentences[-1] - reading.null))
            probability = READ_TWICE.probability(
                {"answers": logit(probability), "alone": margin, "nearer": log1p(extract.nearer)}
            )
            if await is_of_rival(self._reader, extract.question, chunk, best, chunks):
                probability *= OTHER_LABEL_FACTOR
        return extract._replace(probability=extractive_confidence(probability))


def _extract(results: SubqueryResults, chunks: Sequence[Chunk], least: float, added: Sequence[str]) -> Extract:
    """Answer one sub-question from its most probable chunk, of those read if there are any.

    Of near-duplicates the longest with every sentence of the answer is cited: which one matches best is arbitrary.
    Chunks with all *added* stems come first; an answer without them is hardly one: it is about something else.
    Where rows are counted, or a section is asked for by its number, these are the answer.
    """
    if results.counted:
        count = sum(len(found.numbers) for found in results.counted)
        return Extract(results.question, found_sentences(results.counted), FOUND_SURELY, count)
    if results.looked_up:
        return Extract(results.question, found_sentences(results.looked_up), FOUND_SURELY)
    passed = {chunk.chunk_id for chunk in chunks}
    relevant = [chunk for chunk in results.chunks if chunk.chunk_id in passed and (chunk.relevance or 0.0) >= least]
    candidates = [chunk for chunk in relevant if chunk.scores]
    candidates = [chunk for chunk in candidates if chunk.reading] or candidates
    candidates = [chunk for chunk in candidates if _shows(added, chunk, chunk.sentences)] or candidates
    if not candidates:
        return Extract(results.question, (), 0.0)
    best = max(candidates, key=lambda chunk: chunk.answers or 0.0)
    texts = [sentence.text for sentence in answering_sentences(best, results.question)]
    copies = [chunk for chunk in candidates if chunk.chunk_id in best.near_duplicates]
    full = [copy for copy in copies if all(text in copy.text for text in texts)]
    fullest = max([best, *full], key=lambda chunk: len(chunk.text))
    sentences = answering_sentences(fullest, results.question)
    factor = 1.0 if _shows(added, fullest, [sentence.text for sentence in sentences]) else OTHER_LABEL_FACTOR
    sentences += _second(results.question, candidates, best)
    dated = any(DATED.search(f"{chunk.headings} {chunk.source}") for chunk in relevant)
    if dated and (later := later_section(relevant, best)):
        sentences += answering_sentences(later, results.question)
    return Extract(
        results.question, sentences, (best.answers or 0.0) * factor, chunk=best, nearer=results.chunks.index(best)
    )


def _second(question: str, candidates: Sequence[Chunk], best: Chunk) -> tuple[Sentence, ...]:
    """Return the best sentence of the next passage, where the *best* one is not sure and it answers as probably."""
    if (best.answers or 0.0) >= SURE:
        return ()
    same = {best.chunk_id, *best.near_duplicates}
    others = [chunk for chunk in candidates if chunk.chunk_id not in same]
    second = max(others, key=lambda chunk: chunk.answers or 0.0, default=None)
    if not second or (second.answers or 0.0) < max(SECOND_SHARE * (best.answers or 0.0), MIN_SECOND):
        return ()
    return answering_sentences(second, question, most=1)


def _written(answered: Sequence[Extract], kept: Sequence[Sentence], chunks: Sequence[Chunk]) -> list[CitedSentence]:
    """Write the sentences that are *kept*: first each count with its rows, then the others together."""
    others = [sentence for extract in answered if not extract.rows for sentence in extract.sentences]
    groups = [(extract.rows, extract.sentences) for extract in answered if extract.rows] + [(0, tuple(others))]
    parts: list[CitedSentence] = []
    for count, sentences in groups:
        new = list(written([sentence for sentence in sentences if sentence in kept], chunks))
        if count and new:
            lead = CitedSentence(COUNTED[count == 1].format(count))
            new = [lead, replace(new[0], before="\n\n"), *new[1:]]
        if parts and new:
            new[0] = replace(new[0], before="\n\n")
        parts += new
    return parts


def _note(question: str) -> CitedSentence:
    """Say that *question*, a part of the one that was asked, is not answered."""
    return CitedSentence(UNANSWERED.format(question if question.endswith("?") else f"{question}?"), before="\n\n")


def _shows(added: Iterable[str], chunk: Chunk, sentences: Iterable[str]) -> bool:
    """Whether all *added* stems are in *sentences* or a heading of *chunk*."""
    shown = vocabulary("\n".join(filter(None, (chunk.title, chunk.chapter, chunk.section, *sentences))))
    return all(coverage({term: 1.0}, shown) for term in added)
