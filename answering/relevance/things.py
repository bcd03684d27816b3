"""Find the things that a question names, and tell sentences that are about others of the same passage.

"The walk to the village takes an hour" tells nothing of the walk to the river, where the passage speaks of a river too.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from answering.relevance.entities import is_of_other_version, names_another, of_others, opens_alike
from answering.relevance.named_things import LEAD, POSSESSIVE
from answering.text.blocks import before, row_with_column_names
from answering.text.context import antecedents, introduced_row, label_of, referred_to
from answering.text.terms import AUXILIARIES, coverage, is_content, question_stems, stem, stems, vocabulary, words
from answering.types import Chunk

MIN_SIMILARITY = 0.31
"""Cosine of a passage and its best sentence below which it is not read (``docs/relevance.md``, "Small files")."""
MAX_COMPARED = 20  # sentences below a label that are compared with those below another
FEW = 2
"""Content words of a question that hardly says more than a sentence which has all of them."""
SURE_MARGIN = 3.0
"""Logits over "none of them" from which the reader is believed about a sentence that lacks a thing.

Of five tried: ``docs/relevance.md``, "What a question names"."""
MAX_CONTENT = 4
"""Content words of the longest question whose things a sentence has to name; a longer one says some in passing.

As ``SURE_MARGIN``."""
MIN_TOKENS = 4  # of the shortest question that names a thing as a sentence does; key words are read as they stand
_TOKEN = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
ARTICLES = frozenset("the a an our your my their his her its this that these those any all each every no".split())
PREPOSITIONS = frozenset(
    "for of to in on at from with by about near after before during into under over between without per as".split()
)
_DO = frozenset("do does did".split())
_ASKING = frozenset("what which whose who whom where when why how many much often long far".split())
_ENGLISH = _ASKING | _DO | frozenset("are can could may must should the there were would".split())
"""Words of which a question in English has one: "was" and "is" are words of German and Dutch too."""
_IRREGULAR = frozenset(
    """
    bought bound bred brought built caught chosen done drawn driven eaten fed found given got grown held hung kept known
    laid led left lent lit lost made met paid put read run said seen sent set shown shut sold spent stood taken taught
    told thrown won worn written
    """.split()
)
"""Participles that do not end in "ed"."""
_NO_THINGS = frozenset(
    stem(word)
    for word in """
    add allow ask become bring call come cover default do find get give go happen have help keep kind know let like
    make mean need number part pay put say see seem send set show stop take tell thing try use want
    day hour minute month time week year morning noon afternoon evening
    """.split()
)
"""Verbs of every question, and what is asked of things ("at what time of day")."""
_ASKED_FOR = re.compile(r"w+ba([cC]+)(?=p[acC])")  # "What is the price of …"
_CAPITAL = re.compile(r"(?<=[^.!?\s] )[A-Z]\w+")  # opens no sentence
_NAME = re.compile(r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)+")


@lru_cache(maxsize=1 << 8)
def things_named(question: str) -> frozenset[str]:
    """Return the stems of the things that *question*, a whole sentence, names; not of what it asks of them.

    A thing is what follows an article, a preposition or an auxiliary, or has a capital letter; the verb after it is
    left out ("does the walk to the river take", "are the sheets kept").
    """
    tokens = _TOKEN.findall(question)
    tags = "".join(_tag(token, first=not n) for n, token in enumerate(tokens))
    is_english = not _ENGLISH.isdisjoint(token.lower() for token in tokens)
    if len(tokens) < MIN_TOKENS or not is_english or not re.match(r".{0,3}[wxb]", tags):
        return frozenset()
    asked_for = _ASKED_FOR.match(tags) if tokens[0].lower() in ("what", "which") else None
    do_verb = "x" in tags
    named: list[str] = []
    for run in re.finditer("[cC]+", tags):
        start, end = run.span()
        if asked_for and asked_for.start(1) == start:
            continue
        if tags[max(start - 1, 0)] not in "apxb":
            named += [token for token, tag in zip(tokens[start:end], run[0], strict=True) if tag == "C"]
            continue
        if do_verb and end - start > 1 and tokens[end : end + 1] != ["of"]:
            end, do_verb = end - 1, False
        while end > start and tags[end - 1] == "c" and _is_participle(tokens[end - 1].lower()):
            end -= 1
        named += tokens[start:end]
    return frozenset(stem for token in named for stem in stems(token)) - _NO_THINGS


def _tag(token: str, *, first: bool) -> str:
    """Return a letter for the class of *token*: w asks, x is "do", b an auxiliary, a an article, p a preposition.

    c is a content word, C one with a capital letter that is not the *first*, o any other.
    """
    word = token.lower()
    for tag, known in (("w", _ASKING), ("x", _DO), ("b", AUXILIARIES), ("a", ARTICLES), ("p", PREPOSITIONS)):
        if word in known:
            return tag
    if not is_content(word) or re.search("n['’]t$", word):
        return "o"
    return "C" if token[0].isupper() and not first else "c"


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR or word.endswith("ed")


def is_about_other_things(question: str, chunk: Chunk, n: int | None) -> bool:
    """Whether *chunk*, or its best sentence, *n*, is about another year, label, name or thing than *question* names.

    Where the reader is sure of a sentence it need not name all things.
    """
    year = chunk.dated.lstrip("~")[: len("2025")]
    text = "\n".join(filter(None, (chunk.title, chunk.section, chunk.text, year if year in question else "")))
    if names_another(question, text) or is_of_other_version(question, f"{chunk.chapter}\n{text}"):
        return True
    if n is None:
        return False
    if of_others(question, chunk)[n] or names_another(question, introduced_row(chunk, n)):
        return True
    if not chunk.reading:
        return False
    sentence = row_with_column_names(chunk, n)
    said = "\n".join([chunk.headings, sentence, *referred_to(chunk, n)])
    if _has_rival_name(question, sentence, said):
        return True
    unsure = chunk.reading.sentences[n] - chunk.reading.null < SURE_MARGIN
    return unsure and _lacks_thing(question, chunk, said)


def refers_to_another(question: str, chunk: Chunk, n: int) -> bool:
    """Whether a pronoun opens sentence *n* of a paragraph on another thing than the one of *chunk* that is asked for.

    Up to that sentence the paragraph does not name it. Of a long question names count alone.
    """
    if not antecedents(chunk, n):
        return False
    first = next(at for at in range(n, -1, -1) if not at or "\n\n" in before(chunk, at))
    said = "\n".join([chunk.headings, *chunk.sentences[first : n + 1]])
    names = {stem(word.lower()) for word in _CAPITAL.findall(question)} & things_named(question)
    return _lacks_thing(question, chunk, said) or _speaks_elsewhere(names, chunk, said)


def of_other_label(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places in items and paragraphs with another label than one that *question* has, if they are alike.

    "Jade Thread: a green tea. Steep for 4 minutes." tells nothing of Dragon Pearl, below whose label one steeps, too.
    """
    asked = frozenset(stems(question))
    records: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for at, chunk in enumerate(chunks):
        for n, text in enumerate(chunk.sentences):
            lead = LEAD.match(text)
            if label := label_of(chunk, n) or (lead[0] if lead else ""):
                records[chunk.document_id, label.strip()].append((at, n))
    named = {key for key in records if (name := stems(key[1])) and asked.issuperset(name)}
    for key, places in records.items() if named else ():
        texts = [chunks[at].sentences[n] for at, n in places[:MAX_COMPARED]]
        rivals = [chunks[at].sentences[n] for other in named if other[0] == key[0] for at, n in records[other]]
        if key not in named and any(opens_alike(text, rival) for text in texts for rival in rivals[:MAX_COMPARED]):
            yield from places


def _lacks_thing(question: str, chunk: Chunk, said: str) -> bool:
    """Whether *chunk* speaks of a thing that *question* names, and *said*, a sentence with its context, does not."""
    return len(question_stems(question)) <= MAX_CONTENT and _speaks_elsewhere(things_named(question), chunk, said)


def _speaks_elsewhere(things: Collection[str], chunk: Chunk, said: str) -> bool:
    """Whether *chunk* has one of *things* that *said* has not."""
    missing = [thing for thing in things if not coverage({thing: 1.0}, vocabulary(said))]
    elsewhere = vocabulary("\n".join(chunk.sentences)) if missing else frozenset()
    return any(coverage({thing: 1.0}, elsewhere) for thing in missing)


def _has_rival_name(question: str, sentence: str, said: str) -> bool:
    """Whether *question* names "Rupert Hale", and *sentence* a name that has one of its words at the same end.

    That is "Abigail Hale" or "Rupert Frome"; *said*, the sentence with its context, does not name the one asked for.
    """
    known, asked = frozenset(stems(said)), frozenset(stems(question))
    return any(
        not known.issuperset(map(stem, name))
        and not asked.issuperset(map(stem, rival))
        and (rival[0] == name[0] or rival[-1] == name[-1])
        for name in _names(question)
        for rival in _names(sentence)
    )


def _names(text: str) -> list[list[str]]:
    """Return the content words of each run of words with a capital letter in *text*, if they are two at least."""
    runs = _NAME.findall(POSSESSIVE.sub("", text))
    names = [[word for word in words(run) if is_content(word)] for run in runs]
    return [name for name in names if len(name) > 1]


def is_near(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* is read: near by a cosine, or with the few words of a brief *question*."""
    near = max(chunk.similarity, *chunk.span_similarities) >= MIN_SIMILARITY
    return near or _has_few_words(question, chunk)


def _has_few_words(question: str, chunk: Chunk) -> bool:
    """Whether one sentence of *chunk* has, with its section, all content words of *question*, at most ``FEW``."""
    asked, heading = frozenset(question_stems(question)), frozenset(stems(chunk.section or ""))
    if len(asked) > FEW or asked <= heading:
        return False
    return any(asked <= heading.union(stems(text)) for text in chunk.sentences)
