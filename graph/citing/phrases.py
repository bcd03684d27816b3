"""Remove phrases that only hold a marker: "According to [1], X.", "Chunk 2 states that X.", "X, as shown in [3]."

Their markers move to the end of the sentence; a phrase that cannot go reads "the document".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from graph.citing.claims import STATED, capitalised
from graph.citing.marked_text import MARK, MarkedText
from graph.citing.markers import read_numbers
from graph.sentences import sentence_spans
from graph.state import Chunk

_NOUN = "\U000ffffd"
"""Stands before a marker that was written as words: "Chunk 2"."""

_PLACE = r"(?:chunk|passage|excerpt|source|document)s?"
_NUMBERED = re.compile(
    rf"(?:\b(?:the|provided)[ ]){{0,2}}\b{_PLACE}[ ]#?\d{{1,4}}(?:(?:[ ]?(?:&|-|–)[ ]?|,?[ ](?:and|or|to)[ ])"
    rf"(?:{_PLACE}[ ])?#?\d{{1,4}}|[,;][ ]?{_PLACE}[ ]#?\d{{1,4}}"
    r"|,[ ]?\d{1,4}(?=[ ]?(?:[,&):]|and\b|or\b)))*(?!\.?\d|[\w-])",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    rf"\([ ]?(?:(?:see|cf\.?|from|in|per|sources?:)[ ])?{_NOUN}(?P<held>{MARK}+)[ ]?\)"
    rf"|(?:[ ][—–-]{{1,2}}[ ]|(?<=[.!?)])[ ]|,[ ])(?:sources?:[ ])?{_NOUN}(?P<last>{MARK}+)(?=\.?[ ]?(?:\n|\Z))",
    re.IGNORECASE,
)
_N = rf"(?:(?:the[ ])?(?:{_PLACE}[ ])?|{_NOUN})(?P<marks>{MARK}+)"
_STATED = f"{STATED}|seen"
_VERB = (
    "states?|says?|notes?|explains?|describes?|mentions?|indicates?|specif(?:y|ies)|shows?|defines?|lists?|confirms?|adds?"
    "|clarif(?:y|ies)|reports?|recommends?|requires?|gives?|provides?|suggests?|outlines?|tells?"
)
_START = r"(?:(?<![^\n])|(?<=\*\*)|(?<=[.!?:] )|(?<=[-*] )|(?<=\d\. ))"
_SAYS = re.compile(
    rf"{_START}(?P<marks>(?:both[ ])?(?:{_NOUN}|(?:the[ ])?{_PLACE}[ ])?{MARK}+)[ ](?:also[ ]|clearly[ ]|further[ ])?"
    rf"(?P<verb>(?-i:{_VERB}))\b(?P<that>[ ]that\b|:|,)?[ ]",
    re.IGNORECASE,
)
_LEAD = re.compile(
    rf"{_START}(?P<by>(?:according[ ]to|based[ ]on|(?:as[ ])?(?:{_STATED})[ ](?:in|by)|(?:as[ ])?per|in|from)[ ]"
    rf"|as[ ](?=[^,\n]{{1,80}}[ys],))?{_N}(?:[ ](?:{_VERB})(?=,))?"
    rf"(?(by)[ ]?[,:]|:)[ ]?(?:it[ ]is[ ](?:{_STATED})[ ]that[ ])?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    rf"[ ]?[,;–—(]?[ ]?(?:as[ ])?\b(?:(?:{_STATED})[ ](?:in|by)|according[ ]to|(?:as[ ])?per|see(?:[ ]also)?"
    rf"|refer[ ]to)[ ]{_N}(?:[ ]for[ ](?:more[ ]|further[ ])?(?:details|information))?\)?(?=[ ]?[.,;!?)*\n]|\Z)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    rf"{_START}(?:for[ ][^.,\n]{{0,60}},[ ])?(?:please[ ])?(?:see|refer[ ]to|consult|check)(?:[ ]also)?[ ]{_N}"
    r"(?:[ ]for[ ][^.\n]{0,60})?(?:\.|(?=\n)|\Z)[ ]?",
    re.IGNORECASE,
)
_OBJECT = re.compile(rf"\b(?:in|of|from|by|under|per)[ ](?={MARK}+[ ](?!and\b|or\b|but\b|if\b|when\b|while\b)[a-z])")
_MARKS = re.compile(f"{MARK}+")


def without_phrases(marked: MarkedText, chunks: Sequence[Chunk]) -> str:
    """Return the text of *marked* with every marker that is a word of its sentence taken out of its phrase."""
    if not re.search(MARK, marked.text) and not _NUMBERED.search(marked.text):
        return marked.text
    of_documents = frozenset(found[0].casefold() for chunk in chunks for found in _NUMBERED.finditer(chunk.text))

    def numbered(found: re.Match[str]) -> str:
        phrase = found[0].casefold()
        marker = read_numbers(re.sub(r"\b(?:the|provided|passages?|excerpts?)\b", "", phrase), len(chunks))
        meant = marker is not None and (marker.groups or "chunk" in phrase) and phrase not in of_documents
        return _NOUN + marked.sign(marker) if marker and meant else found[0]

    text = _NUMBERED.sub(numbered, marked.text)
    text = re.sub(rf"({MARK})(?:,?[ ]and[ ]|[,;][ ])?{_NOUN}(?={MARK})", r"\1", text)
    text = re.sub(rf"\*\*({_NOUN}{MARK}+:)\*\*", r"\1", text)
    text = _AFTERWARDS.sub(lambda found: found["held"] or found["last"], text)
    text = _SAYS.sub(_according, _POINTS.sub("", text))
    text = _TAIL.sub(lambda found: found["marks"], _with_trailing_markers(text))
    text = _OBJECT.sub(r"\g<0>the document", text)
    return re.sub(_NOUN, "the document", re.sub(_START + _NOUN, "The document", text))


def _according(found: re.Match[str]) -> str:
    """Rewrite "[1] states that X" as "According to [1], X"; without "that" the document stays the subject."""
    marks = re.sub(rf"[^{MARK[1:-1]}]", "", found["marks"])
    if found["that"]:
        return f"According to {marks}, "
    return f"According to {marks}, the document{'s' if len(marks) > 1 else ''} {found['verb']} "


def _with_trailing_markers(text: str) -> str:
    """Remove the phrases that open a sentence of *text*, and set their markers at its end."""
    ends = [end for _, end in sentence_spans(re.sub(MARK, " ", text))] if _LEAD.search(text) else []
    out: list[str] = []
    done = 0
    for lead in _LEAD.finditer(text):
        if lead.start() < done:
            continue
        at = min(bisect_left(ends, lead.end()), len(ends) - 1)
        end = max(ends[at], lead.end()) if ends else lead.end()
        rest = text[lead.end() : end]
        last = next((i for i in range(len(rest), 0, -1) if rest[i - 1].isalnum()), 0)
        own = _MARKS.search(rest, last)
        position = own.start() if own else len(rest)
        out += [text[done : lead.start()], capitalised(rest[:position]), lead["marks"], rest[position:]]
        done = end
    return "".join([*out, text[done:]])
