"""Find the quote of a chunk that supports a sentence, and score its support.

A verbatim quote has support 1. Otherwise support is the probability, read by the reader's entailment head, that the
quote and its neighbours say what the sentence says; without a reader it follows from their overlap. An opposite, an
order, and any change of a copy (``edits``) keep it below the bar; another amount (``amounts``) and the rest, in other
words, only lower it, since the reader is right more often than the rules. The constants: ``docs/evidence.md``.
"""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from answering.evidence.edits import Change, denies, edit_of, is_copy
from answering.text.amounts import UNITS, unmatched
from answering.text.blocks import list_around, row_with_column_names, table_header
from answering.text.context import introduction
from answering.text.ranges import states_one_end, with_ranges
from answering.text.sentences import Span, code_spans, code_within, is_question, sentence_spans
from answering.text.terms import is_content, stem, without_accents, words_of
from answering.text.verbatim import verbatim_spans
from answering.types import Chunk, Passage

SUPPORT_BAR, CLEAR_SUPPORT = 0.5, 0.8
"""Least support of a citation that is kept, and of one the model did not set itself (``ATTRIBUTION=verified``)."""
CONTRADICTED = 0.2
"""Most support of what is refused (``Quote.refused``), and without a reader of any sentence with a change."""
CHANGES = {None: 0.0, "condition": 0.0, "name": 1.5, "denial": 2.5, "amount": 3.5}  # taken from the log-odds
OVERLAP_BAR, OVERLAP_STEEPNESS = 0.75, 12.0
"""Support where nothing is read: the overlap at which it is one half, and its steepness there."""
AROUND, COVERED = 3, (0.6, 0.75, 0.9)
"""Sentences before and after a quote that are read with it; one fewer from each of these overlaps on."""
LONGEST_READ = 900  # characters, for one sentence
MIN_OVERLAP = 0.2  # share of words below which a chunk is not searched for a quote
_ENOUGH, _JOINED = 0.75, 0.05
"""Two neighbours are quoted together where neither alone reaches the first and both are better by the second."""
QUESTION_WORD = 0.5  # weight of a word of the question where a quote is looked for: ``docs/evidence.md``
_CONNECTIVE = re.compile(r"(?:and|but|so|also|then|thus|however)\b,?\s+", re.IGNORECASE)
_DISOWNS = re.compile(
    r"\A\W*(?:(?:not|excluded)\b[^:.]*|(?:do not|don['’]t|never)(?: say)?|myth|false|wrong)[*_]*:\W*\Z", re.IGNORECASE
)
"""A label that denies the rest of its sentence: "Not covered: …", "Myth: …"."""
_NAME = re.compile(r"(?<=[\w,;] )(?:[A-Z][\w'’-]*)(?: [A-Z][\w'’-]*)*|`[^`\n]+`|\b\w+(?:_\w+)+\b|\b\w+\(\)|--\w[\w-]*")
_WORD = re.compile(r"[\w']+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a chunk, ``text == chunk.text[start:end]``, and how well it supports a sentence.

    ``overlap`` in [0, 1] is its share of the sentence's words, ``contradiction`` what the sentence changes (None:
    nothing found), ``passage`` what is read.
    """

    chunk_id: str
    start: int
    end: int
    text: str
    overlap: float
    contradiction: Change | None = None
    verbatim: bool = False
    copy: bool = False
    support: float = 0.0
    passage: Passage | None = None

    @property
    def refused(self) -> bool:
        """Whether the sentence changes an opposite or a copy, or the quote gives an order."""
        of_copy = self.copy and self.contradiction not in (None, "condition")  # the question may state that
        return of_copy or self.contradiction in ("opposite", "order")


def quotes(
    sentence: str, chunk: Chunk, question_terms: Collection[str] = (), *, must_read: bool = False
) -> list[Quote]:
    """Find the quote of *chunk* for *sentence* by its words: none, or one.

    A quote is one sentence of the chunk, or two neighbours where the answer joins them. *question_terms* are the stems
    of the question, which need not be repeated. With *must_read* a verbatim quote is read too.
    """
    chunk = chunk if chunk.spans else replace(chunk, spans=sentence_spans(chunk.text))
    if not chunk.spans or not (words_of(sentence) or question_terms):
        return []
    found = [_verbatim(sentence, chunk, span, must_read) for span in verbatim_spans(sentence, chunk.text)]
    if verbatim := [quote for quote in found if not is_question(quote.text)]:
        # Of a fragment that occurs several times: one not contradicted, then the one nearest to the question.
        terms = set(question_terms)
        return [max(verbatim, key=lambda quote: (not quote.contradiction, len(words_of(quote.text) & terms)))]
    return [_nearest(sentence, chunk, question_terms)]


def supported(quote: Quote, read: float | None) -> float:
    """Return the support of *quote* in [0, 1] by the log-odds that a reader *read*, else by overlap."""
    if quote.refused or (quote.contradiction and read is None):
        return min(quote.overlap, CONTRADICTED)
    if quote.verbatim:
        return 1.0
    if read is None:
        log_odds = OVERLAP_STEEPNESS * (quote.overlap - OVERLAP_BAR)
    else:
        log_odds = read - CHANGES[quote.contradiction]
    return round(1.0 / (1.0 + math.exp(-log_odds)), 4)


def _verbatim(sentence: str, chunk: Chunk, span: Span, must_read: bool) -> Quote:
    """Quote the sentences of the chunk that hold *span*, where *sentence* stands word for word."""
    begin, stop = span
    touched = [n for n, (first, last) in enumerate(chunk.spans) if first < stop and begin < last]
    start, end = (chunk.spans[touched[0]][0], chunk.spans[touched[-1]][1]) if touched else span
    lead = introduction(chunk, touched[0]) if touched else ""
    disowned = denies(lead)  # an item below "Not covered:"
    text = chunk.text[start:end]
    connective = _CONNECTIVE.match(text)  # "But mind the path." is whole without "But"
    bare = start + (connective.end() if connective else 0)
    line = chunk.text[:begin].rstrip(" \t")[-1:], chunk.text[stop:].lstrip(" \t")[:1]
    in_code = set(line) == {"\n"} and code_within(code_spans(chunk.text), begin, stop)
    fragment = not in_code and (begin > bare or stop < start + len(text.rstrip(".!…: ")))
    before = chunk.text[start:begin]
    denied = _DISOWNS.search(before) or denies(re.split(r"[,;:.—–]|\b(?:and|but|so)\b", before)[-1])
    contradiction = ("denial" if denied else edit_of(sentence, text)) if fragment else None
    verbatim = not (fragment or disowned or must_read)
    passage = None if verbatim else Passage.of(chunk, [lead, text] if disowned else [text])
    return Quote(chunk.chunk_id, start, end, text, 1.0, contradiction, verbatim, copy=not disowned, passage=passage)


def _nearest(sentence: str, chunk: Chunk, question_terms: Collection[str]) -> Quote:
    """Quote the nearest sentences, with a contradiction, if any, and the passage to read."""
    spans = chunk.spans
    first, last, share = nearest(words_of(sentence), [chunk.text[a:b] for a, b in spans], question_terms)
    start, end = spans[first][0], spans[last][1]
    text, title, lead = chunk.text[start:end], chunk.headings, introduction(chunk, first)
    most = (LONGEST_READ - (end - start)) / 2
    asks = is_question(text)  # its answer stands beside it; other items and rows only distract
    led = lead and overlap(words_of(sentence), words_of(f"{lead} {text}")) >= COVERED[0]
    around = 0 if led or table_header(chunk, first) else AROUND - sum(share >= bar and not asks for bar in COVERED)
    listed = list_around(chunk, first) or range(len(spans))  # what follows a list may be its opposite
    beside = range(max(listed.start, first - around), min(max(listed.stop, last + 1), last + around + 1))
    near = [n for n in beside if start - spans[n][0] <= most >= spans[n][1] - end] or [*range(first, last + 1)]
    window = chunk.text[spans[near[0]][0] : spans[near[-1]][1]]
    ordered = f"{lead} {text}" if denies(lead) else text  # "Do not:", "Smoke."
    said = with_ranges(sentence, [text])  # an end of a range, as a bound, changes nothing
    contradiction, copy = (None, False) if asks else (edit_of(said, ordered), is_copy(said, ordered))
    if contradiction in (None, "condition"):  # a lost condition alone decides nothing where a reader reads
        stated = (text, title) if copy else (window, title, " ".join(question_terms))
        if unmatched(sentence, stated) or states_one_end(sentence, text):
            contradiction = "amount"
        elif _unknown_name(sentence, f"{title} {chunk.text}", question_terms):
            contradiction = "name"
    texts = [row_with_column_names(chunk, n) for n in near]
    passage = Passage.of(chunk, [lead, *texts] if lead and lead not in texts else texts)
    return Quote(chunk.chunk_id, start, end, text, share, contradiction, copy=copy, passage=passage)


def _unknown_name(sentence: str, text: str, question_terms: Collection[str]) -> bool:
    """Whether *sentence* has a name (also "IT"), option or identifier, past its first word, missing in *text*."""
    present = {stem(word) for word in _WORD.findall(without_accents(text).lower())} | set(question_terms)
    words = [word for match in _NAME.finditer(without_accents(sentence)) for word in _WORD.findall(match[0])]
    names = {word.lower() for word in words if is_content(word.lower()) or (word[1:] and word[0].isupper())}
    return any(word not in UNITS and stem(word) not in present for word in names)


def nearest(
    claim_words: frozenset[str], sentences: Sequence[str], question_words: Collection[str] = ()
) -> tuple[int, int, float]:
    """Find the sentence, or the two neighbours, nearest to a claim: first, last, and their overlap with the claim.

    A word of the question counts ``QUESTION_WORD`` of a word of the claim.
    """
    words = [words_of(sentence) for sentence in sentences]
    asked = frozenset(question_words) - claim_words
    most = len(claim_words) + QUESTION_WORD * len(asked)

    def shared(found: frozenset[str]) -> float:
        return (len(claim_words & found) + QUESTION_WORD * len(asked & found)) / most if most else 0.0

    alone = [shared(each) for each in words]
    options = [(share, i, i) for i, share in enumerate(alone)]
    for i, (one, other) in enumerate(pairwise(words)):
        both, best = shared(one | other), max(alone[i : i + 2])
        if best < _ENOUGH and both > best + _JOINED:
            options.append((both - _JOINED, i, i + 1))
    _, first, last = min(options, key=lambda pair: (-pair[0], pair[1]))
    return first, last, overlap(claim_words, frozenset().union(*words[first : last + 1]))


def overlap(required: frozenset[str], words: frozenset[str]) -> float:
    """Return the share in [0, 1] of *required* found in *words*."""
    return len(required & words) / len(required) if required else 0.0


def likely(sentence: str, chunks: Sequence[Chunk], most: int) -> list[Chunk]:
    """Return at most *most* of *chunks*, those with most words of *sentence* first."""
    claim_words = words_of(sentence)
    overlaps = [(overlap(claim_words, words_of(f"{chunk.headings} | {chunk.text}")), chunk) for chunk in chunks]
    return [chunk for share, chunk in sorted(overlaps, key=lambda pair: -pair[0])[:most] if share >= MIN_OVERLAP]
