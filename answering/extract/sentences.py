"""Choose the sentences of a chunk that answer a question, and write them: prose, lists, tables and code."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from textwrap import dedent

from answering.relevance.entities import of_others
from answering.relevance.extremes import ASKS_EXTREME
from answering.relevance.possible_answers import are_of_kind, possible_answers
from answering.text.blocks import (
    INTRODUCES,
    bullet,
    cells,
    introduced_by,
    is_fenced,
    is_long_code,
    list_around,
    table_header,
    table_rows,
)
from answering.text.context import between, labels_above, limits_of, subject_of
from answering.text.sentences import sentence_spans
from answering.text.terms import vocabulary
from answering.types import Chunk, CitedSentence, FoundSentences, Source

FENCE = "```"
MAX_SENTENCES = 3
"""Most sentences of an answer that are chosen each for itself; lists and headers come on top."""
MAX_ITEMS = 12
"""Most sentences quoted of a list; of a longer one not all are. Like ``SHORT_LIST`` chosen by reading answers."""
SHORT_LIST = 6
"""Most sentences of a list that is quoted in full where the best sentences are all of it."""
_GOES_ON = re.compile(r"(?:[,;]|\band|\bor)\Z")
"""An item of a list that is one sentence with the next."""
_STEPS = re.compile(
    r"""\bhow[ ](?:do|does|can|could|should|would|to)\b
    |\bsteps?\b
    |\bwhat[ ](?:do|should|must)[ ](?:i|we|you)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""A question that asks for steps."""
_ASKS_ALL = re.compile(r"\A\W*(?:list|name)\b|\ball (?:the )?\w+s\b|\b(?:which|what) \w+s? are there\b", re.IGNORECASE)
"""A question for all rows of a table."""
WITHIN, WITHIN_PER_WORD = 0.6, 0.008
"""Least share of the best score for a further sentence, and what each of its words adds: a short one costs little."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer: exactly ``chunk.text[start:end]``; code is in backticks or a fence.

    ``score`` is how well it answers the question, ``base_score`` how near it is to it without the reader; ``bullet``
    stands before it ("2. ") where it begins an item of a list.
    """

    chunk_id: str
    start: int
    end: int
    text: str
    score: float
    base_score: float
    bullet: str = ""


def answering_sentences(chunk: Chunk, question: str, most: int = MAX_SENTENCES) -> tuple[Sentence, ...]:
    """Choose the *most* sentences of an assessed chunk that answer best, in reading order.

    A table row comes with its header, a lead-in with what it introduces, and an item of a list from its beginning, with
    its lead-in; what limits a sentence follows it. Steps are quoted from the first to the last, and so is a list of
    which the best sentences are.
    """
    of_kind = are_of_kind(question, chunk)
    first = {start for (start, _), best in zip(chunk.spans, of_kind, strict=True) if best}
    best, *rest = sorted(_candidates(chunk, question), key=lambda s: (s.start not in first, -s.score))
    rest = _below_the_same(chunk, best, rest)
    top = max([best.base_score, *(other.base_score for other in rest)])
    near = [s for s in rest if s.base_score >= top * (WITHIN + WITHIN_PER_WORD * len(s.text.split()))]
    further = sorted((s for s in near if not s.text.endswith(":")), key=lambda s: -s.base_score)[: most - 1]
    chosen = {s.start: s for s in (best, *further)}
    numbers = [chunk.spans.index((s.start, s.end)) for s in chosen.values()]
    introduced = introduced_by(chunk, numbers[0])[:MAX_ITEMS]
    limits = [other for n in numbers for other in (*subject_of(chunk, n), *limits_of(chunk, n))]
    limits += between(chunk, numbers)[: most - len(numbers)]
    added, headers = [*introduced, *limits], {header for n in numbers for header in table_header(chunk, n)}
    asks_all = _ASKS_ALL.search(question) or ASKS_EXTREME.search(question)  # which is the highest is seen among all
    if asks_all and headers and len(rows := table_rows(chunk, min(headers))) <= MAX_ITEMS:
        added += rows
    for n in numbers:
        items = list_around(chunk, n)
        if not items:
            continue
        steps = _STEPS.search(question) and bullet(chunk, items[0])[0].isdigit()
        goes_on = _GOES_ON.search(chunk.sentences[n])
        short = len(items) <= SHORT_LIST and len(numbers) == MAX_SENTENCES and set(numbers) <= set(items)
        if len(items) <= MAX_ITEMS and not introduced and (steps or goes_on or short):
            added += items
        added += range(next(at for at in range(n, -1, -1) if bullet(chunk, at)), n)
        above = labels_above(chunk, n)
        added += above
        if above and chunk.sentences[above[-1]].endswith(":"):  # "not allowed in:" is answered by all below it
            added += [at for at in items if labels_above(chunk, at) == above][:MAX_ITEMS]
        if items[0] and INTRODUCES.search(chunk.sentences[items[0] - 1]):
            added.append(items[0] - 1)
    others = of_others(question, chunk)
    kept = [*headers, *(n for n in added if not others[n])]
    pieces = [piece for n in kept for piece in _pieces(chunk, n, best.score)]
    lines = [line for n in numbers for line in _lines(chunk, n, question, best.score)]
    code = {chunk.spans[n][0] for n in numbers if is_fenced(chunk, n)}
    by_start = {s.start: s for s in pieces + lines} | {at: s for at, s in chosen.items() if at not in code}
    return tuple(by_start[start] for start in sorted(by_start))


def _below_the_same(chunk: Chunk, best: Sentence, rest: Sequence[Sentence]) -> list[Sentence]:
    """Return those of *rest* that stand below the same items as *best*, if it is an item of a nested list; else all."""

    def above(sentence: Sentence) -> list[int]:
        return labels_above(chunk, chunk.spans.index((sentence.start, sentence.end)))

    return [other for other in rest if not above(best) or above(other) == above(best)]


def _candidates(chunk: Chunk, question: str) -> list[Sentence]:
    """List the sentences of a chunk that can answer *question*, else all."""
    sentences = [
        Sentence(
            chunk_id=chunk.chunk_id,
            start=start,
            end=end,
            text=chunk.text[start:end],
            score=chunk.scores[n],
            base_score=chunk.base_scores[n],
            bullet=bullet(chunk, n),
        )
        for n, (start, end) in enumerate(chunk.spans)
    ]
    can_answer = chunk.can_answer or possible_answers(question, chunk)
    return list(compress(sentences, can_answer)) or sentences


def _lines(chunk: Chunk, n: int, question: str, score: float) -> list[Sentence]:
    """Return the lines of sentence *n* that have most words of *question*, if it is code; in reading order."""
    start, end = chunk.spans[n]
    lines = [*re.finditer(r"\S[^\n]*(?<=\S)", chunk.text[start:end])] if is_fenced(chunk, n) else []
    best = sorted(lines, key=lambda line: -len(vocabulary(question) & vocabulary(line[0])))[:MAX_SENTENCES]
    spans = sorted((start + line.start(), start + line.end()) for line in best)
    marks = {start: bullet(chunk, n)}
    return [Sentence(chunk.chunk_id, i, j, f"`{chunk.text[i:j]}`", score, 0.0, marks.get(i, "")) for i, j in spans]


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


def found_sentences(found: Sequence[FoundSentences]) -> tuple[Sentence, ...]:
    """Return the rows that were counted, or a section, below the header of the first row, which matters less."""
    header = table_header(found[0].chunk, found[0].numbers[0])
    return tuple(
        piece
        for at, part in enumerate(found)
        for n in (*(header if at == 0 else ()), *part.numbers)
        for piece in _pieces(part.chunk, n, float(n not in header))
    )


def written(sentences: Iterable[Sentence], chunks: Sequence[Chunk]) -> tuple[CitedSentence, ...]:
    """Write the sentences in order, each once, on one line but for code, with what parts them."""
    number = {chunk.chunk_id: position for position, chunk in enumerate(chunks)}
    lines: dict[tuple[str, str], Sentence] = {}
    for sentence in sentences:
        line = sentence.text if _fenced(sentence.text) else " ".join(sentence.text.split())
        lines.setdefault((line, sentence.chunk_id), sentence)
    shown = [(line, sentence) for (line, _), sentence in lines.items()]
    out = []
    before, rule, listed = "", "", False
    for (text, sentence), (following, _) in pairwise([*shown, ("", Sentence("", 0, 0, "", 0.0, 0.0))]):
        row = text.startswith("|")
        joined = _gap(before, text, sentence.bullet, listed=listed)
        sources: tuple[Source, ...] = ()
        if not _fenced(text):  # the lead-in of a block of code is cited
            words = text[:-1].rstrip() if row else text.rstrip(".!?…") or text
            span = (sentence.start, sentence.end)
            sources = (Source((number[sentence.chunk_id],), len(words), span),)
        out.append(CitedSentence(text, sources, f"{rule}{joined}{sentence.bullet}"))
        header = row and not before.startswith("|") and following.startswith("|")
        rule = f"\n|{'---|' * len(cells(text))}" if header else ""  # makes the row a table's header
        in_line = not (row or joined.startswith("\n"))
        before, listed = text, bool(sentence.bullet) or (listed and in_line)
    return tuple(out)


def _fenced(text: str) -> bool:
    return text.startswith(f"{FENCE}\n")


def _gap(before: str, text: str, bullet: str, *, listed: bool) -> str:
    """Return the white space between a sentence and the one before it."""
    if not before:
        return ""
    row = text.startswith("|")
    if (bullet and listed) or (row and before.startswith("|")):
        return "\n"
    apart = any(start == len(before) + 1 for start, _ in sentence_spans(f"{before} {text}"))
    in_line = apart and not (row or _fenced(text) or before.endswith(FENCE) or bullet)
    return " " if in_line else "\n\n"
