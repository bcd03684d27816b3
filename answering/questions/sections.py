"""Find the section that a question asks for by its number: "What does article 4 say?", "What changed in 2.3?"."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from answering.text.terms import is_content, stem, stems, words
from answering.types import Chunk, FoundSentences

MAX_SENTENCES = 10
"""Sentences of a section that are quoted, from its beginning."""
VERSION = "version"
"""The kind of a section on one version of something, whose heading has its number."""
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
_ASPECTS = {
    "new": "new added addition feature",
    "added": "new added addition feature",
    "fixed": "fixed fixes bug",
    "removed": "removed",
    "deprecated": "deprecated",
    "issues": "issue",
    "changed": "",
    "changes": "",
    "notes": "",
}
"""Words of a question for one version -> words of the headings below it that are meant; none: all of them."""
_ASKS_VERSION = re.compile(
    rf"""\W*(?:what(?:['’]s|\ is|\ was|\ were|\ has|\ have|\ are)?\ )?(?:been\ )?(?:the\ )?(?:known\ |release\ )?
    (?P<aspect>{"|".join(_ASPECTS)})\ (?:in|of|for|with|by)\ (?:the\ )?(?P<document>(?!version|release)[^\W\d][\w-]*\ )?
    (?:(?:version|release)\ )?v?(?P<label>\d+(?:\.\d+)+)[\s?.!]*""",
    re.IGNORECASE | re.VERBOSE,
)
ASKS_SECTION = re.compile(
    rf"(?:\b|(?=§))(?:{_NOUN})\s?(?:(?:no\.?|number)\s)?{_LABEL}|\b(?:{'|'.join(_ASPECTS)})\b.*\d\.\d", re.IGNORECASE
)
"""A question that the functions here are for."""
_ASKED = re.compile(
    rf"""\W*(?:(?:what(?:['’]s|\ is|\ are|\ does|\ do)?|(?:show|give|tell)\ me|show|read|quote|cite|explain
       |summari[sz]e)\ )?
    (?:(?:the|our)\ (?P<author>[\w-]+(?:\ [\w-]+){{0,3}})\ says?\ )?
    (?:(?:said|written|stated|in|under|about|the\ (?:text|content|contents)\ of)\ )*(?:the\ )?
    (?P<noun>{_NOUN})\ ?(?:(?:no\.?|number)\ )?(?P<label>{_LABEL})
    (?:\ (?:of|in)\ (?:the\ |our\ |this\ )?(?P<document>(?:(?!say|about|cover)[\w-]+\ ?){{1,4}}?))?
    (?:\ (?:says?|states?|covers?|contains?|regulates?|means?|includes?|requires?|provides?|prescribes?|allows?
       |tells?(?:\ us)?|deals?\ with|about)
       (?:\ (?:about|on|regarding)\ .+)?)?
    [\s?.!]*""",
    re.IGNORECASE | re.VERBOSE,
)
_HEADING = re.compile(rf"\W*?(?:(?P<noun>{_NOUN})\s?)?(?P<label>{_LABEL})", re.IGNORECASE)
_VERSION_HEADING = re.compile(
    r"\W*?(?:[^\W\d][\w-]*\s)?(?:(?:version|release)\s)?v?(?P<label>\d+(?:\.\d+)+)(?!\w)", re.IGNORECASE
)
_OPENS = re.compile(rf"(?P<label>{_NUMBER})[.)]?\s+[^\w\s]?[A-Z]")
"""The number that opens a clause within a section: "4.2 The Company may …", and not "4.2 million users …"."""
NO_FIT, AS_CLAUSE, BARE, WITH_NOUN = range(4)
"""How well a chunk fits a section that is asked for, by where the number stands."""


class SectionAsked(NamedTuple):
    """The ``kind`` of a section ("article"), its ``label`` in small letters, and stems of its document's name.

    ``parts``: stems of the headings below it that are meant; none: all of it.
    """

    kind: str
    label: str
    document: frozenset[str]
    parts: frozenset[str] = frozenset()

    def fit(self, chunk: Chunk) -> int:
        """Tell how well *chunk* fits: a heading above it has the label and the kind, or the label; or a clause in it.

        Without a noun a heading has a number: "2.1 Leave", but not "A day out".
        """
        name = frozenset(map(stem, words(f"{chunk.title} {chunk.document_id}")))
        if not self.document <= name:
            return NO_FIT
        headings = [heading for heading in (chunk.chapter, chunk.section) if heading]
        if self.kind == VERSION:
            return max((self._version_fit(at, headings) for at in range(len(headings))), default=NO_FIT)
        clause = AS_CLAUSE if "." in self.label and self.clause(chunk) else NO_FIT
        return max([clause, *map(self._heading_fit, headings)])

    def clause(self, chunk: Chunk) -> list[int]:
        """Return the numbers of the sentences of *chunk* from the one that opens with the label to the next clause."""
        opening = [_OPENS.match(text) for text in chunk.sentences]
        first = next((n for n, found in enumerate(opening) if found and found["label"] == self.label), None)
        if first is None:
            return []
        below = f"{self.label}."
        others = (n for n in range(first + 1, len(opening)) if (at := opening[n]) and not at["label"].startswith(below))
        return [*range(first, next(others, len(opening)))]

    def _heading_fit(self, heading: str) -> int:
        found = _HEADING.match(heading)
        if not found or found["label"].lower() != self.label:
            return NO_FIT
        noun = found["noun"]
        if noun:
            return WITH_NOUN if _KIND_OF[noun.lower()] == self.kind else NO_FIT
        return BARE if self.label[0].isdigit() else NO_FIT

    def _version_fit(self, at: int, headings: Sequence[str]) -> int:
        """Tell how heading *at* of *headings* fits: "2.3.0" is "2.3" too; what stands below it has to be meant."""
        found = _VERSION_HEADING.match(headings[at])
        if not found or found["label"] not in (self.label, f"{self.label}.0"):
            return NO_FIT
        below = headings[at + 1 :]
        meant = not (self.parts and below) or not self.parts.isdisjoint(stems(" ".join(below)))
        exact = WITH_NOUN if found["label"] == self.label else BARE
        return exact if meant else NO_FIT


def asked_section(question: str) -> SectionAsked | None:
    """Find the section that all of *question* asks for; None where it asks for something else."""
    text = " ".join(question.split())
    version = _ASKS_VERSION.fullmatch(text)
    if version:
        parts = frozenset(stems(_ASPECTS[version["aspect"].lower()]))
        return SectionAsked(VERSION, version["label"], _names(version["document"]), parts)
    asked = _ASKED.fullmatch(text)
    if not asked:
        return None
    document = _names(asked["document"]) | _names(asked["author"])
    return SectionAsked(_KIND_OF[asked["noun"].lower()], asked["label"].lower(), document)


def document_with(asked: SectionAsked, chunks: Sequence[Chunk]) -> str | None:
    """Return the id of the one document among those of *chunks* that has the section best; None where several do."""
    _, fitting = _best_fitting(asked, chunks)
    documents = {chunk.document_id for chunk in fitting}
    return documents.pop() if len(documents) == 1 else None


def sentences_of_section(asked: SectionAsked, chunks: Sequence[Chunk]) -> tuple[FoundSentences, ...]:
    """Return the first sentences of the section, without headings, by chunk in reading order.

    *chunks* are those of one document.
    """
    fit, section = _best_fitting(asked, chunks)
    found: list[FoundSentences] = []
    left = MAX_SENTENCES
    for chunk in sorted(section, key=lambda chunk: chunk.chunk_index or 0):
        headings = {chunk.title, chunk.chapter, chunk.section}
        numbers = asked.clause(chunk) if fit == AS_CLAUSE else range(len(chunk.spans))
        kept = [n for n in numbers if chunk.sentences[n].lstrip("# ") not in headings][:left]
        if kept:
            found.append(FoundSentences(chunk, tuple(kept)))
            left -= len(kept)
    return tuple(found)


def _best_fitting(asked: SectionAsked, chunks: Sequence[Chunk]) -> tuple[int, list[Chunk]]:
    """Return the best fit of *chunks*, and those that fit so; none where none fits."""
    fits = [asked.fit(chunk) for chunk in chunks]
    best = max(fits, default=NO_FIT)
    return best, [chunk for chunk, fit in zip(chunks, fits, strict=True) if best and fit == best]


def _names(text: str | None) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text or "") if is_content(word))
