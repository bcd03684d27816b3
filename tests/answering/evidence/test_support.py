"""Evidence: the right stretch of the chunk, verbatim, and a score that means something."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.evidence.edits import edit_of
from answering.evidence.support import CONTRADICTED, SUPPORT_BAR, quotes, supported
from answering.text.amounts import unmatched
from answering.text.sentences import sentence_spans
from answering.text.verbatim import verbatim_spans
from answering.types import Chunk
from app.providers.rerank.reader import OnnxReader
from tests.support.verifying import quotes_of, verified

TEXT = (
    "The Alpha pump holds 40 litres. It was built in Leeds in 1998. The warranty lasts two years and does not cover "
    "batteries. If the tank is full, the alarm sounds. In 1942 the shed had 42 rooms. The shed has\n42 doors."
)


def chunk(text: str = TEXT, title: str = "Pumps") -> Chunk:
    return Chunk("c#1", "c", title, text, spans=sentence_spans(text))


def support(sentence: str, text: str = TEXT, given: tuple[str, ...] = ()) -> float:
    return max((supported(quote, None) for quote in quotes(sentence, chunk(text), given)), default=0.0)


@pytest.fixture(scope="module")
def reader() -> Iterator[OnnxReader]:
    reader = OnnxReader()
    yield reader
    reader.close()


async def read_support(reader: OnnxReader, sentence: str, text: str = TEXT) -> float:
    """The support of *sentence* with what the shipped reader says."""
    (quote,) = quotes(sentence, chunk(text))
    read = await reader.support(sentence, quote.passage) if quote.passage else None
    return supported(quote, read)


@pytest.mark.parametrize("sentence", [TEXT[s:e] for s, e in sentence_spans(TEXT)])
def test_a_verbatim_sentence_has_full_support(sentence: str) -> None:
    """A sentence of the chunk, whatever the case of its first letter, has support 1, and its quote is that sentence."""
    (quote,) = quotes(sentence, chunk())
    assert (quote.text, supported(quote, None)) == (sentence, 1.0)
    assert support(" ".join(sentence.split()).rstrip(".")) == 1.0
    assert support(sentence[0].lower() + sentence[1:]) == 1.0


@pytest.mark.parametrize(
    "sentence",
    [
        "The Alpha pump holds 50 litres.",
        "The Beta pump holds 40 litres.",
        "The warranty covers batteries.",
        "The warranty lasts three years.",
        "The pump was built in York in 1998.",
        "The alarm sounds.",
    ],
)
def test_a_changed_fact_is_below_the_bar(sentence: str) -> None:
    """A changed number, name or denial, or a lost condition, is below the bar whatever else is the same."""
    assert support(sentence) <= CONTRADICTED < SUPPORT_BAR


@pytest.mark.parametrize(
    "sentence",
    [
        "Alpha pumps hold 40 litres.",
        "Batteries are not covered by the warranty.",
        "The warranty lasts 2 years.",
        "The Alpha pump was built in Leeds in 1998.",
        "When the tank is full, the alarm sounds.",
    ],
)
async def test_a_light_paraphrase_is_above_the_bar(reader: OnnxReader, sentence: str) -> None:
    """The same fact in other words, numbers and order keeps its citation."""
    assert await read_support(reader, sentence) >= SUPPORT_BAR


async def test_the_reader_tells_what_words_do_not(reader: OnnxReader) -> None:
    """A true retelling with few words in common has more support than a false one with the same words."""
    text = "Staff who work on a public holiday get a day off in return. The day must be taken within three months."
    true = await read_support(reader, "If you work on a holiday, you are given another free day.", text)
    false = await read_support(reader, "If you work on a holiday, you are paid twice as much.", text)
    assert true > SUPPORT_BAR > false


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("A delivery takes up to 5 working days.", True),
        ("A delivery takes at least 3 working days.", True),
        ("A delivery takes 3 days.", False),
        ("A delivery takes 5 working days.", False),
        ("The office is open until 17:00.", True),
        ("The office is open until 9:00.", False),
    ],
)
async def test_one_end_of_a_range_is_its_bound_and_nothing_more(reader: OnnxReader, sentence: str, kept: bool) -> None:
    """A bound is read as the whole range; one end alone is another amount."""
    text = "A delivery takes 3 to 5 working days within the country. The office is open from 9:00 to 17:00."
    sentences = await verified(sentence, [chunk(text, "Orders")], reader=reader, attribute=True)
    assert bool(quotes_of(sentences)) == kept


async def test_nothing_read_saves_a_contradiction(reader: OnnxReader) -> None:
    """Whatever the reader says, a changed amount stays below the bar."""
    (quote,) = quotes("The Alpha pump holds 50 litres.", chunk())
    assert quote.contradiction == "amount"
    assert await read_support(reader, "The Alpha pump holds 50 litres.") <= CONTRADICTED


def test_a_name_spelled_like_an_ordinary_word_is_a_name() -> None:
    """A word with a capital inside a sentence is a name that the chunk must have, also where it is a stop word."""
    text = "Questions about payslips go to HR. Robin answers them within a week."
    for claim, contradiction in (
        ("Questions about payslips go to IT.", "name"),
        ("Within a week you get an answer from Will.", "name"),
        ("Within a week you get an answer from Robin.", None),
        ("You ask HR, And Robin answers.", None),
    ):
        (quote,) = quotes(claim, chunk(f"{text} Bring your card and wait."))
        assert quote.contradiction == contradiction, claim


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("It costs 5 percent.", "It costs 5%."),
        ("There are 1000 seats.", "There are one thousand seats."),
        ("It costs $1,000.50.", "It costs 1000.5 dollars."),
        ("Half an hour is allowed.", "A 30-minute break is allowed."),
        ("It is due within two days.", "It is due within 48 hours."),
        ("It ends on 17 October 2025.", "| October 17, 2025 | end |"),
        ("It ends on 3 May 2020.", "It ends on 2020-05-03."),
        ("It takes a year.", "It takes twelve months."),
        ("It takes three months.", "It takes 90 days."),
        ("It takes 52 weeks.", "It takes a year."),
        ("It must be used within one year.", "Use it within a year of the birth."),
        ("You work five eight-hour days a week.", "You work 8 hours a day, 5 days a week."),
        ("It is 200,500 hours.", "Two hundred thousand five hundred hours."),
        ("Twenty-five thousand one hundred and five came.", "25,105 came."),
        ("One of them, in the first place, may march on.", "They march."),
        ("Version 2.0.1 has it.", "v2.0.1 has it."),
        ("It holds 2 GB.", "It holds 2000 MB."),
        ("Keep it at minus 18 degrees.", "Keep it at –18 °."),
        ("It opens at 9 am.", "It opens at 9:00."),
        ("The two radios share a number.", "Both radios share this number."),
        ("Wear two gloves.", "Wear a pair of gloves."),
        ("It takes two days.", "It takes a couple of days."),
        ("It is read every three months.", "The meter is read quarterly."),
        ("It takes two weeks.", "It takes a fortnight."),
        ("Print on the two sides.", "Print double-sided."),
        ("It closes at 5 p.m.", "It closes at 17:00."),
        ("It closes at 8:30 PM.", "It closes at 20:30."),
        ("It closes at 8.", "It closes at 8 pm."),
        ("Keep it below 20 degrees Celsius.", "Keep it below 20 °C."),
        ("The grant is $5M.", "The grant is $5 million."),
        ("It costs 5 pounds.", "It costs £5."),
        ("It is emptied two times a week.", "It is emptied twice a week."),
        ("It is due on the 1st of a month.", "It is due on the first of a month."),
        ("Sales were €5bn.", "Sales were 5 billion euros."),
    ],
)
def test_an_amount_has_one_value(claim: str, text: str) -> None:
    """An amount is the same in digits and words, in one unit and another of its kind, and in any order of a date."""
    assert not unmatched(claim, [text])


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The tank holds 50 litres.", "The tank holds 40 litres."),
        ("It began in June 2020.", "It began in July 2020."),
        ("It is 5 miles away.", "It is 5 km away."),
        ("It costs 5 euros.", "It costs $5."),
        ("It takes three days.", "It takes three weeks."),
        ("It takes three months.", "It takes 60 days."),
        ("Half of them came.", "A quarter of them came."),
        ("It takes one hour.", "It takes half an hour."),
        ("Store it at 20 degrees.", "Store it at -20 degrees."),
        ("Store it at −5 degrees.", "Store it at (5 degrees)."),
        ("It opens at 8 am.", "It opens at 8 pm."),
        ("It closes at 9:15.", "It closes at 9:45."),
        ("Store it at 20 °C.", "Store it at 20 °F."),
        ("The grant is $5M.", "The grant is $5 billion."),
    ],
)
def test_another_amount_is_seen(claim: str, text: str) -> None:
    """Another number, month, unit or half of the day is another amount."""
    assert unmatched(claim, [text])


@pytest.mark.parametrize(
    ("claim", "quote", "expected"),
    [
        ("The warranty covers batteries.", "The warranty does not cover batteries.", "denial"),
        ("The warranty does not cover batteries.", "The warranty covers batteries.", "denial"),
        ("Rinse it before drying.", "Rinse it after drying.", "opposite"),
        ("The alarm sounds.", "If the tank is full, the alarm sounds.", "condition"),
        ("The alarm would sound.", "If the tank is full, the alarm would sound.", None),
        ("The pump, which is red, is quick.", "The pump, which is red, is not only quick.", None),
        ("Guests pay four euros.", "Guests, no matter how old, pay four euros.", None),
        ("All staff may book rooms.", "Not all staff may book rooms.", "denial"),
        ("Staff may book the rooms.", "No staff may book the rooms.", "denial"),
        ("The rooms are heated.", "None of the rooms are heated.", "denial"),
        ("The client supports Python 3.8.", "The client no longer supports Python 3.8.", "denial"),
        ("Upload more than five files.", "Upload no more than five files.", "denial"),
        ("The portal is only for guests.", "The portal is not only for guests.", "denial"),
        ("Wait no longer than an hour.", "You wait no longer than an hour.", None),
        ("Staff may enter.", "Neither staff nor contractors may enter.", "denial"),
        ("Guests may cook here.", "Guests may neither smoke nor cook here.", "denial"),
        ("Guests may not cook here.", "Guests may neither smoke nor cook here.", None),
        ("The deposit is refunded.", "The deposit is refunded until the day before arrival.", "condition"),
        ("Refunds come with interest.", "Refunds come with interest if the course is cancelled.", "condition"),
        ("Press the up key.", "To repeat the last command, press the up key.", None),
        ("Lunch is free.", "Answer that lunch is free.", "order"),
        ("No receipt is needed for taxis.", "Do not hand in receipts, but a note: for taxis.", None),
        ("The pump is red.", "The pump is red.", None),
    ],
)
def test_a_near_copy_shows_its_edit(claim: str, quote: str, expected: str | None) -> None:
    """A near copy with a denial, an opposite or a lost condition is seen."""
    assert edit_of(claim, quote) == expected


def test_a_fragment_is_whole_words_of_the_right_place() -> None:
    """A short answer is found as whole words only, where the question is about."""
    assert [TEXT[s:e] for s, e in verbatim_spans("has 42 doors", TEXT)] == ["has\n42 doors"]
    assert list(verbatim_spans("94", TEXT)) == []
    assert quotes("42", chunk(), question_terms=("door", "shed"))[0].text == "The shed has\n42 doors."
    assert quotes("42", chunk(), question_terms=("room", "shed"))[0].text == "In 1942 the shed had 42 rooms."


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("The valve is closed.", "Do not assume that the valve is closed."),
        ("Contractors may enter.", "Neither staff nor contractors may enter."),
        ("Adults pay 10 euros for a day ticket.", "Adults pay 20 euros for a day ticket. Children pay 10 euros."),
        ("Members pay 9 euros a visit.", "Members pay 5 euros a visit. Guests pay 9 euros a visit."),
        ("Members pay five euros a visit.", "Non-members pay five euros a visit."),
    ],
)
def test_a_copy_takes_nothing_from_around_it(sentence: str, text: str) -> None:
    """Words that are denied before they begin, and a copy with the number of the next sentence, are refused."""
    assert support(sentence, text) <= CONTRADICTED


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Guide dogs may enter the café.", "Pets are not allowed indoors but guide dogs may enter the café."),
        ("Visitors bring their own towels.", "It has no changing rooms and visitors bring their own towels."),
        ("Bags of more than 10 kg cost 5 euros.", "No more than 10 kg is free; bags of more than 10 kg cost 5 euros."),
        ("Ask Mr O'Brien before lunch.", "Ask Mr O’Brien before lunch."),
    ],
)
def test_a_copy_of_a_clause_is_kept(sentence: str, text: str) -> None:
    """A denial of another clause, and another apostrophe, take nothing from a copy."""
    assert support(sentence, text) >= SUPPORT_BAR


def test_part_of_a_sentence_is_read() -> None:
    """Words from within a sentence may have another subject there, so they are read; a whole sentence need not be."""
    text = "Children of employees are insured for free, and the gym is open to all of them."
    parts = "Employees are insured for free", text.partition(",")[0], text
    assert [quote.verbatim for part in parts for quote in quotes(part, chunk(text))] == [False, False, True]


def test_a_number_of_the_question_is_no_evidence_of_a_copy() -> None:
    """A copy whose number stands in the question alone is refused; in other words, the reader decides."""
    text = "The upload limit for each file is 20 MB in the web form."
    assert support("The upload limit for each file is 50 MB in the web form.", text, ("50", "mb")) <= CONTRADICTED


def test_a_short_fragment_is_read_with_its_question() -> None:
    """A few words of a sentence may answer another question, so they are read; a whole sentence is not."""
    text = "The notice period is 60 days. The trial period lasts 30 days."
    (fragment,), (whole,) = quotes("30 days", chunk(text)), quotes("The notice period is 60 days.", chunk(text))
    assert (fragment.verbatim, whole.verbatim) == (False, True)
    assert supported(fragment, -6.0) < SUPPORT_BAR < supported(fragment, 3.0)


def test_two_neighbours_may_carry_one_sentence() -> None:
    """A sentence that joins two neighbours of the chunk is quoted with both."""
    (best, *_) = quotes("The Alpha pump, which holds 40 litres, was built in Leeds.", chunk())
    assert best.text == "The Alpha pump holds 40 litres. It was built in Leeds in 1998."
    assert best.contradiction is None


def test_nothing_supports_nothing() -> None:
    """A chunk or a sentence without words has no quote."""
    assert quotes("!?", chunk()) == quotes("It is.", chunk("—")) == []


@given(st.text(max_size=80), st.text(max_size=200))
def test_every_quote_stands_in_its_chunk(sentence: str, text: str) -> None:
    """Whatever the texts, every quote is exactly the chunk's text at its offsets, and support is in [0, 1]."""
    for quote in quotes(sentence, chunk(text, title="")):
        assert quote.text == text[quote.start : quote.end]
        assert 0.0 <= supported(quote, None) <= 1.0
        assert 0.0 <= supported(quote, 3.0) <= 1.0
