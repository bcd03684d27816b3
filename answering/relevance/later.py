"""Find the later one of sections and documents that have a date, as minutes, messages and releases do."""

import re
from collections.abc import Sequence

from answering.relevance.versions import date_of, labels_asked, rank
from answering.text.dates import MONTH
from answering.text.terms import question_stems, stems, vocabulary
from answering.types import Chunk, ReadPassage

_WORD = re.compile(r"\w[\w.,:]*\w|\w")
FEW_WORDS = 3
"""A sentence of fewer words is mostly a heading within a line: "Fire wardens."."""
MIN_SHARED = 1 / 3
"""Share of the question's words that a nearer passage has, to tell of a change of the same thing. Not fitted."""
NEAREST = 3
"""Candidates than one of which a further one has to be later, to be kept. Not fitted."""
MAX_LATER = 5
"""Further candidates that are kept, at most. Not fitted."""
LATER_SHARE = 0.4
"""Share of its probability to answer from which a later section is quoted beside an earlier one. Not fitted."""
CHANGES = re.compile(
    r"\b(?:instead|no longer|any ?more|(?:from )?now|(?:as|with effect) (?:of|from)|again|once more|need not"
    r"|decided|resolved|agreed|elected|appointed|successor"
    rf"|(?:from|until|till) (?:\d{{1,2}} )?{MONTH}|until further notice|back to"
    r"|(?:takes?|took|hands?|handed) over|follows|succeeds|steps? down"
    r"|put (?:back|forward|off|up)|brought forward|postponed"
    r"|ris(?:es?|en)|rose|go(?:es)? (?:up|down|to|back)|mov(?:es?|ed)|cut|end(?:s|ed)|stops?|withdrawn"
    r"|(?:rais|lower|increas|reduc|extend|chang|lift|dropp|cancel|clos|replac|abolish|scrapp|revok|doubl|halv)\w*)\b",
    re.IGNORECASE,
)
"""Words of a sentence that changes what was so before: "goes up from 25 to 30 euros", "is no longer allowed"."""
CORRECTS = re.compile(
    r"\b(?:correct(?:ions?|ed)|amend(?:ments?|ed)|revis(?:ions?|ed)|errat(?:um|a)|update[sd]?)\b", re.IGNORECASE
)
"""A heading of what changes another document."""


def later_section(question: str, chunks: Sequence[Chunk], best: Chunk) -> Chunk | None:
    """Return the last of *chunks* that are later than *best* and may answer *question* as well.

    Minutes may take a decision back, a release may change a default. Those of another document may change what one
    with an earlier date, or with none, says: their best sentence answers, or tells of a change. None where no later
    one may answer.
    """
    date = date_of(best)
    later = [chunk for chunk in chunks if chunk.scores and rank(chunk) > rank(best)]
    named = labels_asked(question, best)  # a version that is asked for is not taken back
    later = [chunk for chunk in later if labels_asked(question, chunk) >= named]
    later = [chunk for chunk in later if (date and chunk.document_id == best.document_id) or _tells_of_change(chunk)]
    least = LATER_SHARE * (best.answers or 0.0)
    likely = [chunk for chunk in later if (chunk.answers or 0.0) >= least or _replaces(question, chunk, best)]
    return max(likely, key=rank, default=None)


def _replaces(question: str, later: Chunk, best: Chunk) -> bool:
    """Whether *later* tells of a change of what the best sentence of *best* says.

    It is nearer to *question* and has a third of its words, or repeats a value of that sentence: "Ines takes over from
    Gareth Pell", of the captain Gareth Pell; "Thursdays instead of Fridays".
    """
    said, before = best_sentence(later), best_sentence(best)
    if not CHANGES.search(said):
        return False
    values = _values(before) - {*_WORD.findall(later.headings)}
    if not values.isdisjoint(_values(said)):
        return True
    asked = frozenset(question_stems(question))
    shared = asked & vocabulary(f"{later.headings}\n{said}")
    return later.similarity > best.similarity and len(shared) >= MIN_SHARED * len(asked)


def _values(sentence: str) -> set[str]:
    """Return the numbers and names of *sentence*, its first word left aside."""
    return {word for word in _WORD.findall(sentence)[1:] if word[0].isupper() or any(map(str.isdigit, word))}


def with_later(chunks: Sequence[Chunk], most: int) -> list[int]:
    """Return the places of the first *most* of *chunks*, and of a few others later than one of the nearest."""
    ranks = [own for chunk in chunks[:NEAREST] if (own := rank(chunk)) > (True, ())]
    later = [n for n in range(most, len(chunks)) if ranks and min(ranks) < rank(chunks[n])]
    return [*range(min(most, len(chunks))), *later[:MAX_LATER]]


def later_than(chunks: Sequence[Chunk], found: Sequence[Chunk]) -> list[Chunk]:
    """Return those of *chunks* with a later date than all of *found*: they may say what changed.

    First those with a sentence that has most words of what answers: "back to 30 EUR without second approval".
    """
    last = max(map(rank, found), default=(False, ()))
    answering = [_best_read(chunk.sentences, chunk.reading) for chunk in found if chunk.reading]
    said = frozenset(term for text in answering for term in stems(text))
    later = [chunk for chunk in chunks if rank(chunk) > last]
    return sorted(later, key=lambda chunk: -max(len(said.intersection(stems(text))) for text in chunk.sentences))


def _best_read(sentences: Sequence[str], reading: ReadPassage) -> str:
    """Return the one of *sentences* that answers best by the reader."""
    return sentences[reading.sentences.index(max(reading.sentences))]


def _tells_of_change(chunk: Chunk) -> bool:
    """Whether the best sentence of *chunk* answers, or changes what was so before."""
    answers = chunk.reading is not None and max(chunk.reading.sentences) > chunk.reading.null
    return answers or bool(CHANGES.search(best_sentence(chunk)) or CORRECTS.search(chunk.headings))


def best_sentence(chunk: Chunk) -> str:
    """Return the sentence of *chunk* that answers best, a heading within a line left aside; "" without one."""
    scored = zip(chunk.scores, chunk.sentences, strict=False)
    sentences = [(score, text) for score, text in scored if len(text.split()) >= FEW_WORDS]
    _, best = max(sentences, default=(0.0, ""))
    return best
