"""Words, stems, and what share of a question a text covers."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.text.terms import (
    LOOSE_CREDIT,
    coverage,
    idf_shares,
    question_stems,
    stems,
    vocabulary,
    without_accents,
    words,
)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("仓库七点开门。", ["仓库", "库七", "七点", "点开", "开门"]),
        ("iPhone 15の電池", ["iphone", "15", "の電", "電池"]),
        ("データ", ["デー", "ータ"]),
        ("गोदाम सुबह खुलता है।", ["गोदाम", "सुबह", "खुलता", "है"]),
        ("มี 3 คน", ["มี", "3", "คน"]),
        ("창고는 7시", ["창고는", "7시"]),
        ("مُسْتَوْدَع", ["مُسْتَوْدَع"]),
        ("水", ["水"]),
    ],
)
def test_words_of_scripts_without_spaces_and_with_marks(text: str, expected: list[str]) -> None:
    """A vowel sign does not end a word, and a script without spaces is cut in pairs of letters, its numbers apart."""
    assert words(text) == expected


@pytest.mark.parametrize("text", ["naïve café, 1,200.5 €", "x\u0302 and ❤\ufe0f", "don’t", "ПРИВЕТ мир", "Ελλάδα"])
def test_words_of_alphabets_are_runs_of_letters(text: str) -> None:
    """Words of Latin, Greek and Cyrillic text are what they were: runs of letters and digits."""
    assert words(text) == re.findall(r"\w+(?:[.,]\d+)*", unicodedata.normalize("NFKC", text).casefold())


def test_plain_text_keeps_the_letters_of_other_scripts() -> None:
    """An accent is removed, a vowel sign or a voicing mark is part of its letter."""
    assert (without_accents("Café مُهِم"), without_accents("गुरु"), without_accents("ガス")) == ("Cafe مهم", "गुरु", "ガス")
