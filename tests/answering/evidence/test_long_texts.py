"""Very long texts, of a model that repeats itself or without one full stop, are checked in bounded time.

What took the square of a text's length or more would run into the time limit of these tests by far: each took between
half a minute and hours at this length.
"""

from __future__ import annotations

import asyncio

import pytest

from answering.evidence.attribution import MAX_CLAIM
from answering.evidence.verify import VerifiedSentence
from answering.markers.marked_text import MarkerStream
from answering.text.sentences import sentence_spans
from answering.types import Chunk
from tests.support.verifying import quotes_of, removed, supports, verified

pytestmark = pytest.mark.timeout(40)

LENGTH = 60_000
PUMP = "The Alpha pump by Fox delivers 40 litres per minute."


def chunk(text: str) -> Chunk:
    return Chunk("c#1", "c", "Alpha Guide", text, source="alpha.pdf", spans=sentence_spans(text))


def filled(unit: str) -> str:
    return (unit * (LENGTH // len(unit) + 1))[:LENGTH]


@pytest.mark.parametrize("reply", [f"Sources: {'1' * 5000}", f"{PUMP} [1]\n- {'7' * 5000}", f"{PUMP} [{'1' * 290}]"])
async def test_a_number_of_any_length_names_nothing(reply: str) -> None:
    """A number that Python refuses to read, in brackets or in a list of sources, is a number that names no chunk."""
    cited = await cite(reply, [chunk(PUMP)])
    assert len(quotes_of(cited)) <= 1


async def cite(reply: str, chunks: list[Chunk], *, attribute: bool = False) -> list[VerifiedSentence]:
    return await verified(reply, chunks, attribute=attribute)


UNITS = [
    "x",
    "X",
    "Xx ",
    "Xx the ",
    "X-",
    "no ",
    "if the ",
    "all ",
    "say ",
    "1 ",
    "five hundred ",
    "hundred ",
    "5 km ",
    "rose ",
    "[^1]: ",
    "1",
    "Chunk 1 ",
    "if pump, hall, ",
]


@pytest.mark.parametrize("unit", UNITS)
async def test_a_document_of_one_word_again_and_again_is_held_against_a_claim(unit: str) -> None:
    """A chunk with a run of 60,000 characters still supports what it says, and not what it does not say."""
    given = chunk(f"{PUMP} The Beta pump {filled(unit)} delivers 50 litres by Zed Quux.")
    cited = await cite(f"{PUMP[:-1]} [1]. The Gamma pump of Zed Quux never delivers 50 litres [1].", [given])
    quotes = [quote.text for quote in quotes_of(cited)]
    assert quotes == [PUMP]


@pytest.mark.parametrize("unit", [*UNITS, "a. ", "`x`. ", "x [1] ", "(a) ", "|x|\n", "1. \n"])
async def test_a_reply_of_one_word_again_and_again_is_read_to_its_end(unit: str) -> None:
    """A reply with a run of 60,000 characters loses no sentence that is true, whatever stands around it."""
    cited = await cite(f"{PUMP} [1]\n\n{filled(unit)}\n\nThe Alpha pump {filled(unit)} delivers [1].", [chunk(PUMP)])
    quotes = {quote.text for quote in quotes_of(cited)}
    assert quotes == {PUMP}


async def test_the_end_of_a_claim_without_end_is_no_claim_of_its_own() -> None:
    """A sentence that takes back at its beginning what it says at its end is not cut between the two."""
    lie = "It is a lie and was never true that "
    for filling in range(4_500, 30_000, 1_700):
        reply = f"{lie}{('and null_writer ever saw it ' * 2_000)[:filling]} {PUMP[:-1].replace('The', 'the')} [1]."
        cited = await cite(reply, [chunk(PUMP)])
        assert quotes_of(cited) == []


def test_a_long_paragraph_keeps_its_quotations_and_its_words() -> None:
    """Nine thousand characters are cut as a tenth of them is; a text without a full stop is cut in no word."""
    reported = 'He said "It is one. It is two. It is three." and then he left the hall. The pump is red. '
    assert len(sentence_spans(reported * 100)) == 10 * len(sentence_spans(reported * 10))
    words = ", ".join(f"word{n}" for n in range(3_000))
    assert [words[start:end] for start, end in sentence_spans(words)] == [words]


@pytest.mark.parametrize("stub", ["1.", "12.", "-", "- ", "##", "```", "~~~ x"])
async def test_a_draft_cut_off_behind_a_stub_is_cited(stub: str) -> None:
    """Where the last sentence is truncated, a list sign before it goes too, and what is left keeps its citation."""
    cited = await verified(f"{PUMP[:-1]} [1].\n{stub}\n\nThe valve is", [chunk(PUMP)], truncated=True)
    assert [quote.text for quote in quotes_of(cited)] == [PUMP]
    assert "valve" not in "".join(sentence.text for sentence in cited)


async def test_a_claim_longer_than_any_sentence_is_not_supported() -> None:
    """A sentence past ``MAX_CLAIM`` is reported as unsupported even if its every word is in the chunk."""
    long = f"The Alpha pump {'delivers and ' * (MAX_CLAIM // 13 + 1)}delivers 40 litres per minute"
    cited = await cite(f"{long} [1].", [chunk(PUMP)])
    assert quotes_of(cited) == []
    assert len(removed(cited)) == 1
    assert supports(cited) == [0.0]


async def test_others_get_their_turn_while_a_long_answer_is_checked() -> None:
    """A hundred claims over a large chunk are checked in stretches: another task runs in between."""
    given = chunk(" ".join(f"Pump {n} of hall {n % 7} delivers {n * 3} litres each minute." for n in range(1500)))
    reply = " ".join(f"Pump {n} in hall {n % 7} gives about {n * 3} litres a minute [1]." for n in range(100))
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    beside = asyncio.create_task(other())
    await asyncio.sleep(0)
    before = turns
    await cite(reply, [given])
    beside.cancel()
    assert turns > before + 1


async def test_a_deadline_ends_the_checking_of_a_long_answer() -> None:
    """Past its time limit the check raises an error and stops."""
    given = chunk(" ".join(f"Pump {n} of hall {n % 7} delivers {n * 3} litres each minute." for n in range(1500)))
    reply = " ".join(f"Pump {n} in hall {n % 7} gives about {n * 3} litres a minute [1]." for n in range(3000))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await cite(reply, [given])


@pytest.mark.parametrize("unit", ["[", "【", "[[", "[1", "~", "`", "[1, ", "x"])
def test_a_stream_of_brackets_goes_on(unit: str) -> None:
    """60,000 characters that never close a bracket come out as they came, but for what waits at the end."""
    live = MarkerStream([chunk(PUMP)])
    text = filled(unit)
    shown = "".join([*(live.feed(text[at : at + 29]) for at in range(0, LENGTH, 29)), live.close()])
    assert text.startswith(shown[:-1])
    assert len(shown) > LENGTH - 400


@pytest.mark.parametrize("text", [" " * LENGTH + "x", "\t" * LENGTH + "x", "\tx" * LENGTH + "\t", "| " * LENGTH + "x"])
def test_white_space_and_tabs_do_not_hold_up_the_sentences(text: str) -> None:
    """A line that opens with 60,000 blanks, or has as many columns, is cut into sentences that hold all its words."""
    assert "".join(text[start:end] for start, end in sentence_spans(text)).count("x") == text.count("x")
