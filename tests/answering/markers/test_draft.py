"""What a chat model writes is read as sentences with sources, whatever it wraps them in."""

from __future__ import annotations

import pytest

from answering.markers.draft import read_draft
from answering.text.sentences import sentence_spans
from answering.types import Chunk, Draft
from tests.support.synthesis import marked

LIFT = "The goods lift carries at most 400 kg."


def chunk(text: str) -> Chunk:
    return Chunk("c#1", "c", "Lift", text, spans=sentence_spans(text))


def read(text: str, *documents: str) -> str:
    """The draft with the numbers of its chunks."""
    return marked(Draft(read_draft(text, [chunk(document) for document in documents or (LIFT,)])))


@pytest.mark.parametrize(
    "text",
    [
        f'{{"answer": "{LIFT}", "citations": [1]}}',
        f'```json\n{{"answer": "{LIFT}", "citations": [1]}}\n```',
        f'{{"response": "{LIFT}", "sources": ["1"]}}',
        f"{LIFT[:-1]} (1).",
        f"{LIFT} (1)",
        f"{LIFT[:-1]} 1).",
        f"{LIFT[:-1]} [1].",
        f"According to passage 1, {LIFT.replace('The', 'the')}",
    ],
)
def test_a_model_may_wrap_and_cite_as_it_likes(text: str) -> None:
    """JSON, fences and numbers in parentheses at the end of a sentence are read as what they mean."""
    assert read(text).replace(". [1]", " [1].") == f"{LIFT[:-1]} [1]."


@pytest.mark.parametrize(
    "text",
    [
        "There are two steps: (1) press and (2) hold.",
        "It was built in 1990 (7).",
        "The set {1} is finite.",
        "See form (1)",
    ],
)
def test_other_numbers_are_content(text: str) -> None:
    """A number that names no passage, or that a document has so, is no citation."""
    assert read(text, "See form (1) and wait.") == text


@pytest.mark.parametrize(
    "text",
    [
        "The trust score lies in [0, 1].",
        "The leading case is Harrow v Pell [1977] QB 966, followed in [2015] UKSC 11.",
        "Bring form [12] to desk [3].",
        "An array index such as x[1] counts from zero.",
        "Some say so [1], others [2] do not.",
    ],
)
def test_brackets_of_a_document_are_content(text: str) -> None:
    """What stands in brackets in a passage, after the same words, stays in the sentence that repeats it."""
    sentences = read_draft(f"{text[:-1]} [1].", [chunk(text), chunk("Other."), chunk("Third.")])
    assert [sentence.text.replace("`", "") for sentence in sentences] == [text]
    assert [source.chunks for sentence in sentences for source in sentence.sources] == [(0,)]


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "You do not know.",
        "The passages do not mention the price.",
        "Based on the passages, there is no information about that.",
        "I'm sorry, but I cannot answer this.",
        "None of the passages mention the mayor.",
        "I am unable to answer this.",
        "I do not have enough information to answer.",
        "The mayor is not mentioned in the passages.",
        "This is not covered in the provided documents.",
        "The context contains no information about the mayor.",
        "N/A",
        "未找到相关信息。",
        "",
    ],
)
def test_a_decline_has_no_sentences(text: str) -> None:
    """A text that only says that the passages do not answer is no answer."""
    assert read_draft(text, [chunk(LIFT)]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Documents that are not signed are returned to the sender.",
        "The information in the archive is not open to the public.",
        "The context is not shared between threads.",
        "You cannot tell others your password.",
        "These sources are not part of the lending library.",
        "Glasses are not covered.",
    ],
)
def test_a_rule_that_denies_is_no_decline(text: str) -> None:
    """Documents, information and answers may themselves be what is asked about."""
    assert [sentence.text for sentence in read_draft(f"{text[:-1]} [1].", [chunk(f"Rule. {text}")])] == [text]
    other = read_draft(f"{text[:-1]} [1].", [chunk("Another rule.")])
    assert [sentence.text for sentence in other] == [text]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The passages do not say who built it, but the lift carries 400 kg [1].", "The lift carries 400 kg."),
        ("Although the documents do not mention the maker, the lift carries 400 kg [1].", "The lift carries 400 kg."),
        ("The lift carries 400 kg [1], but the passages do not say how fast it is.", "The lift carries 400 kg."),
        (
            "The lift carries 400 kg [1], but not more than six people.",
            "The lift carries 400 kg, but not more than six people.",
        ),
    ],
)
def test_a_caveat_is_taken_out_of_its_sentence(text: str, kept: str) -> None:
    """What the passages do not say can be neither supported nor refuted; the citation of the rest stays."""
    (sentence,) = read_draft(text, [chunk(LIFT)])
    assert sentence.text == kept
    (source,) = sentence.sources
    assert source.chunks == (0,)
    assert kept[: source.position].endswith("kg")
