"""A slip of the keyboard in a question is corrected by the words of the passages."""

import pytest

from answering.questions.spelling import corrected

TEXT = "Parking Holidays\nSafety shoes are required. The manager of references, Holger Jonson, sends a recommendation."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("safty shoes", "safety shoes"),
        ("who is the refrences manger?", "who is the references manager?"),
        ("recomendation or recommandation", "recommendation or recommendation"),
        ("Recomendation", "recommendation"),
        ("parking holidys?", "parking holidays?"),
    ],
)
def test_a_misspelled_word_is_mended(question: str, expected: str) -> None:
    """A letter too few, too many or wrong in a longer word; everything else of the question stays."""
    assert corrected(question, [TEXT]) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Where are the safety shoes?",
        "the manages of it",  # another form of a word that is there
        "Is Mr Managor in?",  # a name
        "jonsons phone",  # near to a name alone
        "unrequired shoes",  # another first letter
        "shose",  # too short for a word to be told from another
        "medication",  # not near to any word
        "",
        "鞋子在哪里？",
    ],
)
def test_other_words_stay(question: str) -> None:
    """Names, forms of words that are there, short words and words that are near to none are not touched."""
    assert corrected(question, [TEXT]) == question
