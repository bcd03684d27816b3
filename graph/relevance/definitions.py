"""Questions that ask what something is, and the sentences that say so."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from graph.terms import Idf, is_content, question_stems, stems, words

LONGEST_SUBJECT = 5
"""What is asked to be defined has at most so many words of content: more is a description, not a name."""
LEAST_SHARE = 0.6
"""A sentence whose subject shares less than this with what is asked defines something else."""

_ARTICLE = r"(?:(?:an?|the)\s+)?"
_TERM = rf"{_ARTICLE}(?:(?:word|term|phrase|name|acronym|abbreviation)\s+)?"
_ASKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:what(?:'s|’s|\s+is|\s+was)\s+)?{_ARTICLE}(?:meaning|definition)\s+of\s+{_TERM}(?P<subject>.+)",
        rf"what(?:'s|’s|\s+is|\s+are|\s+was)\s+meant\s+by\s+{_TERM}(?P<subject>.+)",
        rf"(?:what|who)(?:'s|’s|\s+(?:is|are|was|were))\s+{_TERM}(?P<subject>.+)",
        rf"what\s+(?:does|do|did)\s+{_TERM}(?P<subject>.+?)\s+(?:mean|do|stand\s+for|refer\s+to)",
        rf"define\s+{_TERM}(?P<subject>.+)",
        rf"{_TERM}(?P<subject>.+?)\s+(?:meaning|definition)",
    )
)
_ASIDE = re.compile(r"\s*\([^()]*\)|\s*\[[^\[\]]*\]")
_NONE = re.compile(r"no\b|not\b|neither\b", re.IGNORECASE)
_LEADING = re.compile(
    r"(?:in|on|at|for|within|under|as|by|since|from|during|among|to|of)\b[^,]{0,60},\s+", re.IGNORECASE
)
_EVENT = r"(?!not\b|\w+ed\s+(?!as\b|to\b))"
_NOUN = r"(?:\w+ly\s+)?(?:an?|the|one|any|every|each|some|what|when|where|\d[\d.,]*)\b"
_SAYS = re.compile(
    rf"\s+(?:is|are|was|were)\s+(?:(?P<sure>{_NOUN})|{_EVENT}(?P<unsure>))"
    r"|\s+(?:means?|meant|refers?\s+to|stands?\s+for|denotes?|describes?|consists?\s+of|comprises?|represents?)\s+"
    r"|:\s+|\s+[-–—]\s+|,\s+(?=an?\s)",
    re.IGNORECASE,
)
UNSURE = 0.75
"""What "kale is hardy" or "kale is sown" counts for as a definition of kale, against 1 for "kale is a cabbage"."""
_HEADWORD = re.compile(r"[^.:]{1,80}[.:]$")
_STRANDED = frozenset("about as at by called for from in into known made named of on to used using with".split())
"""What ends a question about something other than what its subject is: "what is the book about"."""
_WIDEST = 240
"""The subject of a sentence, and what stands before it, ends within so many characters."""


@lru_cache(maxsize=256)
def asked_subject(question: str) -> tuple[str, ...]:
    """The stems of what *question* asks to be defined, in order; ``()`` when it asks something else."""
    text = " ".join(question.split()).rstrip(" ?.!")
    for pattern in _ASKED:
        if found := pattern.fullmatch(text):
            subject = question_stems(found["subject"])
            named = words(found["subject"])
            plain = any(map(is_content, named)) and named[-1] not in _STRANDED
            return subject if plain and len(subject) <= LONGEST_SUBJECT else ()
    return ()


@dataclass(frozen=True, slots=True)
class Definition:
    """What a question asks to be defined, weighed by the rarity of its words."""

    subject: tuple[str, ...]
    idf: Idf

    def shares(self, sentences: Sequence[str]) -> tuple[float, ...]:
        """Per sentence, in [0, 1], how well its grammatical subject is what is asked; 0 when it defines nothing.

        A headword of its own ("Mulch.") makes the sentence after it the definition.
        """
        if not self.subject:
            return (0.0,) * len(sentences)
        found = [self._share(*_head(sentence)) for sentence in sentences]
        for at, sentence in enumerate(sentences[:-1]):
            if _HEADWORD.fullmatch(sentence) and set(stems(sentence)) == set(self.subject):
                found[at + 1] = 1.0
        return tuple(found)

    def _share(self, head: tuple[str, ...], credit: float) -> float:
        """*credit* times the idf common to the subject asked and *head*, over that of both together."""
        total = sum(map(self.idf, {*head, *self.subject}))
        share = sum(map(self.idf, {*head} & {*self.subject})) / total if total else 0.0
        return credit * share if share >= LEAST_SHARE else 0.0


def defined(question: str, idf: Idf) -> Definition:
    """What *question* asks to be defined."""
    return Definition(asked_subject(question), idf)


@lru_cache(maxsize=1 << 12)
def _head(sentence: str) -> tuple[tuple[str, ...], float]:
    """The stems of the subject of *sentence*, which stands before its verb of being or a colon, and what it counts."""
    text = _ASIDE.sub("", sentence[:_WIDEST])
    if leading := _LEADING.match(text):
        text = text[leading.end() :]
    found = _SAYS.search(text)
    if not found or _NONE.match(text):
        return (), 0.0
    return stems(text[: found.start()]), 1.0 if found["unsure"] is None else UNSURE
