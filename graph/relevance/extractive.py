"""Answer with the chunks' own sentences, without a model (``CHAT_MODEL=extractive``)."""

import re
from collections.abc import Iterable, Sequence
from itertools import compress
from textwrap import dedent
from typing import NamedTuple

from graph.lists import INTRODUCES, bullet, introduced_by, is_fenced, is_long_code, list_around, table_header
from graph.ports import TokenSink
from graph.relevance.calibration import Calibration
from graph.relevance.graders import OF_ANOTHER, Assessment, assess
from graph.relevance.possible_answers import possible_answers
from graph.relevance.written import FENCE, Sentence, written
from graph.state import Chunk, Draft, Question, SubqueryResults
from graph.terms import coverage, vocabulary

UNANSWERED = "The passages found do not answer: {}"
"""Names a sub-question that got no answer, where another one did."""
MOST_SENTENCES = 3
"""Most sentences of an answer that are chosen each for itself; lists and headers come on top."""
CHARS_PER_TOKEN = 4
"""Characters that a token of ``maxTokens`` stands for where no model counts them."""
MOST_ITEMS = 12
"""Most sentences quoted of a list; of a longer one not all are. Like ``SHORT_LIST`` chosen by reading answers."""
SHORT_LIST = 6
"""Most sentences of a list that is quoted in full where the best sentences are all of it."""
_GOES_ON = re.compile(r"(?:[,;]|\band|\bor)\Z")
"""An item of a list that is one sentence with the next."""
_STEPS = re.compile(
    r"\bhow (?:do|does|can|could|should|would|to)\b|\bsteps?\b|\bwhat (?:do|should|must) (?:i|we|you)\b", re.IGNORECASE
)
"""A question that asks for steps."""
WITHIN, WITHIN_PER_WORD = 0.6, 0.008
"""Least share of the best score for a further sentence, and what each of its words adds: a short one costs little."""


class Extract(NamedTuple):
    """The sentences that answer one question, in reading order, and their probability in [0, 1]."""

    question: str
    sentences: tuple[Sentence, ...]
    probability: float


class ExtractiveSynthesizer:
    """Answers each sub-question with the sentences, few but for a list, of one chunk that probably answers it."""

    def __init__(self, calibration: Calibration, *, per_sub_question: bool = False) -> None:
        """With *per_sub_question*, a chunk must pass the relevance threshold for the very sub-question it answers."""
        self._calibration = calibration
        self._per_sub_question = per_sub_question

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Sequence[SubqueryResults], emit: TokenSink
    ) -> Draft:
        """Return the draft over *chunks*; ``text`` is empty when no sub-question reaches ``min_confidence``.

        Past ``max_tokens`` the sentences that answer least are left out, whole. Of each answered sub-question the best
        one always stays, a lead-in with the first item after it: who sets a low limit wants a short answer, not none.

        ``confidence`` is that of the least certain answered sub-question; when none is, that of the nearest.
        """
        least = question.relevance_threshold if self._per_sub_question else 0.0
        extracts = [self._extract(results, chunks, least, question.added) for results in retrieved]
        answered = [one for one in extracts if one.sentences and one.probability >= question.min_confidence]
        if not answered:
            return Draft(text="", confidence=max((one.probability for one in extracts), default=0.0))
        sentences = [sentence for one in answered for sentence in one.sentences]
        unanswered = [one.question for one in extracts if one not in answered]
        notes = [f"\n\n{UNANSWERED.format(one)}{'?' * one[-1:].isalnum()}" for one in unanswered]
        pieces = [*written(sentences, chunks), *notes]
        most = (question.max_tokens or 0) * CHARS_PER_TOKEN
        added = frozenset(question.added)  # a sentence with these is better than one without
        ranked = [
            sorted(one.sentences, key=lambda s: (-len(added & vocabulary(s.text)), -s.score, -s.plain))
            for one in answered
        ]
        spare = [sentence for best, *others in ranked for sentence in others[best.text.endswith(":") :]]
        spare.sort(key=lambda sentence: (-sentence.score, -sentence.plain))
        while most and spare and len("".join(pieces)) > most:
            sentences.remove(spare.pop())
            pieces = [*written(sentences, chunks), *notes]
        for piece in pieces:
            await emit(piece)
        return Draft("".join(pieces), confidence=min(one.probability for one in answered))

    def _extract(
        self, results: SubqueryResults, chunks: Sequence[Chunk], least: float, added: Sequence[str]
    ) -> Extract:
        """Answer one sub-question from its most probable chunk, of those read if there are any.

        Of near-duplicates the longest with every sentence of the answer is cited: which one matches best is chance.
        Chunks with all *added* stems come first; an answer without them is hardly one: it is about something else.
        """
        passed = {chunk.chunk_id for chunk in chunks}
        candidates = [
            assessed
            for assessed in assess(results, self._calibration)
            if assessed.chunk.chunk_id in passed and assessed.matches and assessed.relevance >= least
        ]
        candidates = [one for one in candidates if one.chunk.read] or candidates
        candidates = [one for one in candidates if _shows(added, one.chunk, one.chunk.sentences)] or candidates
        if not candidates:
            return Extract(results.question, (), 0.0)
        best = max(candidates, key=lambda assessed: assessed.answers)
        texts = [sentence.text for sentence in answering_sentences(best, results.question)]
        copies = [one for one in candidates if one.chunk.chunk_id in best.chunk.near_duplicates]
        full = [one for one in copies if all(text in one.chunk.text for text in texts)]
        fullest = max([best, *full], key=lambda assessed: len(assessed.chunk.text))
        sentences = answering_sentences(fullest, results.question)
        factor = 1.0 if _shows(added, fullest.chunk, [sentence.text for sentence in sentences]) else OF_ANOTHER
        return Extract(results.question, sentences, best.answers * factor)


def _shows(added: Iterable[str], chunk: Chunk, sentences: Iterable[str]) -> bool:
    """Whether all *added* stems are in *sentences* or a heading of *chunk*."""
    shown = vocabulary("\n".join(filter(None, (chunk.title, chunk.chapter, chunk.section, *sentences))))
    return all(coverage({one: 1.0}, shown) for one in added)


def answering_sentences(assessed: Assessment, question: str) -> tuple[Sentence, ...]:
    """Choose the sentences of one chunk that answer best, in reading order.

    A table row comes with its header, a lead-in with what it introduces, and an item of a list from its beginning, with
    its lead-in. Steps are quoted from the first to the last, and so is a list of which the best sentences are.
    """
    chunk = assessed.chunk
    best, *others = sorted(_candidates(assessed, question), key=lambda s: -s.score)
    top = max([best.plain, *(other.plain for other in others)])
    near = [s for s in others if s.plain >= top * (WITHIN + WITHIN_PER_WORD * len(s.text.split()))]
    further = sorted((s for s in near if not s.text.endswith(":")), key=lambda s: -s.plain)[: MOST_SENTENCES - 1]
    chosen = {s.start: s for s in (best, *further)}
    numbers = [chunk.spans.index((s.start, s.end)) for s in chosen.values()]
    introduced = introduced_by(chunk, numbers[0])[:MOST_ITEMS]
    added = [*introduced]
    for n in numbers:
        added += table_header(chunk, n)
        items = list_around(chunk, n)
        if not items:
            continue
        steps = _STEPS.search(question) and bullet(chunk, items[0])[0].isdigit()
        goes_on = _GOES_ON.search(chunk.sentences[n])
        short = len(items) <= SHORT_LIST and len(numbers) == MOST_SENTENCES and set(numbers) <= set(items)
        if len(items) <= MOST_ITEMS and not introduced and (steps or goes_on or short):
            added += items
        added += range(next(at for at in range(n, -1, -1) if bullet(chunk, at)), n)
        if items[0] and INTRODUCES.search(chunk.sentences[items[0] - 1]):
            added.append(items[0] - 1)
    pieces = [piece for n in added for piece in _pieces(chunk, n, best.score)]
    lines = [line for n in numbers for line in _lines(chunk, n, question, best.score)]
    code = {chunk.spans[n][0] for n in numbers if is_fenced(chunk, n)}
    by_start = {s.start: s for s in pieces + lines} | {at: s for at, s in chosen.items() if at not in code}
    return tuple(by_start[start] for start in sorted(by_start))


def _pieces(chunk: Chunk, n: int, score: float) -> list[Sentence]:
    """Return sentence *n*; of a block of code, unless it is long, one that reads as code."""
    start, end = chunk.spans[n]
    text = chunk.text[start:end]
    if is_long_code(chunk, n):
        return []
    if is_fenced(chunk, n):
        lines = dedent(chunk.text[chunk.text.rfind("\n", 0, start) + 1 : end])
        text = f"{FENCE}\n{lines}\n{FENCE}" if "\n" in lines else f"`{text}`"
    return [Sentence(chunk.chunk_id, start, end, text, score, 0.0, bullet(chunk, n))]


def _lines(chunk: Chunk, n: int, question: str, score: float) -> list[Sentence]:
    """Return the lines of sentence *n* that have most words of *question*, if it is code; in reading order."""
    start, end = chunk.spans[n]
    lines = [*re.finditer(r"\S[^\n]*(?<=\S)", chunk.text[start:end])] if is_fenced(chunk, n) else []
    best = sorted(lines, key=lambda line: -len(vocabulary(question) & vocabulary(line[0])))[:MOST_SENTENCES]
    spans = sorted((start + line.start(), start + line.end()) for line in best)
    marks = {start: bullet(chunk, n)}
    return [Sentence(chunk.chunk_id, i, j, f"`{chunk.text[i:j]}`", score, 0.0, marks.get(i, "")) for i, j in spans]


def _candidates(assessed: Assessment, question: str) -> list[Sentence]:
    """List the sentences of a chunk that can answer *question*, else all."""
    chunk = assessed.chunk
    sentences = [
        Sentence(chunk.chunk_id, start, end, chunk.text[start:end], match.score, match.plain, bullet(chunk, n))
        for n, ((start, end), match) in enumerate(zip(chunk.spans, assessed.matches, strict=True))
    ]
    return list(compress(sentences, possible_answers(question, chunk))) or sentences
