"""Find the terms of a question that decide: one whose meaning is asked for, and rare ones that the documents have.

"Ours are changed every 18 months" hardly answers "How often is the blower changed?", where another passage speaks of
the blower.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from answering.text.blocks import before, bullet, cells, is_row, table_header
from answering.text.terms import (
    AUXILIARIES,
    coverage,
    frequency_rank,
    is_content,
    question_stems,
    stem,
    vocabulary,
    words,
)
from answering.types import Chunk, ReadPassage, SubqueryResults

MAX_WORDS = 4
"""Words of the longest term that is looked up."""
DEFINED, NOT_DEFINED = 4.0, 2.0
"""Least logits of a definition that was asked for, and what other sentences lose where the question asks what it is.

Not fitted: hardly a question of the fitted sets asks what a term means."""
LONGEST = 120
"""Characters of the beginning of a sentence in which a term is looked for."""
_JOINING = ("and", "of", "or", "to")
_MANNER = re.compile(r"\bby default\b", re.IGNORECASE)
KEY_RANK = 3_000
"""Frequency rank from which a stem of English says what a question is about."""
KEY_MISSING_FACTOR = 0.65
"""Share of its probability to answer that a chunk keeps where its best sentence lacks such a word.

Chosen of five, with ``KEY_RANK``: ``docs/relevance.md``."""
_ASKED = re.compile(
    r"""(?:what(?:'s|\ is|\ are|\ was|s)\ (?:meant\ by\ |the\ meaning\ of\ )?
    |what\ do(?:es)?\ (?=.*\b(?:mean|stand\ for)\b)|define\ |explain\ |who\ is\ (?!the\b)
    |(?:the\ )?(?:definition|meaning)\ of\ )
    (?:(?:an?|the\ (?:word|term))\ )?["'“”]?(?P<term>\S+(?:\ \S+){0,3}?)["'“”]?(?:\ (?:mean|stand\ for))?\s*[?.!]*""",
    re.IGNORECASE | re.VERBOSE,
)
_IS = re.compile(
    r"""\W{0,3}(?:\([^)]{1,40}\)\W{0,2})?\ ?(?:
    (?:is|are)\ (?:an?|the|one|any|our|your|all|how|what|when|where|short\ for|anything|something|used)\b
    |are\ (?!(?:not|also|only|now|never|always|in|on|at|to|\w+ed|\w+able)\b)\w+\ (?!by\b)\w
    |(?:means?|refers?\ to|stands?\ for|denotes?|describes?)\b|[:–—]\ ?\w|-\ \w)""",
    re.IGNORECASE | re.VERBOSE,
)
"""What stands between a term and its definition, in one sentence."""
_OPENING = re.compile(r"(?:(?:an?|the|by|each|every)\s+)?\W*", re.IGNORECASE)


class Term(NamedTuple):
    """A term that a question looks up, as stems; ``explicit``: the question asks what it is."""

    stems: tuple[str, ...]
    explicit: bool


def asked_term(question: str) -> Term | None:
    """Find the term whose meaning *question* asks for, or that is all of it; None for another question."""
    text = " ".join(question.replace("’", "'").split())
    asked = _ASKED.fullmatch(text)
    named = words(asked["term"] if asked else text)
    if not named or len(named) > MAX_WORDS or (asked and asked["term"].lower().startswith("the ")):
        return None
    within = [word for word in named[1:-1] if asked or word not in _JOINING]  # "use or lose", alone
    is_term = all(map(is_content, [named[0], *within, named[-1]])) and AUXILIARIES.isdisjoint(named)
    return Term(tuple(map(stem, named)), bool(asked)) if is_term else None


class Definition(NamedTuple):
    """The number of a sentence that defines a term; ``stated``: by its words, not by its position alone."""

    sentence: int
    stated: bool


def definition_of(term: Term, chunk: Chunk) -> Definition | None:
    """Find the sentence of *chunk* that defines *term*; None where none does.

    It says "a term is …" or "term: …", follows the term that stands alone, is the row of the term, or, where the
    question asks what it is, opens the section that has the term as its name.
    """
    sentences = chunk.sentences
    for n, sentence in enumerate(sentences):
        if is_row(chunk, n):
            if table_header(chunk, n) and _is_term(cells(sentence)[0], term):
                return Definition(n, stated=True)
            continue
        end = _end_of(term, sentence)
        if not end:
            continue
        alone = not re.search(r"\w", sentence[end:])
        if not alone and _IS.match(sentence[end:]):
            return Definition(n, stated=True)
        if alone and n + 1 < len(sentences) and "\n\n" not in before(chunk, n + 1) and not bullet(chunk, n + 1):
            return Definition(n + 1, stated=True)
    if term.explicit and sentences and _is_term(chunk.section or "", term):
        first = int(_is_term(sentences[0], term) and len(sentences) > 1)
        if sentences[first][-1] == "." and not bullet(chunk, first):
            return Definition(first, stated=False)
    return None


def _is_term(text: str, term: Term) -> bool:
    return tuple(map(stem, words(text))) == term.stems


def _end_of(term: Term, sentence: str) -> int:
    """Return where *term* ends, if it opens *sentence*, after an article perhaps; 0 where it does not."""
    opening = _OPENING.match(sentence)
    start = opening.end() if opening else 0
    at = [*re.finditer(r"\w+(?:[.,]\d+)*", sentence[start : start + LONGEST])][: len(term.stems)]
    found = tuple(stem(word) for match in at for word in words(match[0]))
    return start + at[-1].end() if at and found == term.stems else 0


def defining_sentences(results: SubqueryResults) -> dict[str, int]:
    """Return by chunk id the sentence that defines the term the question asks for; the stated ones if there are any."""
    term = asked_term(results.question)
    found = [(chunk.chunk_id, definition_of(term, chunk)) for chunk in results.chunks] if term else []
    defined = {chunk_id: definition for chunk_id, definition in found if definition}
    stated = any(definition.stated for definition in defined.values())
    return {chunk_id: found.sentence for chunk_id, found in defined.items() if found.stated or not stated}


def with_definition(question: str, reading: ReadPassage, definition: int | None) -> ReadPassage:
    """Raise the logits of sentence *definition*; without one lower all, if *question* asks what a term is."""
    term = asked_term(question)
    if term is None or (definition is None and not term.explicit):
        return reading
    if definition is None:
        lowered = tuple(score - NOT_DEFINED for score in reading.sentences)
        return replace(reading, sentences=lowered, answerable=reading.answerable - NOT_DEFINED)
    best = max(reading.null, *reading.sentences) + DEFINED
    scores = tuple(best if n == definition else score for n, score in enumerate(reading.sentences))
    return replace(reading, sentences=scores, answerable=max(reading.answerable, DEFINED))


def key_words(question: str, chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the rare stems of *question* that one of *chunks* has; others may be said in other words."""
    rare = [
        stem for stem in dict.fromkeys(question_stems(_MANNER.sub("", question))) if frequency_rank(stem) > KEY_RANK
    ]
    texts = [f"{chunk.headings}\n{chunk.text}".lower() for chunk in chunks] if rare else []
    return tuple(stem for stem in rare if any(stem in text for text in texts))


def lacks_key_word(keys: Sequence[str], chunk: Chunk, n: int) -> bool:
    """Whether sentence *n* of *chunk*, what is before it in its paragraph, and its headings lack one of *keys*."""
    if not keys:
        return False
    first = next((at for at in range(n, 0, -1) if "\n\n" in before(chunk, at)), 0)
    if first and chunk.sentences[first - 1].endswith(":"):
        first -= 1  # its lead-in
    said = vocabulary("\n".join([chunk.headings, *chunk.sentences[first : n + 1]]))
    return any(not coverage({key: 1.0}, said) for key in keys)
