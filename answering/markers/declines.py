"""Tell what says that the passages do not answer: a sentence, or a clause beside one that does."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from answering.types import Chunk, CitedSentence

_SAY = (
    r"(?:mention|say|state|contain|specif|provide|cover|include|answer|give|address|indicate|explain|describe|discuss"
    r"|list|tell|show|offer|have (?:any|enough|the)|refer|talk|clarif|detail)\w*"
)
_SAID = r"(?:mention|specif|stat|cover|provid|includ|address|discuss|describ|answer|giv|contain|indicat|list)\w*"
_TEXTS = (
    r"(?:(?:any|all|of|the|this|these|that|given|provided|above|supplied|retrieved) )*"
    r"(?:passages?|documents?|documentation|texts?|contexts?|sources?|excerpts?|information|materials?)\b"
)
_MATTER = r"(?:information|mention|answer|indication|details?|data|evidence|reference)\b"
_LEADS = re.compile(
    r"[\W_]*(?:(?:(?:i'?m|i am|we are) (?:sorry|afraid)|but|unfortunately|however)[\W_]+)*"
    rf"(?:(?:based on|according to|from|in) {_TEXTS}[^,.\n]{{0,40}},\s*)?",
    re.IGNORECASE,
)
"""What may stand before: "I'm sorry, but", "Based on the passages,"."""
_NOT = r"(?: not|n't)"
_CANNOT = rf"(?:(?:do|could){_NOT}|cannot|can't|(?:am|are) (?:unable|not able) to)"
_FORMS = (
    rf"(?:i|we|you) {_CANNOT} (?:know|find|answer|determine)\b",
    rf"(?:i|we) {_CANNOT} (?:say|tell|see|provide|give)\b",
    rf"(?:i|we) do{_NOT} have (?:any|enough|sufficient|access|information)\b",
    rf"(?:none|nothing|neither) (?:of|in) {_TEXTS}[^.\n]{{0,40}}?\b{_SAY}",
    rf"{_TEXTS}[^.\n]{{0,60}}?\b(?:do|does|did){_NOT} (?:\w+ ){{0,2}}?{_SAY}",
    rf"{_TEXTS} (?:contains?|has|have|gives?|provides?|includes?|offers?) (?:no|neither|nothing)\b",
    rf"(?:the )?(?:answer|information) (?:is|was){_NOT} (?:{_SAID}|clear|available)",
    rf"(?:the )?(?:answer|information) (?:cannot|can't|could{_NOT}) be (?:{_SAID}|found)",
    rf"there (?:is|was) (?:no|not enough|not any|insufficient) {_MATTER}",
    rf"(?:no|not enough|insufficient) {_MATTER}",
    rf"(?:it|that|this) (?:is|was){_NOT} (?:{_SAID}|clear)(?= (?:in|by|from)\b|\W*\Z)",
    rf"not (?:{_SAID}|available|applicable)(?= (?:in|by)\b|\W*\Z)",
    rf"[^.\n]{{1,80}}? (?:is|are|was|were){_NOT} (?:\w+ly )?{_SAID} (?:anywhere )?(?:in|by) {_TEXTS}",
    r"n/a\W*\Z",
    r"(?:未|没有|沒有|無法|无法)(?:找到|提到|回答|提及)",
)
_DECLINES = re.compile("|".join(f"(?:{form})" for form in _FORMS), re.IGNORECASE)
"""Says that the passages do not answer, by a verb of saying: "Documents that are not signed …" says something else."""
_CONCEDES = re.compile(r"[\W_]*(?:while|although|though|even though|whereas)\s+", re.IGNORECASE)
_TURNS = re.compile(r"[,;]?\s+(?:but|however),?\s+", re.IGNORECASE)
_COMMA = re.compile(r",\s+")
_ADDS = re.compile(r"[,;]\s+(?:but|however|although|though|and|while),?\s+", re.IGNORECASE)


def declines(text: str, chunks: Sequence[Chunk]) -> bool:
    """Whether the sentence *text* says that *chunks*, the passages, do not answer; none of them says it itself."""
    return _declines_from(text, 0) > 0 and not _is_copied(text, chunks)


def without_caveat(sentence: CitedSentence, chunks: Sequence[Chunk]) -> CitedSentence:
    """Return *sentence* without a clause that says what *chunks* do not say: "The passages do not say why, but …".

    Nothing can support such a clause, nor refute it.
    """
    text = sentence.text
    start = _end_of_concession(text)
    lead = _LEADS.match(text, start)
    tails = (
        join.start() for join in _ADDS.finditer(text, lead.end() if lead else start) if _declines_from(text, join.end())
    )
    end = next(tails, None)
    if (not start and end is None) or _is_copied(text, chunks):
        return sentence
    closing = text[-1] if end is not None and text[-1:] in (".", "!") else ""
    kept = f"{text[start:end]}{closing}"
    places = [max(0, min(source.position, len(text) if end is None else end) - start) for source in sentence.sources]
    sources = tuple(replace(source, position=at) for source, at in zip(sentence.sources, places, strict=True))
    return replace(sentence, text=kept[:1].upper() + kept[1:], sources=sources)


def _declines_from(text: str, start: int) -> int:
    """Return where the words end that decline in the clause from *start* on; 0 where none do."""
    plain = text.replace("’", "'")
    lead = _LEADS.match(plain, start)
    declined = _DECLINES.match(plain, lead.end() if lead else start)
    return declined.end() if declined else 0


def _end_of_concession(text: str) -> int:
    """Return where what follows an opening clause that declines begins; 0 without one."""
    concedes = _CONCEDES.match(text)
    declined = _declines_from(text, concedes.end() if concedes else 0)
    turn = (_COMMA if concedes else _TURNS).search(text, declined)
    return turn.end() if declined and turn else 0


def _is_copied(text: str, chunks: Sequence[Chunk]) -> bool:
    """Whether the words of *text* stand in one of *chunks*."""
    said = _words(text)
    return any(f" {said} " in f" {_words(chunk.text)} " for chunk in chunks)


@lru_cache(maxsize=64)  # the chunks of an answer, for each of its sentences
def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
