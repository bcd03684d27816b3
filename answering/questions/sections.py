"""Find the section that a question asks for by its number: "What does article 4 say?", "section 2.1", "Appendix B"."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from answering.text.terms import is_content, stem, words
from answering.types import Chunk, FoundSentences

MAX_SENTENCES = 10
"""Sentences of a section that are quoted, from its beginning."""
_KINDS = {
    "section": "§ §§ s. sec sec. sect sect. section paragraph para para.",
    "article": "article art art.",
    "clause": "clause cl cl.",
    "chapter": "chapter ch ch.",
    "appendix": "appendix app app. annex",
    "part": "part pt pt.",
    "rule": "rule",
    "schedule": "schedule",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_NOUN = "|".join(re.escape(name) for name in sorted(_KIND_OF, key=len, reverse=True))
_NUMBER = r"\d+(?:\.\d+)*[a-z]?"
_LABEL = rf"(?:{_NUMBER}|[ivxlc]+|[a-z])(?![\w.]*\w)"
"""A number, a letter or a roman number ("2.1", "4a", "B", "IV")."""
ASKS_SECTION = re.compile(rf"(?:\b|(?=§))(?:{_NOUN})\s?(?:(?:no\.?|number)\s)?{_LABEL}", re.IGNORECASE)
"""A question that the functions here are for."""
_ASKED = re.compile(
    rf"""\W*(?:(?:what(?:['’]s|\ is|\ are|\ does|\ do)?|(?:show|give|tell)\ me|show|read|quote|cite|explain
       |summari[sz]e)\ )?
    (?:(?:the|our)\ (?P<author>[\w-]+(?:\ [\w-]+){{0,3}})\ says?\ )?
    (?:(?:said|written|stated|in|under|about|the\ (?:text|content|contents)\ of)\ )*(?:the\ )?
    (?P<noun>{_NOUN})\ ?(?:(?:no\.?|number)\ )?(?P<label>{_LABEL})
    (?:\ (?:of|in)\ (?:the\ |our\ |this\ )?(?P<document>(?:(?!say|about)[\w-]+\ ?){{1,4}}?))?
    (?:\ (?:says?|states?|covers?|contains?|regulates?|means?|includes?|requires?|tells?(?:\ us)?|deals?\ with|about)
       (?:\ (?:about|on|regarding)\ .+)?)?
    [\s?.!]*""",
    re.IGNORECASE | re.VERBOSE,
)
_HEADING = re.compile(rf"\W*?(?:(?P<noun>{_NOUN})\s?)?(?P<label>{_LABEL})", re.IGNORECASE)


class SectionAsked(NamedTuple):
    """The ``kind`` of a section ("article"), its ``label`` in small letters, and stems of its document's name."""

    kind: str
    label: str
    document: frozenset[str]

    def fit(self, chunk: Chunk) -> int:
        """Tell how well a heading above *chunk* fits: 2 with the label and the kind, 1 with the label alone, else 0.

        Without a noun a heading has a number: "2.1 Leave", but not "A day out".
        """
        name = frozenset(map(stem, words(f"{chunk.title} {chunk.document_id}")))
        if not self.document <= name:
            return 0
        return max(map(self._fit, (chunk.chapter or "", chunk.section or "")))

    def _fit(self, heading: str) -> int:
        found = _HEADING.match(heading)
        if not found or found["label"].lower() != self.label:
            return 0
        noun = found["noun"]
        if noun:
            return 2 * (_KIND_OF[noun.lower()] == self.kind)
        return int(self.label[0].isdigit())


def asked_section(question: str) -> SectionAsked | None:
    """Find the section that all of *question* asks for; None where it asks for something else."""
    asked = _ASKED.fullmatch(" ".join(question.split()))
    if not asked:
        return None
    document = frozenset(
        stem(word) for word in words(f"{asked['document'] or ''} {asked['author'] or ''}") if is_content(word)
    )
    return SectionAsked(_KIND_OF[asked["noun"].lower()], asked["label"].lower(), document)


def document_with(asked: SectionAsked, chunks: Sequence[Chunk]) -> str | None:
    """Return the id of the one document among those of *chunks* that has the section best; None where several do."""
    best = max(map(asked.fit, chunks), default=0)
    documents = {chunk.document_id for chunk in chunks if best and asked.fit(chunk) == best}
    return documents.pop() if len(documents) == 1 else None


def sentences_of_section(asked: SectionAsked, chunks: Sequence[Chunk]) -> tuple[FoundSentences, ...]:
    """Return the first sentences of the section, without headings, by chunk in reading order.

    *chunks* are those of one document.
    """
    best = max(map(asked.fit, chunks), default=0)
    section = [chunk for chunk in chunks if best and asked.fit(chunk) == best]
    found: list[FoundSentences] = []
    left = MAX_SENTENCES
    for chunk in sorted(section, key=lambda chunk: chunk.chunk_index or 0):
        headings = {chunk.title, chunk.chapter, chunk.section}
        numbers = [n for n, text in enumerate(chunk.sentences) if text.lstrip("# ") not in headings][:left]
        if numbers:
            found.append(FoundSentences(chunk, tuple(numbers)))
            left -= len(numbers)
    return tuple(found)
