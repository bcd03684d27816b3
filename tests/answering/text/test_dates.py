"""Dates in a text, in any writing."""

import pytest

from answering.text.dates import date_in


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("minutes_2025-04-08.txt", (2025, 4, 8)),
        ("Tue, 8 Apr 2025 10:00:00 +0000", (2025, 4, 8)),
        ("Price list, 08.04.2025", (2025, 4, 8)),
        ("Newsletter, April 2025", (2025, 4, 0)),
        ("newsletter_2025_04", (2025, 4, 0)),
        ("Mayor 2025", ()),
        ("version 2.10.20240", ()),
    ],
)
def test_a_date_is_found_in_a_name(text: str, date: tuple[int, ...]) -> None:
    """Of a file, of a message's head, of a month; a version is none."""
    assert date_in(text) == date
