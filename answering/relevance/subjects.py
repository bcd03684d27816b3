"""Tell whether the documents speak at all of the kind, or the thing, that a question names."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from answering.relevance.named_things import content, tokens_of
from answering.text.blocks import cells, table_header
from answering.text.terms import is_content, stem, stems, vocabulary, words
from answering.types import Chunk

_ASKS_EXISTENCE = re.compile(
    r"\A\W*(?:(?:is|are|was|were) there|do (?:you|we|they) (?:have|offer|sell))\b(?: any| an?| some)? (?P<what>.+)",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(r"\W*(?:yes|no|sure|certainly|unfortunately|sorry|of course)\b", re.IGNORECASE)
_AFTER_NOUN = re.compile(
    r"\b(?:in|at|on|of|for|to|with|by|near|from|that|who|which|when|if|where)\b|[,;?.!]", re.IGNORECASE
)


def lacks_existing(question: str, chunk: Chunk, n: int) -> bool:
    """Whether *question* asks if there is something, which sentence *n*, a question it answers, and headings lack."""
    asks = _ASKS_EXISTENCE.match(question)
    if not asks:
        return False
    text = chunk.sentences[n]
    above = chunk.sentences[n - 1] if n and _YES_OR_NO.match(text) else ""
    said = [chunk.headings, above if above.endswith("?") else "", text]
    *_, noun = [word for word in words(_AFTER_NOUN.split(asks["what"])[0]) if is_content(word)] or [""]
    return bool(noun) and stem(noun) not in vocabulary("\n".join(said))


def of_unknown_kind(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places that are about others of a kind, where *question* names one that no chunk has.

    That is so where no chunk has its word, or a word of its stem, but several kinds. Of parental leave a section on
    sick leave tells nothing, where "parents" are spoken of.
    """
    known = frozenset[str]().union(*(vocabulary(f"{chunk.headings}\n{chunk.text}") for chunk in chunks))
    spelled = frozenset(word for chunk in chunks for word in words(f"{chunk.headings}\n{chunk.text}"))
    for word, noun in pairwise(tokens_of(question)):
        if not (is_content(word) and is_content(noun)) or word in spelled:
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


def _key_of(noun: str, chunk: Chunk, n: int) -> frozenset[str]:
    """Return the stems of the first cell of row *n*, where *noun* names its column."""
    header = table_header(chunk, n)
    names = stems(cells(chunk.sentences[header[0]])[0]) if header else ()
    return content(cells(chunk.sentences[n])[0]) if stem(noun) in names else frozenset()


def _words_before(noun: str, text: str) -> frozenset[str]:
    """Return the content words that stand before *noun* in *text*."""
    tokens = tokens_of(text)
    return frozenset(one for one, two in pairwise(tokens) if stem(two) == stem(noun) and is_content(one))
