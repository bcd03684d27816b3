"""Tell sentences whose subject, or complement, is another thing than a question names, or one that nothing names.

A pronoun stands for the last named subject of its paragraph.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations, takewhile
from typing import NamedTuple

from answering.relevance.named_things import POSSESSIVE, are_alike, content, tokens_of
from answering.text.blocks import before, cells, table_header
from answering.text.terms import QUESTION_WORDS, STOP_WORDS, is_content, is_number, stem, stems, vocabulary, words
from answering.types import Chunk

_NAMED_SUBJECT = re.compile(
    r"(?P<article>(?:The|Our|My|A|An) )?(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)(?: (?P<noun>[a-z]\w+))?"
)
_PRONOUNS = frozenset("it its he his she her hers him they them their this these".split())
_SAYS_NO_KIND = frozenset(
    """
    new old little small big large same own main other extra spare free current several many multiple various different
    single total overall average typical usual normal default exact whole entire first last next previous
    maximum minimum best worst biggest cheapest earliest fastest highest largest latest longest lowest nearest newest
    oldest shortest slowest smallest
    """.split()
)
_ARTICLES, _PREPOSITIONS = frozenset("the a an our your".split()), frozenset("for of to in on at from".split())
_TOKEN = re.compile(r"\w+(?:['’]\w+)*(?:[.,]\d+)*")
_AMBIGUOUS = frozenset("a am an as at be in is it me no of on or so t was".split())
"""Words of English that are words of German, Dutch, French, Spanish or Italian as well."""
_ENGLISH_ALONE = (STOP_WORDS | QUESTION_WORDS) - _AMBIGUOUS
_ASK_ELSEWHERE = frozenset(
    """
    wo woher wohin wie was wann wer wen wem warum wieso welche welchen welcher welches où quand qui quel quelle combien
    comment pourquoi dónde donde cuándo cuando quién quien cómo como cuánto cuanto cuál qué dove quando chi quanto quale
    perché waar wanneer hoe waarom welk welke
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
    return _ENGLISH_ALONE.isdisjoint(words(question)) and not _ASK_ELSEWHERE.isdisjoint(
        re.findall(r"\w+", question.lower())
    )


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

    That is so where no chunk has its word, or a word of its stem, but several kinds. Of parental leave a section on
    sick leave tells nothing, where "parents" are spoken of.
    """
    known = _known(chunks)
    spelled = frozenset(word for chunk in chunks for word in words(f"{chunk.headings}\n{chunk.text}"))
    for word, noun in pairwise(tokens_of(POSSESSIVE.sub("", question))):
        if not (is_content(word) and is_content(noun)) or is_number(word) or noun.isdigit() or word in spelled:
            continue
        if word in _SAYS_NO_KIND or word.endswith(("ed", "ly")) or "per" in (word, noun):  # "newly added", "per month"
            continue
        headed = {at: _words_before(noun, chunk.section or "") for at, chunk in enumerate(chunks)}
        kinds = {
            (at, n): headed[at] or _words_before(noun, sentence) or _key_of(noun, chunk, n)
            for at, chunk in enumerate(chunks)
            for n, sentence in enumerate(chunk.sentences)
        }
        unknown = word not in known and stem(word) not in known
        several = unknown and len(frozenset[str]().union(*kinds.values())) > 1
        yield from (place for place, some in kinds.items() if some and (several or headed[place[0]]))


def of_unknown_name(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places of sections that are alike and below names, where *question* has a name that no chunk has."""
    _, *tokens = _TOKEN.findall(question) or [""]
    known = _known(chunks)
    names = [token.lower() for token in tokens if token[0].isupper() and is_content(token.lower())]
    if all(stem(name) in known for name in names):
        return
    headings = [chunk.section or chunk.title for chunk in chunks]
    named = [at for at, text in enumerate(headings) if all(token[0].isupper() for token in _TOKEN.findall(text))]
    for one, other in permutations(named, 2):
        if headings[one] != headings[other] and are_alike(chunks[one], chunks[other]):
            yield from ((one, n) for n in range(len(chunks[one].spans)))


def _known(chunks: Sequence[Chunk]) -> frozenset[str]:
    return frozenset[str]().union(*(vocabulary(f"{chunk.headings}\n{chunk.text}") for chunk in chunks))


def _key_of(noun: str, chunk: Chunk, n: int) -> frozenset[str]:
    """Return the stems of the first cell of row *n*, where *noun* names its column."""
    header = table_header(chunk, n)
    names = stems(cells(chunk.sentences[header[0]])[0]) if header else ()
    return content(cells(chunk.sentences[n])[0]) if stem(noun) in names else frozenset()


def _words_before(noun: str, text: str) -> frozenset[str]:
    """Return the content words that stand before *noun* in *text*."""
    pairs = pairwise(tokens_of(text))
    return frozenset(one for one, two in pairs if stem(two) == stem(noun) and is_content(one)) - _SAYS_NO_KIND


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


def _complements(text: str) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    """Yield ((thing, preposition), the words after "the") for each complement in *text*, as stems."""
    tokens = tokens_of(text)
    for at, (thing, link, article) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        if is_content(thing) and link in _PREPOSITIONS and article == "the":
            yield (stem(thing), link), tuple(map(stem, takewhile(is_content, tokens[at + 3 :])))


def _differing(mine: Sequence[str], theirs: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return both without what they end with alike: "(bus to the) castle leave" and "lake leaves"."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine[::-1], theirs[::-1], strict=False)))
    return mine[: len(mine) - same], theirs[: len(theirs) - same]
