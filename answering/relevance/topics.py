"""Tell what a sentence speaks of where a pronoun stands for it, and whether it names what a question asks for."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from answering.text.blocks import before
from answering.text.terms import is_content, stem, stems, vocabulary, words
from answering.types import Chunk

_NAMED_SUBJECT = re.compile(
    r"(?P<article>(?:The|Our|My|A|An) )?(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)(?: (?P<noun>[a-z]\w+))?"
)
_PRONOUNS = frozenset("it its he his she her hers him they them their this these".split())
_ASKS_EXISTENCE = re.compile(
    r"\A\W*(?:(?:is|are|was|were) there|do (?:you|we|they) (?:have|offer|sell))\b(?: any| an?| some)? (?P<what>.+)",
    re.IGNORECASE,
)
_AFTER_NOUN = re.compile(
    r"\b(?:in|at|on|of|for|to|with|by|near|from|that|who|which|when|if|where)\b|[,;?.!]", re.IGNORECASE
)


class Topic(NamedTuple):
    """What a sentence is about: the stems of the name that is its subject, if it has an article, and the noun after.

    ``refers``: the sentence has a pronoun for it, or is the one that names it.
    """

    name: frozenset[str]
    article: bool
    noun: str
    refers: bool = True


def of_other_topic(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places, chunk and sentence, that speak of another named thing than *question* and some sentence do.

    "The Vixen is the travelling telescope. It weighs 9 kilograms.": the second tells nothing of the Cooke, of which
    another sentence is. What refers to something is about the last name that was a subject in its paragraph; so is all
    of a paragraph on one of several with the same noun ("The Quarry apiary").
    """
    asked = frozenset(stems(question))
    topics = {(at, n): topic for at, chunk in enumerate(chunks) for n, topic in _topics(chunk)}
    own = [(chunks[at].document_id, topic) for (at, _), topic in topics.items() if not topic.name.isdisjoint(asked)]
    for (at, n), topic in topics.items():
        alike = [mine for document, mine in own if document == chunks[at].document_id and mine.article == topic.article]
        alike = [mine for mine in alike if topic.refers or (topic.noun and mine.noun == topic.noun)]
        names = frozenset[str]().union(*(mine.name for mine in alike))
        if alike and topic.name.isdisjoint(asked) and names.isdisjoint(stems(chunks[at].sentences[n])):
            yield at, n


def _topics(chunk: Chunk) -> Iterator[tuple[int, Topic]]:
    """Yield the number of each sentence in a paragraph that is about a named thing, and its topic."""
    topic: Topic | None = None
    for n, text in enumerate(chunk.sentences):
        if "\n\n" in before(chunk, n):
            topic = None
        subject = _NAMED_SUBJECT.match(text)
        refers = not _PRONOUNS.isdisjoint(words(text))
        if subject and (subject["article"] or " " in subject["name"]):
            name = frozenset(stem(word) for word in words(subject["name"]) if is_content(word))
            noun = subject["noun"] if is_content(subject["noun"] or "") else ""
            topic, refers = (Topic(name, bool(subject["article"]), noun or ""), True) if name else (topic, refers)
        if topic:
            yield n, topic._replace(refers=refers)


def lacks_existing(question: str, text: str) -> bool:
    """Whether *question* asks if there is something, and *text* does not name it."""
    asks = _ASKS_EXISTENCE.match(question)
    if not asks:
        return False
    *_, noun = [word for word in words(_AFTER_NOUN.split(asks["what"])[0]) if is_content(word)] or [""]
    return bool(noun) and stem(noun) not in vocabulary(text)
