"""Find what each citation of a draft claims, and which of its sentences state something."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from answering.evidence.claims import YES_OR_NO, claim_span, clauses, is_preamble, is_short
from answering.evidence.support import Quote
from answering.text.sentences import Span, code_spans, code_within
from answering.types import CitedSentence

SupportedSpan = tuple[str, Quote]
"""A stretch of the answer, and the quote that supports it."""
_CLAUSE_ENDS = re.compile(r"\s*(?:[,;:—–]|(?:and|but|while|whereas|although|though|because)\b)")
_TABLE_RULE = re.compile(r"\s*\|[ \t:|-]*-[ \t:|-]*\n")
_HEADING = re.compile(r"\*\*[^*\n]{1,100}\*\*\Z")


@dataclass(slots=True)
class CitationAnchor:
    """A citation's position in the draft's text, and the ``claim`` it stands for.

    ``groups`` are the chunks it names: each group is one source, of whose chunks any may support the claim. The claim
    is the sentence, or the clause before the citation where several positions of one sentence carry one; its
    ``clauses`` together may be checked instead. ``uncited`` marks a sentence that the model left without a citation.
    ``supported`` is empty where nothing supports the claim; ``support`` is the highest found.
    """

    position: int
    sentence: int
    groups: tuple[tuple[int, ...], ...]
    claim: Span = (0, 0)
    clauses: list[Span] = field(default_factory=list)
    uncited: bool = False
    supported: list[SupportedSpan] = field(default_factory=list)
    support: float = 0.0


@dataclass(slots=True)
class AnchoredDraft:
    """A draft as one text, its sentences, its citations, and where its code is."""

    text: str
    sentences: list[Span]
    anchors: list[CitationAnchor]
    code: list[Span]

    def sentence(self, index: int) -> str:
        """Return the text of one sentence."""
        return self.text[slice(*self.sentences[index])]

    def fenced(self, index: int) -> bool:
        """Whether a sentence is a block of code."""
        code = code_within(self.code, *self.sentences[index])
        return any("\n" in self.text[start:end] for start, end in code)


def anchor_draft(sentences: Sequence[CitedSentence]) -> AnchoredDraft:
    """Join *sentences* to one text, with an anchor for each position that cites."""
    text = ""
    draft = AnchoredDraft("", [], [], [])
    for number, sentence in enumerate(sentences):
        start = len(text) + len(sentence.before)
        text += sentence.before + sentence.text
        draft.sentences.append((start, len(text)))
        for position, sources in groupby(sentence.sources, key=attrgetter("position")):
            groups = tuple(source.chunks for source in sources if source.chunks)
            draft.anchors.append(CitationAnchor(start + position, number, groups))
    draft.text, draft.code = text, code_spans(text)
    _set_claims(draft)
    return draft


def uncited_anchor(draft: AnchoredDraft, sentence: int, chunks: int) -> CitationAnchor:
    """Make an anchor at the end of *sentence* for any of the first *chunks*."""
    start, end = draft.sentences[sentence]
    following = sentence + 1 < len(draft.sentences)
    claim_end = draft.sentences[sentence + 1][1] if following and says_yes_or_no(draft, sentence) else end
    claim = claim_span(draft.text, start, claim_end)
    return CitationAnchor(end, sentence, (tuple(range(chunks)),), claim, uncited=True)


def claim_of(draft: AnchoredDraft, sentence: int) -> Span:
    """Return what *sentence* claims: all but its lead-in and end; of a block of code, what is inside the fences."""
    start, end = draft.sentences[sentence]
    if not draft.fenced(sentence):
        return claim_span(draft.text, start, end)
    lines = draft.text[start:end].split("\n")
    return start + len(lines[0]) + 1, end - (len(lines[-1]) + 1 if len(lines) > 2 else 0)


def says_yes_or_no(draft: AnchoredDraft, sentence: int) -> bool:
    """Whether *sentence* is a mere "Yes." or "No.", which the next one explains."""
    return YES_OR_NO.fullmatch(draft.sentence(sentence)) is not None


def states(draft: AnchoredDraft, sentence: int) -> bool:
    """Whether *sentence* says something that can be supported: no heading, question, preamble, or block of code."""
    start, end = draft.sentences[sentence]
    text = draft.sentence(sentence)
    code = code_within(draft.code, start, end)
    in_code = any(draft.text[begin] != "`" or (begin <= start and end <= stop) for begin, stop in code)
    return not (in_code or introduces(draft, sentence) or text.rstrip("*_ ").endswith("?"))


def introduces(draft: AnchoredDraft, sentence: int) -> bool:
    """Whether *sentence* is a heading, a label, a table's header or another preamble, which says nothing by itself."""
    text, following = draft.sentence(sentence), draft.text[draft.sentences[sentence][1] :]
    if is_preamble(text):
        return not draft.fenced(sentence)
    if text.startswith("|") and _TABLE_RULE.match(following):
        return True
    return following.startswith("\n") and _HEADING.match(text) is not None


def _set_claims(draft: AnchoredDraft) -> None:
    """Set what each anchor claims, and the parts that may be checked instead of it."""
    text, spans = draft.text, draft.sentences
    by_sentence: dict[int, list[CitationAnchor]] = defaultdict(list)
    for anchor in draft.anchors:
        by_sentence[anchor.sentence].append(anchor)
    for sentence, anchors in by_sentence.items():
        since, end = spans[sentence]
        sentence_claim = claim_of(draft, sentence)
        sentence_clauses = clauses(text, *sentence_claim)
        if says_yes_or_no(draft, sentence) and sentence + 1 < len(spans):
            sentence_claim, sentence_clauses = claim_span(text, since, spans[sentence + 1][1]), []
        for position, here in groupby(anchors, key=attrgetter("position")):
            before = claim_span(text, since, min(position, end))
            since = max(since, position)
            claim, divided = sentence_claim, sentence_clauses
            if not is_short(text[slice(*before)]):
                if len(anchors) > 1:
                    claim, divided = before, clauses(text, *before)
                elif position < end and _CLAUSE_ENDS.match(text, position):
                    divided = [before]
            for anchor in here:
                anchor.claim, anchor.clauses = claim, [] if divided == [claim] else divided
