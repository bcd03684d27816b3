"""What a claim is verified with: its question, where it needs it."""

import pytest

from graph.citing.attribution import place_markers
from graph.citing.citations import parse
from graph.evidence.claims import completed
from graph.evidence.edits import edit_of
from graph.sentences import sentence_spans
from graph.state import Chunk

TEXT = (
    "Badges are issued at the front desk. Passwords must not be shared with anyone. "
    "Laptops are handed out by the service team."
)


async def quoted(answer: str, question: str = "") -> list[str]:
    """The quotes that *answer* keeps."""
    chunk = Chunk("a#0", "a", "Security", TEXT, spans=sentence_spans(TEXT))
    cited = await place_markers(parse(answer, [chunk]), [chunk], reader=None, question=question)
    return [quote.text for piece in cited.pieces if not isinstance(piece, str) for _, quote in piece]


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("Must passwords be shared with anyone?", ["Passwords must not be shared with anyone."]),
        ("Is it raining?", []),
    ],
)
async def test_no_is_verified_with_its_question(question: str, quotes: list[str]) -> None:
    """The citation of a bare "No" is kept where a sentence is about the question, and removed where none is."""
    assert await quoted("No [1].", question) == quotes


@pytest.mark.parametrize(
    ("claim", "read"),
    [
        ("It expires in March.", "When does leave expire? It expires in March."),
        ("Yes.", "When does leave expire? Yes."),
        ("Items expire in March.", "Items expire in March."),
    ],
)
def test_a_pronoun_is_read_with_the_question(claim: str, read: str) -> None:
    """A claim that begins with a pronoun has the question before it; one that names its subject stands alone."""
    assert completed(claim, "When does leave expire?") == read
    assert completed(claim, "") == claim


def test_whether_or_not_denies_nothing() -> None:
    """ "Whether or not" in a quote is no denial that a copy dropped; a dropped "not" is one."""
    claim = "The server closes the connection over TLS."
    assert edit_of(claim, "The server closes the connection whether or not over TLS.") is None
    assert edit_of(claim, "The server does not close the connection over TLS.") == "denial"
