"""The passages' sentences beside a model's."""

from answering.evidence.beside import of_other_chunks
from answering.types import CitedSentence, Source


def test_a_second_passage_is_told_from_the_first() -> None:
    """What is copied from the chunks of the best sentence is left out, and what is copied from none."""
    best, further, second = (
        CitedSentence(text, (Source((chunk,), len(text), (0, len(text))),))
        for text, chunk in (("Open at nine.", 0), ("Closed on Monday.", 0), ("Open at ten in winter.", 2))
    )
    note = CitedSentence("Two rows match:")
    assert of_other_chunks([note, best, further, second], [best]) == [second]
