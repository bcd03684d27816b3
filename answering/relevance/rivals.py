"""Put the thing that a question names where a sentence names another: "The cat vaccination costs 46 pounds".

A reader of statements tells by it whether both are one: what a question calls a phone may be called a handset, but a
dog is no cat.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from difflib import get_close_matches

from answering.ports import ClaimReader
from answering.relevance.named_things import CALENDAR
from answering.relevance.things import ARTICLES, PREPOSITIONS, things_named
from answering.text.blocks import row_with_column_names
from answering.text.context import antecedents, referred_to, texts_to_read
from answering.text.terms import AUXILIARIES, coverage, is_content, question_stems, stem, stems, vocabulary
from answering.types import Chunk, Passage

_TOKEN = re.compile(r"[^\W_]+(?:['’](?!s?\b)[^\W_]+)*|[.,;:()!?](?=\s|\Z)")
"""Words without what makes them possessive, and what parts them."""
_REFERS = re.compile(r"(?:It|They|He|She|(Its|Their|His|Her))\b")
"""A pronoun that opens a sentence, a possessive one by itself."""
_NAME = re.compile(r"(?<=[^.!?\s] )(?:[A-Z]\w{3,}|[A-Z]{1,3}-?\d+\b)")
"""A word of four letters or more with a capital, as shorter ones may be abbreviated; or a code, "N4"."""
_CAPITAL = re.compile(r"\b[A-Z]\w{3,}")
SPELLED_ALIKE = 0.8
"""Ratio of ``difflib`` from which two names are one, misspelled."""
SAME_THING = 1.0
"""Log-odds of a statement from which what it names may be what the passage calls otherwise.

Of 0, 1 and 2, and never: ``docs/relevance.md``, "What a question names"."""
MAX_CONTENT = 5
"""Content words of the longest question that is looked at: a longer one names some things in passing.

Of 4, 5 and any number: ``docs/relevance.md``, "What a question names"."""


async def is_of_rival(reader: ClaimReader, question: str, chunk: Chunk, n: int, chunks: Sequence[Chunk]) -> bool:
    """Whether sentence *n* of *chunk* is about a rival of what *question* names, by what *reader* holds of that.

    A sentence that names no rival is about another thing where the question has a name that no chunk of *chunks* has.
    Raises ``ReadingFailed``.
    """
    passage = Passage.of(chunk, [*antecedents(chunk, n), texts_to_read(chunk)[n]])
    supports = [await reader.support(text, passage) for text in with_thing_asked_for(question, chunk, n)]
    return max(supports) < SAME_THING if supports else names_unknown(question, chunks)


def with_thing_asked_for(question: str, chunk: Chunk, n: int) -> list[str]:
    """Return sentence *n* of *chunk* as often as it names a rival of a thing of *question*, with that thing instead.

    A rival stands before the same word ("Students may borrow" for lecturers), after the same noun and preposition
    ("the deposit for a shelf" for a locker), or is a pronoun that opens the sentence. Neither the sentence nor what it
    refers to has the thing.
    """
    sentence = row_with_column_names(chunk, n)
    said = vocabulary("\n".join([chunk.headings, sentence, *referred_to(chunk, n)]))
    things = things_named(question)
    missing = {thing for thing in things if not coverage({thing: 1.0}, said)}
    if not missing or len(question_stems(question)) > MAX_CONTENT:
        return []
    asked = [found[0].lower() for found in _TOKEN.finditer(question)]
    found = [*_TOKEN.finditer(sentence)]
    names = [match[0].lower() for match in found]
    own = frozenset(stems(question))
    pronoun = _REFERS.match(sentence)
    statements = []
    for at, thing in enumerate(asked):
        if not _is_noun(thing) or stem(thing) not in missing:
            continue
        for place in {*_before_same_word(asked, at, things, names), *_after_same_noun(asked, at, names)}:
            if _is_noun(names[place]) and stem(names[place]) not in own:
                start, end = found[place].span()
                statements.append(f"{sentence[:start]}{thing}{sentence[end:]}")
        if pronoun:
            possessive = "'s" if pronoun[1] else ""
            statements.append(f"The {_phrase(asked, at, things)}{possessive}{sentence[pronoun.end() :]}")
    return statements


def names_unknown(question: str, chunks: Iterable[Chunk]) -> bool:
    """Whether *question* has a name that none of *chunks* has, nor one that is spelled nearly so.

    Names have a capital letter and open no sentence; a word for a kind of thing may have another word in the text.
    """
    if len(question_stems(question)) > MAX_CONTENT:
        return False
    named = things_named(question) - CALENDAR  # "on Monday" names no thing
    names = [name for name in _NAME.findall(question) if named.issuperset(stems(name))]
    text = (
        "\n".join("\n".join([chunk.headings, chunk.text, *texts_to_read(chunk)]) for chunk in chunks) if names else ""
    )
    unknown = [name for name in names if name.lower() not in text.lower()]
    known = {*_CAPITAL.findall(text)} if unknown else set()
    return any(name[-1].isdigit() or not get_close_matches(name, known, 1, SPELLED_ALIKE) for name in unknown)


def _is_noun(word: str) -> bool:
    """Whether *word* may name a thing: a content word of letters alone."""
    return word.isalpha() and is_content(word)


def _phrase(asked: Sequence[str], at: int, things: Container[str]) -> str:
    """Return the words of *asked* around the thing at *at* that name it: "larger dish", "Marrick station"."""
    start, end = at, at + 1
    while start and _is_noun(asked[start - 1]):
        start -= 1
    while end < len(asked) and stem(asked[end]) in things:
        end += 1
    return " ".join(asked[start:end])


def _before_same_word(asked: Sequence[str], at: int, things: Container[str], names: Sequence[str]) -> Iterator[int]:
    """Yield where *names* has a word before the one that follows *asked* [at]; verbs that help stand between.

    The word that follows may be a verb, which is none of the *things*: "stop" in "a hard stop" is another word.
    """
    following = asked[at + 1] if at + 1 < len(asked) else ""
    if not _is_noun(following):
        return
    for place, name in enumerate(names):
        if place and stem(name) == stem(following):
            before = place - 1
            while before > 0 and names[before] in AUXILIARIES:
                before -= 1
            may_be_noun = name == following and before == place - 1 and not name.endswith("ed")
            if stem(following) in things or not may_be_noun:
                yield before


def _after_same_noun(asked: Sequence[str], at: int, names: Sequence[str]) -> Iterator[int]:
    """Yield where *names* has a word after the noun and preposition that *asked* [at] follows."""
    link = at - 1
    while link > 0 and asked[link] in ARTICLES:
        link -= 1
    if link < 1 or asked[link] not in PREPOSITIONS or not _is_noun(asked[link - 1]):
        return
    for place in range(len(names) - 2):
        if stem(names[place]) == stem(asked[link - 1]) and names[place + 1] == asked[link]:
            after = place + 2
            while after + 1 < len(names) and names[after] in ARTICLES:
                after += 1
            yield after
