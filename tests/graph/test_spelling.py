"""Misspelt words of a question."""

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.relevance.spelling import is_slip, mended
from graph.terms import vocabulary, wanted

TEXT = "The mileage rate for expense reports, the deadline, and the Heron battery in a harbour"


def alike(_: str) -> float:
    return 1.0


def read(question: str, text: str = TEXT) -> dict[str, float]:
    return {stem: share for stem, _, share in mended(wanted(question, alike), lambda: vocabulary(text)).shares}


@pytest.mark.parametrize("slip", ["milage", "milleage", "mileqge", "mlieage", "mileaeg"])
def test_one_slip_is_read_as_what_the_text_says(slip: str) -> None:
    """A letter less, more, other, and two swapped."""
    assert read(f"What is the {slip} rate?") == read("What is the mileage rate?")


def test_a_misspelt_word_that_only_asks_says_nothing() -> None:
    """It is left out as the word itself would be, and the others share its part."""
    assert read("wat is teh mileage rate") == read("what is the mileage rate")


@pytest.mark.parametrize(
    "question",
    [
        "What is the village rate?",  # a common word is what it is
        "What is the mileagexx rate?",  # two slips
        "What is the pileage rate?",  # its first letter is taken for right
        "What is the Heron 4 battery?",  # numbers are not mended
        "What is the IAS rate?",  # an abbreviation is no "is"
    ],
)
def test_what_is_no_slip_stays(question: str) -> None:
    """Other words are not bent to what the text says."""
    assert read(question) == {stem: share for stem, _, share in wanted(question, alike).shares}


def test_what_the_text_holds_is_not_misspelt() -> None:
    """However odd it looks, and though a neighbour of it stands beside it."""
    assert "harbor" in read("Which harbor?", "A harbor, not a harbour.")


@given(
    st.text(string.ascii_lowercase, min_size=1, max_size=8), st.integers(0, 7), st.sampled_from(string.ascii_lowercase)
)
def test_every_single_slip_is_one(word: str, place: int, letter: str) -> None:
    """Inserting, deleting, replacing or swapping makes a slip, in both directions, unless nothing changes."""
    at = place % len(word)
    swapped = word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
    for slip in (
        word[:at] + letter + word[at:],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at + 1 :],
        swapped,
    ):
        assert is_slip(slip, word) == is_slip(word, slip) == (slip != word)


@given(st.text(max_size=60), st.text(max_size=60))
def test_shares_stay_shares(question: str, text: str) -> None:
    """Whatever is asked, and whatever is there, the shares add up to what they did."""
    before = wanted(question, alike)
    after = mended(before, lambda: vocabulary(text))
    assert math.isclose(sum(one[2] for one in after.shares), sum(one[2] for one in before.shares))
    assert 0.0 <= after.coverage(vocabulary(text)) <= 1.0 + 1e-9
