"""A mere "yes" or "no" of an answer claims what the question asks."""

import pytest

from graph.citing.attribution import place_markers
from graph.citing.citations import parse
from graph.sentences import sentence_spans
from graph.state import Chunk

TEXT = "Badges are issued at the front desk. Passwords must not be shared with anyone."


@pytest.mark.parametrize(
    ("question", "kept"), [("Must passwords be shared with anyone?", True), ("Is it raining?", False)]
)
async def test_no_is_verified_with_its_question(question: str, kept: bool) -> None:
    """The citation of a bare "No" is kept where a sentence is about the question, and removed where none is."""
    chunk = Chunk("a#0", "a", "Security", TEXT, spans=sentence_spans(TEXT))
    cited = await place_markers(parse("No [1].", [chunk]), [chunk], reader=None, question=question)
    quotes = [quote.text for piece in cited.pieces if not isinstance(piece, str) for _, quote in piece]
    assert quotes == (["Passwords must not be shared with anyone."] if kept else [])
