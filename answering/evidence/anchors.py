"""Find where a draft's markers stand, and what each claims."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter

from answering.evidence.claims import YES_OR_NO, claim_span, clauses, is_preamble, is_short
from answering.evidence.support import Quote
from answering.markers.markers import Marker, merged
from answering.text.sentences import Span, code_spans, code_within, sentence_spans

Backed = tuple[str, Quote]  # a stretch of the answer, and the quote that supports it
_CLAUSE_ENDS = re.compile(r"\s*(?:[,;:—–]|(?:and|but|while|whereas|although|though|because)\b)")
_STUB = re.compile(r"(?:\A|\n)[ \t]*(?:[-*+•]|\(?\d{1,3}[.)]|`{3,}.*|~{3,}.*|#{1,6})\Z")
_CLOSES = re.compile(r"[*_\"”’»)\]]+(?=\s|\Z)\s*")
_OPENS_BLOCK = re.compile(r"(?::[*_]{0,3}|^\*\*[^*\n]{1,100}\*\*)(?=[ \t]*\n)", re.MULTILINE)


@dataclass(slots=True)
class CitationAnchor:
    """A marker's position in the text without markers, and the ``claim`` it stands for.

    The claim is the sentence, or the clause before it where several positions of one sentence carry markers; its
    ``clauses`` together may be checked instead. ``guessed`` marks a position that the model left without a marker.
    ``backed`` is empty where nothing supports the claim, or nothing was checked; ``support`` is the highest found.
    """

    position: int
    sentence: int
    marker: Marker
    claim: Span = (0, 0)
    clauses: list[Span] = field(default_factory=list)
    guessed: bool = False
    backed: list[Backed] = field(default_factory=list)
    support: float = 0.0


@dataclass(slots=True)
class AnchoredDraft:
    """A draft's text without its markers, its sentences, its anchors, and where its code is."""

    text: str
    sentences: list[Span]
    anchors: list[CitationAnchor]
    code: list[Span]

    def sentence(self, index: int) -> str:
        """Return the text of one sentence."""
        return self.text[slice(*self.sentences[index])]

    def fenced(self, index: int) -> bool:
        """Whether a sentence is a block of code, after which no marker can stand."""
        code = code_within(self.code, *self.sentences[index])
        return any("\n" in self.text[start:end] for start, end in code)


def anchor_draft(pieces: Sequence[str | Marker], *, truncated: bool) -> AnchoredDraft:
    """Find a draft's sentences and its markers' claims; with *truncated*, drop an unfinished sentence.

    A marker belongs to the sentence it is in, after or, on a new line, before; a preamble's to the sentences below.
    """
    text = ""
    marks: list[tuple[int, Marker]] = []
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        else:
            marks.append((len(text), piece))
    code = code_spans(text)
    spans = _sentences(text, [position for position, _ in marks], code)
    if truncated and spans and not _is_finished(text, spans[-1], marks):
        text = _STUB.sub("", text[: spans.pop()[0]].rstrip())
        spans = [(start, min(end, len(text))) for start, end in spans if start < len(text)]
        code = code_spans(text)
    draft = AnchoredDraft(text, spans, [], code)
    if not spans:
        return draft
    gathered: dict[tuple[int, int], list[Marker]] = defaultdict(list)
    for position, marker in marks:
        if position <= len(text):
            sentence = _sentence_at(position, spans, text)
            if position <= claim_span(text, *spans[sentence])[0] and text[position : position + 1] not in (".", "!"):
                position = spans[sentence][1]
            gathered[sentence, position].append(marker)
    for sentence, position, marker in _below_preambles(draft, gathered):
        outside = next((end for start, end in code_within(code, position, position + 1) if start < position), position)
        draft.anchors.append(CitationAnchor(outside, sentence, marker))
    _set_claims(draft)
    return draft


def guess(draft: AnchoredDraft, sentence: int, chunks: int) -> CitationAnchor:
    """Make an anchor at the end of *sentence* for any of the first *chunks*."""
    start, end = draft.sentences[sentence]
    marker = Marker((tuple(range(chunks)),))
    return CitationAnchor(end, sentence, marker, claim_span(draft.text, start, end), guessed=True)


def states(draft: AnchoredDraft, sentence: int) -> bool:
    """Whether *sentence* can be cited: no heading, question, preamble, code or short phrase."""
    start, end = draft.sentences[sentence]
    text = draft.sentence(sentence)
    code = code_within(draft.code, start, end)
    in_code = any(draft.text[begin] != "`" or (begin <= start and end <= stop) for begin, stop in code)
    line = _OPENS_BLOCK.match(draft.text, start)
    heading = line is not None and line.end() == end
    return not (in_code or heading or is_preamble(text) or text.rstrip("*_ ").endswith("?") or is_short(text))


def unsupported(draft: AnchoredDraft, anchors: Sequence[CitationAnchor]) -> list[str]:
    """List the cited claims without support, each once, in order."""
    repaired = {anchor.sentence for anchor in anchors if anchor.backed and anchor.guessed}
    lost = [one.claim for one in anchors if not (one.backed or one.guessed or one.sentence in repaired)]
    # "It weighs 12 kg [1] and lasts for ever.": only the clause before the marker is carried
    parted = (
        one for one in anchors if one.clauses and one.backed and one.backed[0][0] != draft.text[slice(*one.claim)]
    )
    lost += [claim_span(draft.text, one.clauses[-1][1], one.claim[1]) for one in parted]
    texts = (draft.text[slice(*span)] for span in sorted(lost))
    return list(dict.fromkeys(text for text in texts if text.strip(".!? ")))


def _sentences(text: str, positions: Sequence[int], code: Sequence[Span]) -> list[Span]:
    """Split *text* into sentences; "[1]." and lines "…:" end one, with closing quotation marks."""
    ends = {position + 1 for position in positions if text[position : position + 1] in (".", "!", "?")}
    ends |= {match.end() for match in _OPENS_BLOCK.finditer(text) if not code_within(code, *match.span())}
    breaks = sorted(end for end in ends if text[end : end + 1].isspace())
    spans: list[Span] = []
    for start, end in sentence_spans(text):
        if spans and spans[-1][1] == start and (closing := _CLOSES.match(text, start, end)):
            spans[-1] = (spans[-1][0], start + len(closing[0].rstrip()))
            start = closing.end()
        edges = [start, *breaks[bisect_right(breaks, start) : bisect_left(breaks, end)], end]
        for begin, stop in pairwise(edges):
            if piece := text[begin:stop].lstrip():
                spans.append((stop - len(piece), stop))
    return spans


def _is_finished(text: str, span: Span, marks: Sequence[tuple[int, Marker]]) -> bool:
    """Whether a sentence ends as sentences do, or with its citation."""
    ends = text[slice(*span)].rstrip("\"'”’)]*_` ").endswith((".", "!", "?", "。", "…", "！", "？"))
    return ends or any(position >= span[1] for position, _ in marks)


def _sentence_at(position: int, spans: Sequence[Span], text: str) -> int:
    """Find the sentence that a marker at *position* belongs to."""
    before = bisect_right(spans, position - 1, key=itemgetter(0)) - 1
    opens_line = before < 0 or "\n" in text[spans[before][1] : position]
    return min(before + 1, len(spans) - 1) if opens_line else before


def _below_preambles(
    draft: AnchoredDraft, gathered: dict[tuple[int, int], list[Marker]]
) -> list[tuple[int, int, Marker]]:
    """Move a preamble's markers to its block's unmarked sentences, if there are any.

    Returns (sentence, position, marker) by position.
    """
    marked = {sentence for sentence, _ in gathered}
    out: list[tuple[int, int, Marker]] = []
    for (sentence, position), markers in sorted(gathered.items(), key=itemgetter(0)):
        below = list(_introduced(draft, sentence)) if is_preamble(draft.sentence(sentence)) else []
        ends = (draft.sentences[sentence][1] if draft.fenced(i) else draft.sentences[i][1] for i in below)
        out += [(i, end, merged(markers)) for i, end in zip(below, ends, strict=True) if i not in marked]
        marked.update(below)
        if not below:
            out.append((sentence, position, merged(markers)))
    return sorted(out, key=itemgetter(1))


def _introduced(draft: AnchoredDraft, preamble: int) -> Iterator[int]:
    """Yield the sentences a preamble introduces, up to the next preamble or a blank line."""
    for i in range(preamble + 1, len(draft.sentences)):
        parted = re.search(r"\n[ \t]*\n", draft.text[draft.sentences[i - 1][1] : draft.sentences[i][0]])
        if (is_preamble(draft.sentence(i)) and not draft.fenced(i)) or (parted and i > preamble + 1):
            return
        yield i


def _set_claims(draft: AnchoredDraft) -> None:
    """Set what each anchor claims, and the parts that may be checked instead of it."""
    text, spans = draft.text, draft.sentences
    by_sentence: dict[int, list[CitationAnchor]] = defaultdict(list)
    for anchor in draft.anchors:
        by_sentence[anchor.sentence].append(anchor)
    for sentence, anchors in by_sentence.items():
        since, end = spans[sentence]
        sentence_claim = claim_span(text, since, end)
        sentence_clauses = clauses(text, *sentence_claim)
        if YES_OR_NO.fullmatch(draft.sentence(sentence)) and sentence + 1 < len(spans):
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
