"""Read the reply of a chat model as a draft: sentences, each with the chunks it cites.

The output parser of models that write citations into their text, and the only reader of brackets.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from answering.evidence.claims import claim_span, introduced, is_preamble
from answering.markers.declines import declines, without_caveat
from answering.markers.markers import OTHERWISE, POWERED, Marker, cites, is_spoken, merged, visible
from answering.markers.parse import parse, without_dangling
from answering.text.sentences import Span, code_spans, code_within, sentence_spans
from answering.types import Chunk, CitedSentence, Source

_STUB = re.compile(r"(?:\A|\n)[ \t]*(?:[-*+•]|\(?\d{1,3}[.)]|`{3,}.*|~{3,}.*|#{1,6})\Z")
_CLOSES = re.compile(r"[*_\"”’»)\]]+(?=\s|\Z)\s*")
_OPENS_BLOCK = re.compile(r"(?::[*_]{0,3}|^\*\*[^*\n]{1,100}\*\*)(?=[ \t]*\n)", re.MULTILINE)
_FENCE = re.compile(r"\A\s*```[\w-]*\n(?P<inside>.*?)\n?```\s*\Z", re.DOTALL)
_CITING = re.compile(r"[^\W\d_](?:\.| |\. )\[\d{1,2}\][.!?]?$", re.MULTILINE)
_JSON = re.compile(r"\A(?:[^\n\[{]{1,120}\n)?\s*(?:```\w*\s*)?(?P<json>(?:\[\s*)?\{\s*[\"']\w+[\"']\s*:)")
_BROKEN = re.compile(r"\{\s*([\"'])(?i:answer|response|text)\1\s*:\s*([\"'])(?P<text>(?:\\.|(?!\2)[^\\])*)", re.DOTALL)
_ENDS = re.compile(r"[.!?](?:\s+[^\s\[【]|\s*\Z)|[ ]*(?:\n|\Z)")
_ANSWER_KEYS = "answer final_answer response result output statements sentences claims text sentence".split()
_CITATION_KEYS = "citations citation sources source references passages passage".split()
"""Members of a JSON object that hold the answer and its chunk numbers, where a model answers in JSON."""


@dataclass(frozen=True, slots=True)
class _Split:
    """A text without markers, its sentences, and where its code is."""

    text: str
    sentences: list[Span]
    code: list[Span]


def read_draft(text: str, chunks: Sequence[Chunk], *, truncated: bool = False) -> tuple[CitedSentence, ...]:
    """Return the sentences of *text* with the *chunks* they cite; with *truncated*, without an unfinished last one.

    A marker belongs to the sentence it is in, after or, on a new line, before; a preamble's to the sentences below. A
    text that only declines ("I don't know.") has no sentences.
    """
    text = _with_brackets(unwrapped(text, chunks), chunks)
    sentences = cited_sentences(parse(without_dangling(text) if truncated else text, chunks), truncated=truncated)
    sentences = tuple(without_caveat(sentence, chunks) for sentence in sentences)
    return () if all(declines(sentence.text, chunks) for sentence in sentences) else sentences


def unwrapped(text: str, chunks: Sequence[Chunk]) -> str:
    """Take the answer out of a fence or JSON, whole or broken off; chunk numbers beside it become markers."""
    begun = _JSON.match(text)
    if begun and not any(is_spoken(f'"{key}"', chunks) for key in _ANSWER_KEYS):
        try:
            answers = _answers(json.JSONDecoder(strict=False).raw_decode(text, begun.start("json"))[0])
        except (ValueError, RecursionError):
            broken = _BROKEN.match(text, begun.start("json"))
            answers = [re.sub(r"\\(n?)", lambda m: m[1] and "\n", broken["text"])] if broken else []
        text = "\n".join(answers) or text
    fenced = _FENCE.match(text)
    inside = fenced["inside"] if fenced else ""
    return inside if inside and ("\n" not in inside.strip() or _CITING.search(inside)) else text


def _answers(value: object) -> list[str]:
    """List the texts of JSON, each with the chunk numbers that stand beside it."""
    if isinstance(value, list):
        return [text for item in value for text in _answers(item)]
    if not isinstance(value, dict):
        return [value] if isinstance(value, str) else []
    members = {str(key).casefold(): member for key, member in value.items()}
    texts = _answers(next((members[key] for key in _ANSWER_KEYS if key in members), None))
    cited = re.findall(r"\b\d{1,2}\b", str([members[key] for key in _CITATION_KEYS if key in members]))
    return [*texts[:-1], f"{texts[-1]} [{', '.join(cited)}]"] if texts and cited else texts


def _with_brackets(text: str, chunks: Sequence[Chunk]) -> str:
    """Write citations in other signs as in brackets: "(1)" at the end of a sentence, "(Doc 1)", "{1}", "(harbor.md)".

    Only where they can mean nothing but a passage: what a passage itself has so, and code, stays.
    """
    code = code_spans(text)
    in_brackets = re.search(r"[\[【［]\s*\d", text) is not None

    def bracket(match: re.Match[str]) -> str:
        if (not match["raised"] and is_spoken(match[0], chunks)) or code_within(code, *match.span()):
            return match[0]
        if words := match["words"]:
            return f"[{words}]" if cites(visible(words), chunks) else match[0]
        before = text[max(0, match.start() - 20) : match.start()]
        if match["raised"] and (
            POWERED.search(before) or is_spoken("".join(before.split(" ")[-1:]) + match[0], chunks)
        ):
            return match[0]
        numbers = re.findall(r"\d+", visible(re.sub(r"([①-⑳])", r"\1 ", match[0])))
        given = all(1 <= int(number) <= len(chunks) for number in numbers)
        if match["ended"]:
            begun = "" if "(" in match[0] else text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            given = given and "(" not in begun and (not in_brackets or _ENDS.match(text, match.end()) is not None)
        return f"[{', '.join(numbers)}]" if given else match[0]

    return OTHERWISE.sub(bracket, text)


def cited_sentences(pieces: Sequence[str | Marker], *, truncated: bool = False) -> tuple[CitedSentence, ...]:
    """Return the sentences of *pieces*, as ``parse`` cuts them, each with its sources."""
    text = ""
    marks: list[tuple[int, Marker]] = []
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        else:
            marks.append((len(text), piece))
    split = _split(text, marks, truncated=truncated)
    if not split.sentences:
        return ()
    gathered: dict[tuple[int, int], list[Marker]] = defaultdict(list)
    for position, marker in marks:
        if position > len(split.text):
            continue
        sentence = _sentence_at(position, split)
        start, end = split.sentences[sentence]
        if position <= claim_span(split.text, start, end)[0] and split.text[position : position + 1] not in (".", "!"):
            position = end
        gathered[sentence, position].append(marker)
    sources: dict[int, list[Source]] = defaultdict(list)
    for sentence, position, marker in _below_preambles(split, gathered):
        inside = code_within(split.code, position, position + 1)
        outside = next((end for start, end in inside if start < position), position)
        start = split.sentences[sentence][0]
        sources[sentence] += [Source(group, outside - start) for group in marker.groups or ((),)]
    ends = [0, *(end for _, end in split.sentences)]
    return tuple(
        CitedSentence(split.text[start:end], tuple(sources[number]), split.text[ends[number] : start])
        for number, (start, end) in enumerate(split.sentences)
    )


def _split(text: str, marks: Sequence[tuple[int, Marker]], *, truncated: bool) -> _Split:
    """Split *text* into sentences; with *truncated*, drop an unfinished last one with its bullet or fence."""
    code = code_spans(text)
    spans = _sentences(text, [position for position, _ in marks], code)
    if truncated and spans and not _is_finished(text, spans[-1], marks):
        text = _STUB.sub("", text[: spans.pop()[0]].rstrip())
        spans = [(start, min(end, len(text))) for start, end in spans if start < len(text)]
        code = code_spans(text)
    return _Split(text, _blocks_whole(text, spans, code), code)


def _blocks_whole(text: str, spans: Sequence[Span], code: Sequence[Span]) -> list[Span]:
    """Make one sentence, with its fences, of each block of code."""
    blocks = [(start, end) for start, end in code if "\n" in text[start:end].rstrip("\n")]
    whole = dict.fromkeys(next((block for block in blocks if block[0] <= span[0] < block[1]), span) for span in spans)
    return [(start, end - (len(text[start:end]) - len(text[start:end].rstrip()))) for start, end in whole]


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


def _sentence_at(position: int, split: _Split) -> int:
    """Find the sentence that a marker at *position* belongs to."""
    before = bisect_right(split.sentences, position - 1, key=itemgetter(0)) - 1
    opens_line = before < 0 or "\n" in split.text[split.sentences[before][1] : position]
    return min(before + 1, len(split.sentences) - 1) if opens_line else before


def _below_preambles(split: _Split, gathered: dict[tuple[int, int], list[Marker]]) -> Iterator[tuple[int, int, Marker]]:
    """Move a preamble's markers to its block's unmarked sentences, if there are any.

    Yields (sentence, position, marker) by sentence; the marker of a block of code stands behind its preamble.
    """
    texts = [split.text[start:end] for start, end in split.sentences]
    code = [code_within(split.code, *span) for span in split.sentences]
    fenced = {number for number, spans in enumerate(code) if any("\n" in split.text[slice(*span)] for span in spans)}
    ends = [0, *(end for _, end in split.sentences)]
    gaps = [split.text[ends[number] : start] for number, (start, _) in enumerate(split.sentences)]
    marked = {sentence for sentence, _ in gathered}
    for (sentence, position), markers in sorted(gathered.items(), key=itemgetter(0)):
        below = list(introduced(texts, gaps, sentence, fenced)) if is_preamble(texts[sentence]) else []
        for number in below:
            if number not in marked:
                yield number, split.sentences[sentence if number in fenced else number][1], merged(markers)
        marked.update(below)
        if not below:
            yield sentence, position, merged(markers)
