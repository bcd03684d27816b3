"""Tell what an e-mail quotes of an earlier message, where its reply tells of the same."""

from collections.abc import Iterator, Sequence

from answering.text.terms import question_stems, stem, words
from answering.types import Chunk

QUOTED = "Quoted from an earlier message"
"""The beginning of a heading above what an e-mail quotes, as it is ingested."""
_CORRECTS = frozenset(map(stem, "now instead changed moved longer correction sorry raised lowered".split()))
"""Words of a reply that says that something is no longer as it was."""
_PRONOUNS = frozenset("it they this that".split())


def of_earlier_message(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places, chunk and sentence, that an e-mail quotes, if a sentence of its reply tells of *question* too.

    It has half of the question's words, or corrects: "It is 310 euros now" counts, and not the 250 that it answers.
    """
    asked = frozenset(question_stems(question))
    quoted = {at for at, chunk in enumerate(chunks) if (chunk.section or "").startswith(QUOTED)}
    replied = {
        chunk.document_id
        for at, chunk in enumerate(chunks if quoted else ())
        if at not in quoted and any(_tells(asked, text) for text in chunk.sentences)
    }
    for at in sorted(quoted):
        if chunks[at].document_id in replied:
            yield from ((at, n) for n in range(len(chunks[at].spans)))


def _tells(asked: frozenset[str], sentence: str) -> bool:
    """Whether *sentence* has half of the words *asked*, or corrects something that it has a word or a pronoun of."""
    said = words(sentence)
    shared = asked.intersection(map(stem, said))
    refers = bool(shared) or not _PRONOUNS.isdisjoint(said)
    return 2 * len(shared) >= len(asked) > 0 or (refers and not _CORRECTS.isdisjoint(map(stem, said)))
