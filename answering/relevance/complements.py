"""Tell definite things apart that are told by another: "the code for the hall" and "for the archive", and subjects.

A subject is told by the word before its noun: "the head cook", "the pastry cook".
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from answering.relevance.named_things import tokens_of
from answering.text.blocks import before
from answering.text.terms import is_content, stem, stems
from answering.types import Chunk

_ARTICLES = frozenset("the a an our your".split())
_PREPOSITIONS = frozenset("for of to in on at from".split())
Name = tuple[str, ...]


def of_other_complement(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places, chunk and sentence, that say of one thing what *question* asks of another in *chunks*.

    Both are definite, after the same word and preposition. What no chunk names may be the same by another name, and so
    may what follows a sentence about it in a paragraph, or stands below its heading.
    """
    asked, asked_stems = dict(_complements(question)), frozenset(stems(question))
    if not asked:
        return
    known = [frozenset(stems(text)) for chunk in chunks for text in (chunk.headings, *chunk.sentences)]
    for at, chunk in enumerate(chunks):
        last = frozenset[str]()
        for n, sentence in enumerate(chunk.sentences):
            own = frozenset(stems(sentence))
            near = own.union(stems(chunk.headings), last if "\n\n" not in before(chunk, n) else ())
            for thing, theirs in _complements(sentence):
                name, rival = _differing(asked.get(thing, ()), theirs)
                named = any(held.issuperset(name) for held in known)
                if name and rival and named and near.isdisjoint(name) and asked_stems.isdisjoint(rival):
                    yield at, n
            last = own


def of_other_subject(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places whose subject is another of the kind than the one that *question* and some chunk name."""
    tokens, asked = tokens_of(question), frozenset(stems(question))
    known = {
        pair for chunk in chunks for text in (chunk.headings, *chunk.sentences) for pair in _pairs(tokens_of(text))
    }
    named = {noun: word for word, noun in _pairs(tokens) if (word, noun) in known}
    for at, chunk in enumerate(chunks if named else ()):
        for n, sentence in enumerate(chunk.sentences):
            article, *subject = tokens_of(sentence)[:3] or ("",)
            for word, noun in _pairs(subject) if article in _ARTICLES else ():
                own = named.get(noun, word)
                if word not in asked and own not in stems(f"{chunk.headings}\n{sentence}"):
                    yield at, n


def _pairs(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the stems of each two content words of *tokens* that stand together."""
    return ((stem(word), stem(noun)) for word, noun in pairwise(tokens) if is_content(word) and is_content(noun))


def _complements(text: str) -> Iterator[tuple[tuple[str, str], Name]]:
    """Yield ((thing, preposition), the words after "the") for each complement in *text*, as stems."""
    tokens = tokens_of(text)
    for at, (thing, link, article) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        if is_content(thing) and link in _PREPOSITIONS and article == "the":
            yield (stem(thing), link), tuple(map(stem, takewhile(is_content, tokens[at + 3 :])))


def _differing(mine: Name, theirs: Name) -> tuple[Name, Name]:
    """Return both without what they end with alike: "(bus to the) castle leave" and "lake leaves"."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine[::-1], theirs[::-1], strict=False)))
    return mine[: len(mine) - same], theirs[: len(theirs) - same]
