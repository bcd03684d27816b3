"""Answer in the passages' own sentences, without a model."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from answering.evidence.verify import copied
from answering.extract.sentences import Sentence, answering_sentences, found_sentences, written
from answering.ports import PassageReader
from answering.questions.definitions import asked_term
from answering.relevance.graders import OTHER_LABEL_FACTOR, extractive_confidence
from answering.relevance.later import best_sentence, later_section
from answering.relevance.second_reading import MIN_READ_AGAIN, read_again
from answering.relevance.versions import in_force, is_in_force
from answering.render import cite_by_document, numbered
from answering.text.dates import DATED
from answering.text.terms import coverage, vocabulary
from answering.types import Chunk, CitedSentence, Draft, Question, SubqueryResults, TokenCallback

UNANSWERED = "The passages found do not answer: {}?"
"""Names a sub-question that got no answer, where another one did."""
COUNTED = "{} rows match:", "One row matches:"
"""Leads in the rows that a question counts; it cites nothing, they are its evidence."""
FOUND_SURELY = 0.9
"""Probability that a count or a section is right: every word of its question was found. Not fitted."""
DENIES = re.compile(
    r"\b(?:not (?:allowed|permitted|accepted|covered|included|for loan)|prohibit(?:ed|ions?)|forbidden"
    r"|exclu(?:ded|sions?)|banned|never|(?:do|must|may|should) not|don['’]t)\b",
    re.IGNORECASE,
)
"""A heading with one of these says the opposite of what stands below it."""
CHARS_PER_TOKEN = 4
"""Characters that a token of ``maxTokens`` stands for where no model counts them."""
EXCEPTS = re.compile(
    r"\b(?:only|except\w*|unless|apart from|other than|exempt\w*|do(?:es)? not apply|need not|even if)\b", re.IGNORECASE
)
"""A sentence that says where a rule does not hold."""
SURE, SECOND_SHARE, MIN_SECOND = 0.9, 0.8, 0.5
"""Where the best passage answers less probably than the first, a second one is quoted too that does with at least the
second share of its probability, and the third itself: it may be the right one (``docs/relevance.md``)."""


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
    """Answers each sub-question with a few sentences, or a list, of the chunk that most probably answers it.

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
        found = [extract for extract in extracts if extract.sentences]
        answered = [extract for extract in found if extract.probability >= question.min_confidence]
        if not answered:
            return Draft(confidence=max((extract.probability for extract in extracts), default=0.0))
        sentences = [sentence for extract in answered for sentence in extract.sentences]
        unanswered = [extract.question.rstrip("?") for extract in extracts if extract not in answered]
        notes = tuple(CitedSentence(UNANSWERED.format(asked), before="\n\n") for asked in unanswered)
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

        A definition is not: the term may stand before it.
        """
        chunk, probability = extract.chunk, extract.probability
        if not chunk:
            return extract
        read = chunk.reading and not asked_term(extract.question)
        if self._reader and read and probability > MIN_READ_AGAIN:
            probability = await read_again(
                self._reader, extract.question, chunk, chunks, answers=probability, nearer=extract.nearer
            )
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
    scored = [chunk for chunk in relevant if chunk.scores]
    candidates = [chunk for chunk in scored if chunk.reading] or scored
    candidates = [chunk for chunk in candidates if _shows(added, chunk, chunk.sentences)] or candidates
    if not candidates:
        return Extract(results.question, (), 0.0)
    best = max(candidates, key=lambda chunk: chunk.answers or 0.0)
    dated = any(chunk.dated or DATED.search(f"{chunk.headings} {chunk.source}") for chunk in relevant)
    best = in_force(results.question, candidates, best) if dated else best
    texts = [sentence.text for sentence in answering_sentences(best, results.question)]
    copies = [chunk for chunk in candidates if chunk.chunk_id in best.near_duplicates]
    full = [copy for copy in copies if all(text in copy.text for text in texts)]
    fullest = max([best, *full], key=lambda chunk: len(chunk.text))
    sentences = answering_sentences(fullest, results.question)
    factor = 1.0 if _shows(added, fullest, [sentence.text for sentence in sentences]) else OTHER_LABEL_FACTOR
    sentences += _second(results.question, candidates, best)
    if dated and (later := later_section(results.question, relevant, best)):
        sentences += answering_sentences(later, results.question, most=1)
    nearer = results.chunks.index(best)
    return Extract(results.question, sentences, (best.answers or 0.0) * factor, chunk=best, nearer=nearer)


def _second(question: str, candidates: Sequence[Chunk], best: Chunk) -> tuple[Sentence, ...]:
    """Return the best sentence of the next passage, where it answers nearly as probably as the *best* one.

    Where that is sure, it is one that says where a rule does not hold.
    """
    same = {best.chunk_id, *best.near_duplicates}
    others = [chunk for chunk in candidates if chunk.chunk_id not in same and is_in_force(chunk)]
    if (best.answers or 0.0) >= SURE:
        others = [chunk for chunk in others if EXCEPTS.search(best_sentence(chunk))]
    second = max(others, key=lambda chunk: chunk.answers or 0.0, default=None)
    if not second or (second.answers or 0.0) < max(SECOND_SHARE * (best.answers or 0.0), MIN_SECOND):
        return ()
    return answering_sentences(second, question, most=1)


def _written(answered: Sequence[Extract], kept: Sequence[Sentence], chunks: Sequence[Chunk]) -> list[CitedSentence]:
    """Write the sentences that are *kept*: first each count with its rows, then the others together.

    A heading that denies, "What is not allowed", leads them in, unless they do so themselves.
    """
    others = [extract for extract in answered if not extract.rows]
    sentences = [sentence for extract in others for sentence in extract.sentences]
    groups = [
        (COUNTED[extract.rows == 1].format(extract.rows), extract.sentences) for extract in answered if extract.rows
    ]
    groups.append((_denying_heading(others), tuple(sentences)))
    parts: list[CitedSentence] = []
    for lead, group in groups:
        new = list(written([sentence for sentence in group if sentence in kept], chunks))
        if lead and new:
            new = [CitedSentence(lead), replace(new[0], before="\n\n"), *new[1:]]
        if parts and new:
            new[0] = replace(new[0], before="\n\n")
        parts += new
    return parts


def _denying_heading(extracts: Sequence[Extract]) -> str:
    """Return the heading above the sentences of a single extract, "What is not allowed:", where it alone denies."""
    if len(extracts) != 1 or not (chunk := extracts[0].chunk):
        return ""
    section = chunk.section or ""
    denied = any(DENIES.search(sentence.text) for sentence in extracts[0].sentences[:1])
    return f"{section.rstrip(':')}:" if DENIES.search(section) and not section.endswith("?") and not denied else ""


def _shows(added: Iterable[str], chunk: Chunk, sentences: Iterable[str]) -> bool:
    """Whether all *added* stems are in *sentences* or a heading of *chunk*."""
    shown = vocabulary("\n".join(filter(None, (chunk.title, chunk.chapter, chunk.section, *sentences))))
    return all(coverage({term: 1.0}, shown) for term in added)
