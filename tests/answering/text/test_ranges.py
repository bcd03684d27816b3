"""A range of a document, and a sentence that states one end of it."""

import pytest

from answering.text.ranges import ranges, states_one_end, with_ranges


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 3 to 5 working days.", ["3 to 5"]),
        ("Rooms cost 80–120 euros.", ["80–120 euros"]),
        ("Keep it between 2.2 and 2.5 bar.", ["2.2 and 2.5 bar"]),
        ("Open from 9:00 to 17:00, 8 to 12 places.", ["9:00 to 17:00", "8 to 12"]),
        ("Two coaches and 12 boats.", []),
        ("From 20 to 15 places.", []),
        ("Versions 1.2.3 - 1.2.9 are old.", []),
    ],
)
def test_a_range_has_two_numbers_the_first_less(text: str, found: list[str]) -> None:
    """Joined by "to" or a dash; by "and" only after "between"."""
    assert [text[one.start : one.end] for one in ranges(text)] == found


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("A delivery takes up to 5 days.", "A delivery takes 3 to 5 days."),
        ("A delivery takes at least 3 days.", "A delivery takes 3 to 5 days."),
        ("A delivery takes between 3 and 5 days.", "A delivery takes 3–5 days."),
        ("Rooms start at 80 euros.", "Rooms cost 80–120 euros."),
        ("A course has 12 places or fewer.", "Courses have 8 to 12 places."),
        ("The office opens at 9:00.", "The office is open from 9:00 to 17:00."),
        ("It began in 2019.", "It ran from 2019 to 2021."),
        ("A single room costs 80 euros.", "Single rooms cost 80 euros, double rooms 80 to 120."),
    ],
)
def test_a_bound_a_time_and_what_is_said_alone_are_no_end(claim: str, text: str) -> None:
    """The end stands as the bound that it is, or elsewhere."""
    assert not states_one_end(claim, text)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("A delivery takes 3 days.", "A delivery takes 3 to 5 days."),
        ("A delivery takes 5 days.", "A delivery takes 3 to 5 days."),
        ("A delivery takes up to 3 days.", "A delivery takes 3 to 5 days."),
        ("A delivery takes at least 5 days.", "A delivery takes 3 to 5 days."),
        ("Rooms cost 80 euros.", "Rooms cost 80–120 euros."),
        ("Set it to 180 degrees.", "Set it to between 180 and 200 degrees."),
    ],
)
def test_one_end_as_the_whole_is_seen(claim: str, text: str) -> None:
    """So is a bound on the other side."""
    assert states_one_end(claim, text)


def test_a_bound_is_read_as_its_range() -> None:
    """In the words of the passage, which a reader of statements knows; another number stays."""
    text = ["A delivery takes 3 to 5 days.", "Rooms cost 80–120 euros."]
    assert with_ranges("It takes up to 5 days.", text) == "It takes 3 to 5 days."
    assert with_ranges("Rooms start at 80 euros.", text) == "Rooms 80–120 euros."
    assert with_ranges("It takes up to 6 days.", text) == "It takes up to 6 days."
