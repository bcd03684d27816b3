"""What a question names: a sentence that lacks a thing of which its passage speaks is about another one."""

from dataclasses import replace

import pytest

from answering.relevance.things import (
    SURE_MARGIN,
    is_about_other_things,
    of_other_label,
    refers_to_another,
    things_named,
)
from answering.text.sentences import sentence_spans
from answering.types import Chunk, ReadPassage


def chunk_of(text: str, margin: float = 0.0, section: str | None = None) -> Chunk:
    """A chunk of which the reader scores every sentence *margin* above "none of them"."""
    chunk = Chunk("c", "d", "", text, section=section, spans=sentence_spans(text))
    return replace(chunk, reading=ReadPassage((margin,) * len(chunk.spans), 0.0, margin))


def is_other(question: str, chunk: Chunk, sentence: str) -> bool:
    (number,) = [n for n, text in enumerate(chunk.sentences) if sentence in text]
    return is_about_other_things(question, chunk, number)


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("How long does the walk to the river take?", {"walk", "river"}),
        ("Where are the score sheets kept?", {"score", "sheet"}),
        ("What does the annual inspection of an X3 cost?", {"annual", "inspect", "x3"}),
        ("When do matinee performances begin?", {"matine", "perform"}),
        ("In which class are flights paid?", {"flight"}),
        ("How much is a seat for schools?", {"seat", "school"}),
        ("What is the discount code for teachers?", {"teacher"}),
        ("At what time of day does the coach leave for Staveley Tarn?", {"coach", "staveley", "tarn"}),
        ("Do you have a map of the canals?", {"map", "canal"}),
        ("When does the nursery open in the morning?", {"nurseri"}),
        ("Was kostet der Eintritt in das Museum?", set()),
        ("Is de bibliotheek open op zondag?", set()),
        ("password length", set()),
        ("the rent of hall B in winter", set()),
    ],
)
def test_a_question_names_things_and_asks_something_of_them(question: str, things: set[str]) -> None:
    """Verbs, what is asked for and times are no things; key words and other languages have none."""
    assert things_named(question) == things


VALLEY = "The river is deep. The walk to the village takes twenty-five minutes. The path is steep."


@pytest.mark.parametrize(
    ("question", "text", "sentence", "other"),
    [
        ("How long does the walk to the river take?", VALLEY, "twenty-five", True),
        ("How long does the walk to the village take?", VALLEY, "twenty-five", False),
        ("How long does the walk to the castle take?", VALLEY, "twenty-five", False),
        (
            "How much does the owl newsletter cost?",
            "The owl newsletter comes monthly. A day ticket costs 11 pounds.",
            "day ticket",
            True,
        ),
        ("Who cleans the filter?", "The filter is fine. Anna cleans it at noon.", "Anna", False),
        ("Who cleans the filter?", "The filter is fine.\n\nAnna cleans it at noon.", "Anna", False),
        ("Who cleans the filter?", "The filter is fine.\n\nMind the step.\n\nAnna cleans it at noon.", "Anna", True),
        ("What does a seat in the stalls cost?", "The stalls are red.\n\nPrices\n\n- Seat: 9 euros", "9 euros", False),
    ],
)
def test_a_sentence_lacks_a_thing_that_its_passage_speaks_of(
    question: str, text: str, sentence: str, other: bool
) -> None:
    """What a pronoun refers to may name it, or what is above a field; it may be a synonym of one that none names."""
    assert is_other(question, chunk_of(text), sentence) == other


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("What was fixed in 2.2.1?", "Saving works again. A fix of printing is planned for 2.4.1.", True),
        ("What was fixed in 2.2.1?", "In 2.2.1 and 2.4.1 saving was fixed.", False),
        ("What was fixed in 2.2.1?", "Saving works again.", False),
        ("Is the pool open on 24.12.2025?", "The pool is closed on 24 December and opens on 02.01.2026.", False),
    ],
)
def test_another_version_is_another_thing(question: str, text: str, other: bool) -> None:
    """A passage that names versions, and not the one asked for, is about another; a date is no version."""
    assert is_other(question, chunk_of(text), chunk_of(text).sentences[0]) == other


def test_a_heading_names_the_thing() -> None:
    """What stands in the section's heading is not repeated below it."""
    text = "The river is deep. It takes twenty-five minutes to the village."
    question = "How long does the walk to the river take?"
    assert is_other(question, chunk_of(text.replace("It", "The walk")), "twenty-five")
    assert not is_other(question, chunk_of(text.replace("It", "The walk"), section="The river"), "twenty-five")


def test_a_sure_reader_is_believed() -> None:
    """A sentence that it scores high answers, whatever it leaves out."""
    question = "How long does the walk to the river take?"
    assert is_other(question, chunk_of(VALLEY, SURE_MARGIN - 0.1), "twenty-five")
    assert not is_other(question, chunk_of(VALLEY, SURE_MARGIN), "twenty-five")


@pytest.mark.parametrize(
    ("question", "sentence", "other"),
    [
        ("Which committee does Councillor Rupert Hale chair?", "Councillor Abigail Frome chairs the committee.", True),
        ("How long does Lorton Blue ripen?", "Kirkby Blue ripens for ten weeks.", True),
        ("How much does Oakshield Winter cost?", "Oakshield Annual costs 88 pounds a year.", True),
        ("How many books does the Victoria Park branch have?", "The Hanley Park branch has 14,000 books.", True),
        ("Where was Anna Berg born?", "Carl Berg was born in Ulm.", True),
        ("Where was Anna Berg born?", "Anna was born in Ulm, like Carl Berg.", False),
        ("When was Cutler's Lake bought by the club?", "Cutler's Lake was bought by the club in 1968.", False),
        ("Does Studio Three have a piano?", "Studio Three has two.", False),
        ("Who runs the All Hands?", "The COO runs the All Hands.", False),
        ("How high is Mount Fell?", "Fell Runners climb its 412 metres on Sundays.", False),
    ],
)
def test_a_name_of_which_a_part_differs_is_another(question: str, sentence: str, other: bool) -> None:
    """However sure the reader is: the same first or last name makes no other person, place or product."""
    assert is_other(question, chunk_of(sentence, 9.0), sentence) == other


PLANTS = """The ficus in the library is watered every ten days. It is repotted every three years.

The orchid at the desk is dipped in water. In summer twice a day. It must stand in the shade."""


@pytest.mark.parametrize(
    ("question", "sentence", "other"),
    [
        ("How often is the orchid repotted?", "It is repotted", True),
        ("How often is the ficus repotted?", "It is repotted", False),
        ("Where must the orchid stand?", "It must stand", False),
        ("How often is the orchid repotted?", "The ficus in", False),
        ("How often is the cactus repotted?", "It is repotted", False),
    ],
)
def test_a_pronoun_stands_for_what_its_paragraph_names(question: str, sentence: str, other: bool) -> None:
    """However far above it that is named; of a thing that the passage does not name nothing is known."""
    chunk = chunk_of(PLANTS)
    (number,) = [n for n, text in enumerate(chunk.sentences) if sentence in text]
    assert refers_to_another(question, chunk, number) == other


def test_a_further_sentence_of_an_item_is_about_its_label() -> None:
    """ "Fee 290 euros." below "Excel II:" names what it is the fee of."""
    items = chunk_of("- **Excel I**: two days. Fee 260 euros.\n- **Excel II**: three days. Fee 290 euros.")
    assert not is_other("What is the fee of Excel II?", items, "290")
    assert is_other("What is the fee of Excel II?", items, "260")


TEAS = """Jade Thread: a green tea from Uji. Steep for 4 minutes.

Dragon Pearl: a tea with jasmine. Steep for 3 minutes at 80 degrees.

Opening: the shop is new. Closed in May."""


def test_what_stands_below_another_label_is_about_another() -> None:
    """Of records that are alike; what is below a label of another kind is not."""
    chunk = chunk_of(TEAS)
    others = [chunk.sentences[n] for _, n in of_other_label("How long does Dragon Pearl steep?", [chunk])]
    assert others == ["Jade Thread: a green tea from Uji.", "Steep for 4 minutes."]
    assert list(of_other_label("How long does tea steep?", [chunk])) == []


def test_of_a_long_question_a_name_tells_what_a_pronoun_stands_for() -> None:
    """Its other things are said in passing."""
    text = "Skarholm Light is old. Its beam carries 19 miles.\n\nHead Light is the oldest. Its beam carries 14 miles."
    question = "How far does the strong beam of the Head Light carry on clear nights?"
    chunk = chunk_of(text)
    assert [refers_to_another(question, chunk, n) for n in range(4)] == [False, True, False, False]
