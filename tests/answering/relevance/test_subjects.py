"""What a sentence speaks of without naming it: a pronoun, or a paragraph on one of several."""

from dataclasses import replace

import pytest

from answering.relevance.alternatives import compared
from answering.relevance.possible_answers import possible_answers
from answering.text.sentences import sentence_spans
from answering.types import About, Chunk


def chunk_of(text: str, name: str = "c") -> Chunk:
    return Chunk(name, "d", "", text, spans=sentence_spans(text))


TRUCKS = (
    "The Magirus is from 1962 and stands in the hall. Its ladder reaches 30 metres. "
    "The Unimog is the smallest truck. It carries 800 litres. Ask the driver before you enter it."
)
LODGES = (
    "The Birch lodge is the oldest. Its warden is Ottilie Brand. The key hangs behind the door.",
    "The Larch lodge lies by the lake. There are nine beds. Dogs are welcome.",
)


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("How many litres does the Magirus carry?", ["It carries 800 litres."]),
        ("How high does the ladder of the Unimog reach?", ["Its ladder reaches 30 metres."]),
    ],
)
def test_a_pronoun_is_about_the_last_thing_that_was_named(question: str, others: list[str]) -> None:
    """What is said of it tells nothing of another thing that a sentence is about."""
    (chunk,) = compared(question, [chunk_of(TRUCKS)])
    about = dict(zip(chunk.sentences, chunk.about, strict=True))
    assert all(about[text] is About.ANOTHER for text in others)
    assert about["The Unimog is the smallest truck."] is not About.ANOTHER or "Magirus" in question


def test_a_paragraph_is_about_the_one_it_opens_with() -> None:
    """Of several with the same noun, in any chunk; a name that no sentence is about decides nothing."""
    chunks = [chunk_of(text, str(n)) for n, text in enumerate(LODGES)]
    first, second = compared("Who is the warden of the Larch lodge?", chunks)
    assert set(first.about) == {About.ANOTHER}
    assert About.ANOTHER not in second.about
    assert not any(About.ANOTHER in chunk.about for chunk in compared("Who is the warden of the Willow hut?", chunks))


def test_what_stands_at_an_empty_box_is_not_so() -> None:
    """Whether the flat was handed over with damage is told by the box that is checked."""
    form = chunk_of("- [x] The flat has damage.\n- [ ] The flat has no damage at all.")
    assert possible_answers("Has the flat no damage?", form) == (True, False)
    assert possible_answers("Which boxes are there?", form) == (True, True)


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("Wo befindet sich die Sauna?", "Die Sauna"),
        ("Wann hat die Kasse offen?", "Unsere Kasse"),
        ("¿Qué reglas hay en la piscina?", "Las reglas"),
        ("Quelles taxes paient les visiteurs ?", "Les taxes"),
        ("Welke regels gelden in het zwembad?", "Algemene regels"),
    ],
)
def test_the_order_of_english_words_says_nothing_in_other_languages(question: str, section: str) -> None:
    """A verb or an article before the word of a heading makes no kind of which there are others."""
    (chunk,) = compared(question, [replace(chunk_of("Siehe Seite 4."), section=section)])
    assert chunk.about[0] is not About.ANOTHER


def test_a_sentence_about_another_thing_raises_none_beside_it() -> None:
    """That one is on another truck does not make the one with the number the answer; a rival's number does."""
    question, named = "How long is ladder 4 of the Unimog?", "The Unimog is small. Ladder 4 of the Unimog is red."

    def about(beside: str) -> list[About]:
        first, second = compared(question, [chunk_of(named, "1"), chunk_of(beside, "2")])
        return [first.about[-1], second.about[-1]]

    assert about("The Magirus is from 1962. Its ladder reaches 30 metres.") == [About.UNKNOWN, About.ANOTHER]
    assert about("Ladder 5 of the Unimog is blue.") == [About.LOOKED_UP, About.ANOTHER]
