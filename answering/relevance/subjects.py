"""Tell sentences whose subject is another thing than a question names, or another of a kind that nothing names.

A pronoun stands for the last named subject of its paragraph.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from answering.relevance.entities import asked_labels
from answering.relevance.named_things import POSSESSIVE, content, tokens_of
from answering.text.blocks import before, cells, table_header
from answering.text.terms import QUESTION_WORDS, STOP_WORDS, is_content, is_number, stem, stems, vocabulary, words
from answering.types import Chunk

_NAMED_SUBJECT = re.compile(
    r"(?P<article>(?:The|Our|My|A|An) )?(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)(?: (?P<noun>[a-z]\w+))?"
)
_SAYS_NO_KIND = frozenset(
    """
    new old little small big large same own main other extra spare free current several many multiple various different
    single total overall average typical usual normal default exact whole entire first last next previous
    maximum minimum best worst biggest cheapest earliest fastest highest largest latest longest lowest nearest newest
    oldest shortest slowest smallest
    """.split()
)
_PRONOUNS = frozenset("it its he his she her hers him they them their this these".split())
_AMBIGUOUS = frozenset("a am an as at be in is it me no of on or so t was".split())
"""Words of English that are words of German, Dutch, French, Spanish or Italian as well."""
_ENGLISH_ALONE = (STOP_WORDS | QUESTION_WORDS) - _AMBIGUOUS
_ASK_ELSEWHERE = frozenset(
    """
    wo woher wohin wie was wann wer wen wem warum wieso welche welchen welcher welches où quand qui quel quelle quels
    quelles combien comment pourquoi dónde donde cuándo cuando quién quien cómo como cuánto cuanto cuántos cuántas cuál
    qué dove quando chi quanto quale quali perché waar wanneer hoe waarom welk welke
    """.split()
)
"""Words that ask in German, French, Spanish, Italian and Dutch."""


class Topic(NamedTuple):
    """What a sentence is about: the stems of the name that is its subject, if it has an article, and the noun after.

    ``refers``: the sentence has a pronoun for it, or is the one that names it.
    """

    name: frozenset[str]
    article: bool
    noun: str
    refers: bool = True


def is_other_language(question: str) -> bool:
    """Whether *question* asks in another language: it has no word that only English has for its grammar."""
    asks_elsewhere = not _ASK_ELSEWHERE.isdisjoint(re.findall(r"\w+", question.lower()))
    return asks_elsewhere and _ENGLISH_ALONE.isdisjoint(words(question))


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


def of_unknown_kind(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places that are about others of a kind, where *question* names one that no chunk has.

    A section's heading, or a row's first cell, names the others. Of parental leave a section on sick leave tells
    nothing; but where "parents" are spoken of, it may.
    """
    labelled = asked_labels(question)  # "mount article 4714": told by its number
    pairs = [pair for pair in pairwise(tokens_of(POSSESSIVE.sub("", question))) if _may_tell_kind(*pair)]
    pairs = [(word, noun) for word, noun in pairs if stem(noun) not in labelled]
    texts = [f"{chunk.headings}\n{chunk.text}" for chunk in chunks] if pairs else []
    known = frozenset[str]().union(*map(vocabulary, texts))
    spelled = frozenset(word for text in texts for word in words(text))
    for word, noun in pairs:
        if word in spelled or not known.isdisjoint((word, stem(word))):
            continue
        headed = {at: _words_before(noun, chunk.section or "") for at, chunk in enumerate(chunks)}
        keys = {
            (at, n): _key_of(noun, chunk, n) for at, chunk in enumerate(chunks) for n in range(len(chunk.sentences))
        }
        several = len(frozenset[str]().union(*headed.values(), *keys.values())) > 1
        yield from (place for place, key in keys.items() if headed[place[0]] or (key and several))


def _may_tell_kind(word: str, noun: str) -> bool:
    """Whether *word* before *noun* may tell of which kind it is: "sick leave", but not "new leave" or "per month"."""
    if not (is_content(word) and is_content(noun)) or is_number(word) or noun.isdigit():
        return False
    return word not in _SAYS_NO_KIND and not word.endswith(("ed", "ly")) and "per" not in (word, noun)


def _words_before(noun: str, text: str) -> frozenset[str]:
    """Return the content words that stand before *noun* in *text*."""
    pairs = pairwise(tokens_of(text))
    return frozenset(one for one, two in pairs if stem(two) == stem(noun) and is_content(one)) - _SAYS_NO_KIND


def _key_of(noun: str, chunk: Chunk, n: int) -> frozenset[str]:
    """Return the stems of the first cell of row *n*, where *noun* names its column."""
    header = table_header(chunk, n)
    names = stems(cells(chunk.sentences[header[0]])[0]) if header else ()
    return content(cells(chunk.sentences[n])[0]) if stem(noun) in names else frozenset()
