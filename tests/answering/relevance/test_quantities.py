"""Amounts: what is asked for in a weight, a length, a temperature or money is answered by one of these."""

import pytest

from answering.relevance.possible_answers import possible_answers
from answering.text.sentences import sentence_spans
from answering.types import Chunk


def can_answer(question: str, text: str) -> bool:
    return possible_answers(question, Chunk("c", "d", "", text, spans=sentence_spans(text)))[-1]


@pytest.mark.parametrize(
    ("question", "answers", "other"),
    [
        ("How heavy is the anvil?", "The anvil weighs 65 kg.", "The anvil is 40 cm long."),
        ("How many kilograms may the lift carry?", "It may carry 320 kilograms.", "It may carry four people."),
        ("How many grams does the tag weigh?", "The tag weighs 32 g.", "The tag is 85 mm long."),
        ("What is the default amount of the tip?", "The tip is 15 %.", "The tip may be changed or removed."),
        ("After how long does it time out?", "It is an hour again.", "It has an alarm."),
        ("How wide is the gate?", "The gate is 2.4 m wide.", "The gate has two wings."),
        ("How tall is the mast?", "The mast is 30' tall.", "The mast was built in 1998."),
        ("How hot may the oven get?", "It may get 250 °C.", "It has 4 shelves."),
        ("How much does a day ticket cost?", "A day ticket is 7.50.", "A day ticket is valid for 24 hours."),
        ("What does a stall cost?", "A stall costs eight pounds.", "A stall has eight hooks."),
        ("What is the price of a locker?", "A locker is free of charge.", "There are 40 lockers."),
        ("How long is the ferry ride?", "The ride takes 35 minutes.", "The ferry leaves from slip 2."),
        ("What is the code of the safe?", "The safe opens with 4471.", "The card lies in the safe on floor 5."),
        ("What's the phone number of the kiosk?", "The kiosk is on 555 0148.", "Kiosk 2 has no phone."),
        ("How many mornings does Aled present?", "He presents on three mornings.", "06:00 Porridge: Studio 1"),
        ("How many tickets are sold?", "Sold are 300 tickets at four counters.", "Tickets are sold at four counters."),
        ("Lost keys are reported within how many hours?", "They are reported within 24 hours.", "They are keys."),
        ("How many beds are there?", "There are beds for 40 in two halls.", "The beds stand in two halls."),
        ("How many people fit into the boat?", "Seats 6", "The boat is called Heron 6."),
        ("How many shareholders has the firm?", "The firm has twelve of them.", "A director needs 75 % of the votes."),
        ("How many members may vote?", "Up to 40 members may vote.", "Members pay 12 euros within 5 days."),
        ("How many of the members voted?", "Some 60 % of them voted.", "They voted within 14 days."),
        ("How many dollars is the annual fee?", "The annual fee is $40.", "Apply and pay the annual fee."),
        ("How many euros is the deposit?", "The deposit is 50 EUR.", "The deposit is for 2 nights."),
        ("What does a partner pay for a seat?", "Partners pay 200 euros a seat.", "Partners get a seat for a fee."),
        ("What did the roof cost?", "The roof cost £4,200.", "The roof was mended in 2019."),
        ("What percentage is the tip preset to?", "It is preset to 15%.", "The tip is preset, and $0 removes it."),
        ("Which percentage is paid back?", "Half of the fee is paid back.", "It is paid back within 10 days."),
        ("What is the largest file size?", "Pictures may have up to 2 MB.", "A post has 500 to 700 words."),
        ("How much disk space is needed?", "The model takes 90 MB.", "The model was made in 2021."),
        ("How much memory does it need?", "The server needs at least 512 M.", "It needs 2 minutes to start."),
        ("What's the phone number of the warden?", "Ring him on 030 123456.", "He has been here since 2012."),
        ("What is the phone number for fires?", "In case of fire dial 112.", "Fires are rare: 4 in 2023."),
        ("What does a tonne cost?", "A tonne is 312.50 a delivery.", "A tonne needs a space of 1.54 m³ and 3.25 kg."),
        ("How much does an alarm cost?", "An alarm costs 90 cents.", "An alarm is 8 per cent on the contents."),
        ("How old must I be to join?", "Members are 18 or older, aged 21 to vote.", "You leave after 12 months."),
        ("How old must I be to rent a car?", "To rent a car you must be 21 or older.", "Cars have 5 seats."),
        ("What is the minimum age of a driver?", "Drivers are at least 21.", "A driver has 2 keys."),
        ("What is the minimum age of a renter?", "Renters are at least 25 years old.", "The minimum rent is 2 days."),
        ("What amount is paid back?", "Up to 30 euros are paid back.", "Meals are paid back on request."),
    ],
)
def test_an_amount_is_of_what_is_asked_for(question: str, answers: str, other: str) -> None:
    """A number of something else does not answer, whatever the words around it."""
    assert can_answer(question, answers)
    assert not can_answer(question, other)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("How much space is there between the trees?", "The trees stand four metres apart."),
        ("How much storage is there in the cellar?", "The cellar has 12 square metres of shelves."),
        ("What does the warden pay attention to?", "The warden looks at shoes and stoves."),
        ("What does the fee pay for?", "The fee pays for heating and towels."),
        ("What mobile phones does the app run on?", "The app runs on Android."),
    ],
)
def test_what_only_sounds_like_an_amount_is_answered_without(question: str, answers: str) -> None:
    """Room is no memory, attention no money, and a phone no number."""
    assert can_answer(question, answers)


def test_a_row_may_have_its_unit_in_the_header() -> None:
    """A bare number in a table can answer."""
    assert can_answer("How heavy is the anvil?", "| Tool | kg |\n| Anvil | 65 |")


@pytest.mark.parametrize(
    ("question", "table", "can"),
    [
        ("How much does a TK-31 toner cost?", "| Printer | Toner | Yield |\n| P1 | TK-31 | 12,500 |", set()),
        ("How much does a TK-31 toner cost?", "| Toner | Price |\n| TK-31 | 48 |", {1}),
        ("What does the sauna cost for adults?", "| Visit | Adult | Child |\n| Sauna | 12 | 8 |", {1}),
        ("What is the fee for a dog licence?", "| Licence | SEK |\n| dog licence | 390 |", {1}),
        ("What does the kit cost for guests?", "| Kit | Members | Guests |\n| Lino kit | 14.30 | – |", set()),
        ("How many beds has the Larch lodge?", "| Lodge | Beds |\n| Larch | 9 |\n| Birch | |", {1}),
    ],
)
def test_a_row_has_the_price_that_is_asked_for(question: str, table: str, can: set[int]) -> None:
    """Its table names prices, and the cell is filled; a number of something else, or an empty cell, is none."""
    chunk = Chunk("c", "d", "", table, spans=sentence_spans(table))
    assert {n for n, possible in enumerate(possible_answers(question, chunk)) if possible} == can
