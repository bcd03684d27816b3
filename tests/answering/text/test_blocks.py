"""Which sentences belong together: what limits one, what stands between two, and the labels of items."""

import pytest

from answering.text.blocks import between, limits_of, texts_to_read
from answering.text.sentences import sentence_spans
from answering.types import Chunk


def chunk_of(text: str) -> Chunk:
    return Chunk("c", "d", "", text, spans=sentence_spans(text))


@pytest.mark.parametrize(
    "limit",
    [
        "After that it costs 3 euros.",
        "If that is a weekend, it is the Friday before.",
        "It is not available for groups.",
        "They are sold out, and no more are printed.",
        "For the title screen an exception is made: 4096.",
        "The guarantee lapses if you miss the yearly check.",
        "On the last Thursday of the month it stays closed.",
    ],
)
def test_a_sentence_that_limits_the_one_before_follows_it(limit: str) -> None:
    """By what opens it, or by what it says; in the same paragraph alone."""
    assert limits_of(chunk_of(f"Entry is free. {limit}"), 0) == [1]
    assert limits_of(chunk_of(f"Entry is free.\n\n{limit}"), 0) == []


@pytest.mark.parametrize("further", ["It opens at nine.", "The garden is next door.", "Dogs are welcome, too."])
def test_a_further_sentence_is_no_limit(further: str) -> None:
    """What it adds can be left out."""
    assert limits_of(chunk_of(f"Entry is free. {further}"), 0) == []


def test_a_sentence_between_two_that_are_quoted_stands_with_them() -> None:
    """In one paragraph: a gap of one sentence would be read as none."""
    assert between(chunk_of("One is so. Two is so. Three is so."), [0, 2]) == [1]
    assert between(chunk_of("One is so. Two is so.\n\nThree is so."), [0, 2]) == []
    assert between(chunk_of("One is so. Two is so. Three is so. Four is so."), [0, 3]) == []


def test_further_sentences_of_an_item_are_read_with_its_label() -> None:
    """The label opens the item; a sentence of a paragraph has none."""
    items = chunk_of(
        "Courses:\n\n- Excel I: two days. Fee 260 euros.\n- Rowing: in May. Bring a towel. Ages 9 to 12.\n"
        "- Club hut. Ten beds."
    )
    assert texts_to_read(items)[2:] == (
        "Excel I: Fee 260 euros.",
        "Rowing: in May. Bring a towel.",
        "Rowing: Ages 9 to 12.",
        "Club hut.",
        "Club hut: Ten beds.",
    )
    assert texts_to_read(chunk_of("Note: it is so. Fee 260 euros."))[1] == "Fee 260 euros."
