"""What a chat model writes is read as sentences with sources, whatever it wraps them in."""

from __future__ import annotations

import pytest

from answering.markers.draft import read_draft
from answering.text.sentences import sentence_spans
from answering.types import Chunk, Draft
from tests.support.synthesis import marked

LIFT = "The goods lift carries at most 400 kg."


def chunk(text: str) -> Chunk:
    return Chunk("c#1", "c", "Lift", text, source="lift.md", spans=sentence_spans(text))


def read(text: str, *documents: str) -> str:
    """The draft with the numbers of its chunks."""
    return marked(Draft(read_draft(text, [chunk(document) for document in documents or (LIFT,)])))


@pytest.mark.parametrize(
    "text",
    [
        f'{{"answer": "{LIFT}", "citations": [1]}}',
        f'```json\n{{"answer": "{LIFT}", "citations": [1]}}\n```',
        f'{{"response": "{LIFT}", "sources": ["1"]}}',
        f'{{"reason": "so", "Answer": "{LIFT} [1]"}}',
        f'{{"answer": [{{"sentence": "{LIFT}", "citations": [1]}}]}}',
        f'{{"answer": {{"text": "{LIFT}", "source": "Passage 1"}}}}',
        f'[{{"text": "{LIFT}", "passage": 1}}]',
        f'Here it is:\n\n```json\n{{"result": "{LIFT} [1]"}}\n```',
        f'```json\n{{"answer": "{LIFT} [1]"}}',
        f'{{"answer": "{LIFT} [1]"}}\n\nI hope this helps!',
        f'{{"answer": "{LIFT} [1]',
        f"{{'answer': '{LIFT} [1]'}}",
        f"```\n{LIFT[:-1]} [1].\n```",
        f"{LIFT[:-1]} (1).",
        f"{LIFT} (1)",
        f"{LIFT[:-1]} 1).",
        f"{LIFT[:-1]} [1].",
        f"According to passage 1, {LIFT.replace('The', 'the')}",
        f"{LIFT[:-1]} (Passage 1: Lift).",
        f'{LIFT[:-1]} (see passage 1, "Lift").',
        f"{LIFT[:-1]} [Passage 1, sentence 1].",
        f"{LIFT[:-1]} [1, line 4].",
        f"{LIFT[:-1]} (Doc 1).",
        f"{LIFT[:-1]} [doc1].",
        f"{LIFT[:-1]} [S1].",
        f"{LIFT[:-1]} [Quelle 1].",
        f"{LIFT[:-1]} [来源1].",
        f"{LIFT[:-1]} （来源：1）.",
        f"{LIFT[:-1]} {{1}}.",
        f"{LIFT[:-1]} 〔1〕.",
        f"{LIFT[:-1]} {{{{source:1}}}}.",
        f"{LIFT[:-1]} \\cite{{1}}.",
        f"{LIFT[:-1]} <ref>1</ref>.",
        f"{LIFT[:-1]} (lift.md).",
        f"{LIFT[:-1]} (Source: lift.md).",
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
        "The deed (Document 1, signed) is kept.",
        "The area is `x (doc 1)`.",
        "Use plug [A1] and [Figure 1].",
        "It is in the list (prices.md).",
        "Open the set <{1}>",
    ],
)
def test_other_numbers_are_content(text: str) -> None:
    """A number that names no passage, or that a document has so, is no citation."""
    assert read(text, "See form (1) and wait. Document 1 is the deed. Plug A1 is red.") == text


@pytest.mark.parametrize("text", ['{"port": 80, "text": 7}', '{"answer": "yes"}', "```\nrow = [1]\nrow[1]\n```"])
def test_json_and_code_of_a_passage_are_content(text: str) -> None:
    """JSON without an answer, JSON whose keys a passage has, and code stay as they are written."""
    assert "".join(s.before + s.text for s in read_draft(text, [chunk('Send {"answer": "yes"}.')])) == text


@pytest.mark.parametrize("sign", ["¹", "①", "<sup>1</sup>", "^1^", "^[1]^", "$^{1}$"])
def test_raised_numbers_cite(sign: str) -> None:
    """A raised number behind a word or a sentence is a citation, and the line below that explains it goes."""
    for text in (f"It hums softly{sign}.", f"It hums softly.{sign}", f"It hums softly.{sign}\n\n{sign} Lift"):
        assert read(text).replace(". [1]", " [1].") == "It hums softly [1]."


@pytest.mark.parametrize("text", ["A room of 20 m² is x² wide.", "It has 10³ rooms.", "Halls² of 3 metres² are kept."])
def test_powers_and_notes_of_a_passage_are_content(text: str) -> None:
    """Behind a digit, a unit or a letter a raised number is a power; what a passage has so stays in any case."""
    sentences = read_draft(text, [chunk("Halls² of stone."), chunk("Other."), chunk("Third.")])
    assert [(sentence.text, sentence.sources) for sentence in sentences] == [(text, ())]


@pytest.mark.parametrize("text", ["It hums [source_id].", "It hums [source]."])
def test_a_placeholder_goes(text: str) -> None:
    """The word that stands for a number in a prompt names nothing, unless a passage has it so."""
    assert [sentence.text for sentence in read_draft(text, [chunk(LIFT)])] == ["It hums."]
    assert [sentence.text for sentence in read_draft(text, [chunk(text)])] == [text]


def test_a_passage_named_behind_a_dash_ends_its_sentence() -> None:
    """ "— Passage 1." cites in the middle of a paragraph as at its end."""
    assert read(f"{LIFT[:-1]} — Passage 1. It hums.") == f"{LIFT[:-1]} [1]. It hums."


@pytest.mark.parametrize(
    "text",
    [
        "The trust score lies in [0, 1].",
        "The leading case is Harrow v Pell [1977] QB 966, followed in [2015] UKSC 11.",
        "Bring form [12] to desk [3].",
        "An array index such as x[1] counts from zero.",
        "Some say so [1], others [2] do not.",
        "The set of one is {1}.",
        "See the record (Doc 1).",
        "The slot is [P1].",
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


def test_letters_of_other_words_are_no_copy_of_a_decline() -> None:
    """ "N/A" stands in no passage that has "in a"."""
    assert read_draft("N/A", [chunk("Keys are kept in a box.")]) == ()


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
