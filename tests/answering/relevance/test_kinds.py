"""What is asked for: a sentence that answers has a time, a weekday, a version, a port or an address, if asked."""

import pytest

from answering.relevance.kinds import is_of_other_date, is_of_other_end, is_of_other_period
from answering.relevance.possible_answers import has_kind


@pytest.mark.parametrize(
    ("question", "answers", "other"),
    [
        ("On which day of the week is the market?", "The market is on Saturday.", "The market is in hall 3."),
        ("On which weekday is the bin emptied?", "It is emptied every Tuesday.", "It is emptied at 7 by the porter."),
        ("What is the default port of the server?", "The server listens on port 8080.", "The server has 2 ports."),
        ("Which port does the server listen on?", "It listens on port 8080.", "It listens on all addresses."),
        ("To which e-mail address is it sent?", "Send it to a@example.org.", "Send it by e-mail to the office."),
        ("At what time of day do they meet?", "They meet at nine.", "They meet in two time slots, twice monthly."),
        ("What is the email address of the office?", "Write to office@example.org.", "Write an email within 3 days."),
        ("What is the web address of the shop?", "The shop is at shop.example.org.", "The shop has 3 floors."),
        ("At what time does the meeting start?", "The meeting is at 10:00.", "The meeting is every Tuesday."),
        ("What time is breakfast?", "Breakfast is from seven.", "Breakfast is in the garden on Sundays."),
        ("Since which version can it update itself?", "It can from 2021.11.0 on.", "It depends on the firmware."),
        ("When are the gates locked?", "The gates are locked at dusk.", "The gates are painted green."),
        ("When does the bus leave?", "The bus leaves half past the hour.", "The bus leaves from stop C."),
        ("From which day is a note needed?", "A note is needed from the fourth day.", "A note is needed by staff."),
        ("On which day of the month is rent due?", "It is due on the twentieth of the month.", "It is due in euros."),
        ("What time do the lamps go on?", "The lamps go on at sunset.", "The lamps go on in the hall."),
        ("Why is the boat repaired?", "The boat is repaired because it leaks.", "The boat weighs 96 kg."),
        ("When was the club founded?", "The club was founded in 1962⁴.", "The club has 85⁵ members."),
        ("When is the fee paid?", "It is paid in advance.", "It is paid in euros."),
        ("What version of the form is signed?", "The latest one is signed.", "The form is signed in ink."),
    ],
)
def test_a_sentence_has_what_is_asked_for(question: str, answers: str, other: str) -> None:
    """One without it does not answer, however near its words are."""
    assert has_kind(question, answers)
    assert not has_kind(question, other)


@pytest.mark.parametrize("question", ["Within what time must a page be acknowledged?", "In what time is it mended?"])
def test_a_span_of_time_is_no_time_of_day(question: str) -> None:
    """It is answered by one."""
    assert has_kind(question, "A page has to be acknowledged, and mended, within 15 minutes.")


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("When does the harvest end?", "The harvest starts on 8 August.", True),
        ("When does the harvest end?", "The harvest runs from 8 to 20 August.", False),
        ("When does the harvest end?", "The harvest starts on 8 and closes on 20 August.", False),
        ("What time does the hall open?", "The hall closes at 21:00.", True),
        ("What time does the hall close?", "The hall is open until 21:00.", False),
        ("When did the contract start?", "The contract for the vans ends on 30 June.", True),
        ("When does the offer end?", "The offer starts on 3 May and holds for 10 days.", False),
        ("What is the maximum age?", "The minimum age is 10 years.", True),
        ("What is the shortest rental?", "The longest rental is four weeks.", True),
        ("Which is the newest building?", "The oldest building is the mill, the newest the barn.", False),
        ("Where do I open the valve?", "Close the valve by the red lever.", False),
    ],
)
def test_when_something_begins_tells_nothing_of_when_it_ends(question: str, text: str, other: bool) -> None:
    """Nor the least of the most; a span tells both."""
    assert is_of_other_end(question, text) == other


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("What does a locker cost per month?", "A locker costs 3 euros per week.", True),
        ("What does a locker cost per week?", "A locker costs 3 euros weekly.", False),
        ("What does a locker cost a month?", "A locker costs 3 euros a week or 10 euros a month.", False),
        ("What does a locker cost per month?", "Lockers cost 3 euros a week; from May on they are 2 euros.", False),
        ("What is the weekly rate of a locker?", "The day rate of a locker is 3 euros.", True),
        ("What does a locker cost?", "A locker costs 3 euros per week.", False),
    ],
)
def test_an_amount_per_week_is_none_per_month(question: str, text: str, other: bool) -> None:
    """Where it is the only amount; else another may be meant."""
    assert is_of_other_period(question, text) == other


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("When does the pool close on 25 December?", "On 24 and 31 December it closes at 14:00.", True),
        ("When does the pool close on 31 December?", "On 24 and 31 December it closes at 14:00.", False),
        ("When does the pool close on 4 May?", "From 3 to 5 May it closes at 14:00.", False),
        ("When does the pool close on the 4th of May?", "It closes at 14:00.", False),
        ("When do bookings for 25 December open?", "Bookings open on 1 October.", False),
        ("Who was on duty on 25 December?", "date: 2026-12-24; duty: Ines Prado", True),
        ("Who was on duty on 24 December 2026?", "date: 2026-12-24; duty: Ines Prado", False),
    ],
)
def test_what_is_on_one_day_of_a_month_tells_nothing_of_another(question: str, text: str, other: bool) -> None:
    """Spans and lists name the days in them; a text without a day may be about any."""
    assert is_of_other_date(question, text) == other
