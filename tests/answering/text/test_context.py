"""Which sentences belong together: what limits one, what stands between two, and the labels of items."""

import pytest

from answering.text.context import between, label_of, limits_of, subject_of, texts_to_read
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
    """The label opens the item or the paragraph: a few words, or what ends with a colon."""
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
    assert texts_to_read(chunk_of("Jade Thread: a tea. Steep it long."))[1] == "Jade Thread: Steep it long."
    assert texts_to_read(chunk_of("Dogs. The fee is 16 euros."))[1] == "Dogs: The fee is 16 euros."
    assert texts_to_read(chunk_of("Dogs are welcome. The fee is 16 euros."))[1] == "The fee is 16 euros."


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Old Head is the oldest. It was lit in 1811. Its beam carries far.", ["Old Head is the oldest."]),
        ("Jade Thread: a tea. Steep it for long.", ["Jade Thread: a tea."]),
        ("Old Head is the oldest. Its beam carries far. The tower is of stone.", []),
        ("Old Head is the oldest.\n\nIts beam carries far.", []),
    ],
)
def test_what_names_the_subject_of_a_sentence_is_found(text: str, subject: list[str]) -> None:
    """The last sentence before its pronoun that has none, or the label; in its paragraph alone."""
    chunk = chunk_of(text)
    assert [chunk.sentences[n] for n in subject_of(chunk, len(chunk.spans) - 1)] == subject


def test_what_became_of_a_proposal_follows_it() -> None:
    """ "This was defeated" may be what answers."""
    assert limits_of(chunk_of("Dev proposed 15 pounds for each hour. This was defeated."), 0) == [1]
    assert limits_of(chunk_of("Dev paid 15 pounds for each hour. This was too much."), 0) == []
    later = "Tom thought hire ought to go up. The others felt that it would cost parties. Left as it is. Tea is 50p."
    assert limits_of(chunk_of(later), 0) == [1, 2]
    assert limits_of(chunk_of("Tom wanted £220 for it. Ann did not. So did Bo. Cy slept. It stays."), 0) == [1]
    assert limits_of(chunk_of("The idea that Tom suggested was dropped. Tea is 50p."), 0) == []


@pytest.mark.parametrize(
    ("item", "label"),
    [
        ("A share amounts to €310.", ""),
        ("The work is honorary.", ""),
        ("Sauna.", "Sauna: "),
        ("Excel II.", "Excel II: "),
        ("IT: Ask.", "IT: "),
        ("10 % off: Ask.", "10 % off: "),
    ],
)
def test_a_short_sentence_that_says_something_is_no_label(item: str, label: str) -> None:
    """What has a verb or an amount of money stands by itself; a name alone is the label of what follows it."""
    assert label_of(chunk_of(f"- {item} Each member has one."), 1) == label


@pytest.mark.parametrize("opening", ["So far", "Until now", "Previously,"])
def test_what_was_so_far_is_followed_by_what_is_now(opening: str) -> None:
    """Alone it says the opposite."""
    chunk = chunk_of(f"{opening} the hoods were inspected every year. The interval is six months. Ask Ida.")
    assert [chunk.sentences[n] for n in limits_of(chunk, 0)] == ["The interval is six months."]
    assert limits_of(chunk, 1) == []
