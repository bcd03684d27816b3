"""What is told of the opposite of a thing answers nothing about it."""

import pytest

from answering.relevance.opposites import OPPOSED, is_of_opposite


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the levy for vessels over 30 metres?", "For vessels under 8 metres the levy is 3.5 percent."),
        ("What do non-members pay for the flat?", "Facility: Guest flat; Members: €48"),
        ("Fee for children under 5", "Children over 12 pay 3 euros."),
        ("Who signs orders over 500 EUR?", "Orders of up to 500 EUR are signed by the team."),
        ("Which non-residents park here?", "Residents park in the yard."),
    ],
)
def test_the_opposite_is_about_another(question: str, text: str) -> None:
    """Members for non-members, and bounds of the same unit that exclude each other."""
    assert OPPOSED.search(question)
    assert is_of_opposite(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What do non-members pay?", "Members pay 3 euros, non-members 5."),
        ("What do non-members pay?", "Members pay 3 euros, those who are not members 5."),
        ("Fee for children under 5", "Children under 12 pay 3 euros."),
        ("Who signs orders over 5,000 euros?", "Above 2,000 euros the board signs."),
        ("How far may boats over 8 metres go?", "Boats over 8 metres may go at most 5 km out."),
        ("What is the fee over 30 metres?", "It takes less than 5 days."),
    ],
)
def test_what_may_hold_of_both_stays(question: str, text: str) -> None:
    """Both sides in one sentence, bounds that overlap, and bounds of other units."""
    assert not is_of_opposite(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the minimum age for the 10 m board?", "Board: 5 m; Minimum age: 10 years"),
        (
            "What bonus do I get for a top-up of 200 euros?",
            "A bonus of 15 per cent is credited for a top-up of 100 euros.",
        ),
        ("When is the next inspection?", "Last inspection: 14 February 2024"),
        ("When was the last drill?", "The next drill is on 3 May."),
        ("What is the fine for a delay of 3 weeks?", "The fine for a delay of 2 weeks is 5 euros."),
    ],
)
def test_a_rival_is_about_another(question: str, text: str) -> None:
    """Another amount as the key of a row or of the same thing, and the last one for the next."""
    assert OPPOSED.search(question)
    assert is_of_opposite(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the minimum age for the 5 m board?", "Board: 5 m; Minimum age: 10 years"),
        ("How deep is the 25 m pool?", "Pool: sports pool; Length: 25 m; Depth: 2 m"),
        ("What bonus do I get for a top-up of 50 euros?", "10 per cent for a top-up of 50 euros, 15 of 100 euros."),
        ("Is a fee of 5 euros due?", "The fee of members is 5 euros."),
        ("When is the next inspection?", "It was last inspected in May 2024 and is due in May 2026."),
        ("When was the last drill?", "The last drill was on 3 May, the next one is on 4 June."),
        ("How long does the next course last?", "It lasts two days."),
        ("Where is the kitchen/canteen?", "The canteen is on the second floor."),
        ("What is the rent in EUR/month?", "The rent is 900 euros per month."),
        ("How much is refunded for a delay of 90 minutes?", "For a delay of 60 minutes or more, 25 % is refunded."),
        ("Which room seats at least 25 people?", "Room: 4; Seats: 30"),
        ("How much do visitors over 65 pay?", "Visitors of 65 and older pay 5 euros for up to 4 tickets."),
        ("What do groups of more than 10 pay?", "Groups pay 8 euros each; children under 6 are free."),
        ("What is the fee for non-attendance?", "Missed attendance costs 10 euros."),
        ("What do non-residents pay?", "Residents pay 5 euros, everyone else 8."),
        ("What can 2 people carry?", "They carry a load of 30 kg."),
    ],
)
def test_what_names_it_is_about_it(question: str, text: str) -> None:
    """The same amount anywhere in the sentence, and amounts of other units."""
    assert not is_of_opposite(question, text)
