"""Words, stems, and what share of a question a text covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.text.terms import LOOSE_CREDIT, coverage, idf_shares, question_stems, stems, vocabulary, words


def alike(_: str) -> float:
    return 1.0


def test_forms_of_a_word_share_a_stem() -> None:
    """Inflected forms of a word have one stem, and stop words none."""
    assert stems("The gardens were planted") == stems("garden planting") == ("garden", "plant")


def test_a_number_is_one_word() -> None:
    """A number keeps its points and commas, and loses those that end a clause."""
    assert words("It cost 1,200.50, in 1999.") == ["it", "cost", "1,200.50", "in", "1999"]


def test_compatible_characters_are_the_same_word() -> None:
    """Ligatures, full-width letters and capitals do not make another word."""
    assert words("ﬁeld ＡＢＣ STRASSE") == ["field", "abc", "strasse"]


def test_a_question_is_about_its_content() -> None:
    """Question words and stop words are not what a question is about, and each stem counts once."""
    assert question_stems("Which plant is it that other plants need?") == ("plant", "need")


@pytest.mark.parametrize("question", ["what is it?", "who", "to be or not to be"])
def test_a_question_with_a_word_looks_for_something(question: str) -> None:
    """A question made of stop words alone still has stems to look for."""
    assert question_stems(question)


def test_coverage_is_the_idf_share_found() -> None:
    """Coverage is the found part of the question's idf over all of it."""
    idf = {"rose": 3.0, "water": 1.0}.__getitem__
    assert coverage(idf_shares("water the rose", idf), vocabulary("A rose is a rose.")) == pytest.approx(0.75)


def test_a_word_of_the_same_opening_counts_in_part() -> None:
    """A longer word that only opens alike counts by the loose credit, a short one not at all."""
    assert coverage(idf_shares("septicemia", alike), vocabulary("a septicemic fever")) == pytest.approx(LOOSE_CREDIT)
    assert coverage(idf_shares("rose", alike), vocabulary("rosary")) == 0.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_coverage_stays_in_its_range(question: str, text: str) -> None:
    """Coverage is within [0, 1] for any two strings, and whole for a text that holds the question."""
    looked_for = idf_shares(question, alike)
    assert 0.0 <= coverage(looked_for, vocabulary(text)) <= 1.0 + 1e-9
    if question_stems(question) and set(question_stems(question)) <= set(stems(question)):
        assert coverage(looked_for, vocabulary(question)) == pytest.approx(1.0)
