"""Calibrated relevance: features, the model, the relevance threshold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.relevance.entities import names_another
from answering.relevance.features import FEATURE_NAMES, Features, measure
from answering.relevance.graders import (
    LEXICAL,
    Calibration,
    Logistic,
    assess,
    calibration_for,
    grade,
    load_calibrations,
)
from answering.relevance.possible_answers import has_kind, possible_answers
from answering.text.sentences import sentence_spans
from answering.types import MIN_CONFIDENCE, Chunk, ReadPassage, SubqueryResults

MODEL = load_calibrations()["all-MiniLM-L6-v2"]
MODELS = ("relevance", "relevance_read", "answers", "answers_read", "cosine")


def chunk(name: str, text: str, similarity: float, title: str = "", near_duplicates: tuple[str, ...] = ()) -> Chunk:
    spans = sentence_spans(text)
    return Chunk(
        chunk_id=name,
        document_id=name,
        title=title,
        text=text,
        similarity=similarity,
        keyword=similarity,
        spans=spans,
        span_similarities=(similarity,) * len(spans),
        near_duplicates=near_duplicates,
    )


RIGHT = chunk("right", "Kale is sown in April. It likes lime.", 0.75, "Kale")
WRONG = chunk("wrong", "Roses need pruning. They are old.", 0.15, "Roses")
QUESTION = "When is kale sown?"


def features(question: str, *chunks: Chunk) -> dict[str, Features]:
    return {c.chunk_id: found for c, _, found in measure(SubqueryResults(question, chunks))}


def test_the_chunk_that_answers_passes_and_the_other_does_not() -> None:
    """At the product's threshold of .8 a chunk that plainly answers passes, an unrelated one is far below."""
    best, worst = grade([assess(SubqueryResults(QUESTION, (WRONG, RIGHT)), MODEL)])
    assert best.chunk_id == "right"
    assert best.relevance is not None
    assert best.relevance >= 0.8
    assert worst.relevance is not None
    assert worst.relevance < 0.2


@given(
    similarity=st.floats(-1, 1, allow_nan=False),
    more=st.floats(0, 1, allow_nan=False),
    name=st.sampled_from(FEATURE_NAMES),
)
@pytest.mark.parametrize("model", load_calibrations().values(), ids=load_calibrations())
def test_more_evidence_never_lowers_a_probability(
    model: Calibration, similarity: float, more: float, name: str
) -> None:
    """Each probability is in [0, 1] and does not fall when one feature grows, whatever the shipped model."""
    before = dict.fromkeys(FEATURE_NAMES, similarity)
    after = {**before, name: similarity + more}
    for scorer in (model.relevance, model.relevance_read, model.answers, model.answers_read, model.cosine):
        assert 0.0 <= scorer.probability(before) <= scorer.probability(after) <= 1.0


def test_a_heading_says_what_its_text_is_about() -> None:
    """What stands in a heading alone counts by half, and as more than the title of the document says."""
    text = "Click Forgotten and follow the link."
    under = replace(chunk("under", text, 0.6, "Portal"), section="How do I reset my password?")
    found = features("How do I reset my portal password?", under, replace(under, chunk_id="bare", section=None))
    assert 0.0 < found["bare"].coverage < 1.0
    assert found["under"].coverage == pytest.approx((found["bare"].coverage + 1.0) / 2)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What did the fair in Lyon cost in 2019?", "The fair in Lyon costs 85 euros, 3 May 2025.", True),
        ("What did the fair in Lyon cost in 2025?", "The fair in Lyon costs 85 euros, 3 May 2025.", False),
        ("What did the fair in Lyon cost in 2019?", "The fair in Lyon costs 85 euros.", False),
        ("How long does the Heron 4 run?", "The Heron-2 runs six years.", True),
        ("How long does the Heron 4 run?", "Heron 2 and 4 run six years.", False),
        ("How long does the Heron 4 run?", "The cart runs 6 years.", False),
        ("When does Orchid 2 start?", "Orchid 3 starts on 2 April.", True),
        ("When does Orchid 2 start?", "Orchid 3 starts on April 2, Orchid 2 in May.", False),
        ("price of garage C?", "Garage A costs 12 euros. It stands in Mill Street.", True),
        ("price of garage C?", "Garages A to C cost 12 euros.", False),
        ("Can I park in a garage?", "Garage A costs 12 euros.", False),
        ("How long does the Heron run?", "The Heron 2 runs six years.", False),
        ("Does a group of 12 get a discount?", "A group of 10 or more gets a discount.", False),
        ("What do I pay if I cancel after 10 days?", "After 7 days, half of the fee is due.", False),
        ("Who approves a purchase of 2000 euros?", "The head approves what costs 1500 euros.", False),
    ],
)
def test_a_chunk_on_another_year_or_label_is_seen(question: str, text: str, expected: bool) -> None:
    """Only where the question names one that the text does not, and the text another in its place; then no answer."""
    assert names_another(question, text) is expected
    found = chunk("a", text, 0.9)
    (of_another,) = assess(SubqueryResults(question, (found,)), MODEL).chunks
    assert of_another.answers is not None
    assert (of_another.answers < MIN_CONFIDENCE) or not expected


def test_other_candidates_do_not_matter() -> None:
    """A chunk has the same features whatever stands among the candidates, and wherever: relevance is no rivalry."""
    alone = features(QUESTION, RIGHT)["right"]
    assert features(QUESTION, RIGHT, WRONG)["right"] == features(QUESTION, WRONG, RIGHT)["right"] == alone


def test_what_the_reader_finds_counts() -> None:
    """Of two chunks alike in all else, the one whose sentence the reader picks is likelier to answer."""
    yes = replace(RIGHT, reading=ReadPassage((6.0, -4.0), -2.0, 5.0))
    no = replace(RIGHT, chunk_id="no", reading=ReadPassage((-6.0, -7.0), 3.0, -5.0))
    found, missed = assess(SubqueryResults(QUESTION, (yes, no)), MODEL).chunks
    assert (found.answers or 0.0) >= MIN_CONFIDENCE > (missed.answers or 1.0)
    assert (found.relevance or 0.0) >= (missed.relevance or 1.0)
    ((_, matches, _), _) = measure(SubqueryResults(QUESTION, (yes, no)))
    assert [match.probability > 0.9 for match in matches if match.probability is not None] == [True, False]


def test_of_a_compound_question_the_best_part_counts() -> None:
    """A chunk found for two parts is given once, with the relevance to the part it is most about."""
    other = SubqueryResults(
        "Who prunes roses?", (replace(RIGHT, similarity=0.1, keyword=0.0), replace(WRONG, similarity=0.7))
    )
    graded = grade([assess(part, MODEL) for part in (SubqueryResults(QUESTION, (RIGHT, WRONG)), other)])
    alone = grade([assess(SubqueryResults(QUESTION, (RIGHT, WRONG)), MODEL)])
    assert sorted(c.chunk_id for c in graded) == ["right", "wrong"]
    assert max(c.relevance or 0 for c in graded if c.chunk_id == "right") == alone[0].relevance


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many guests does the hall seat?", "The hall seats eighty guests."),
        ("How often are the bins emptied?", "The bins are emptied on Tuesdays."),
        ("How much is refunded?", "A quarter of it is refunded."),
        ("How many guests are allowed?", "No guests are allowed."),
        ("Am I allowed to bring a dog?", "Dogs are not allowed."),
        ("If I cancel, is the deposit refunded?", "If you cancel, the deposit is not refunded."),
        ("Which staff must wear badges?", "All staff must wear badges."),
    ],
)
def test_an_answer_may_be_one_small_word(question: str, text: str) -> None:
    """Amounts in words and by days, "all", "no" and a plain denial can answer, though the rest repeats the question."""
    assert possible_answers(question, chunk("a", text, 0.9)) == (True,)


@pytest.mark.parametrize(
    ("question", "text", "can"),
    [
        ("How often is the chiller inspected?", "The chiller is inspected every 90 days.", True),
        ("How often is the chiller inspected?", "The chiller was inspected on 4 March 2025.", False),
        ("How often is the pool cleaned?", "The pool is cleaned at the beginning of each shift.", True),
        ("How often is the pool cleaned?", "Cleaning the pool takes 40 minutes.", False),
        ("When is the gate locked?", "The gate is locked after the last guest has left.", True),
        ("When is the gate locked?", "The gate has a lock of steel.", False),
        ("What time does the bar close?", "The bar closes at midnight.", True),
        ("What time does the bar close?", "The bar is beside the pool.", False),
        ("What time do guests meet?", "Guests meet at the gate.", False),
        ("When do guests meet?", "Guests meet at ten.", True),
        ("When was the shed built?", "The shed holds 400 pots.", False),
        ("When was the shed built?", "The shed is of 1894.", True),
        ("Which Nimbus model do I get?", "All drivers get a Nimbus radio.", False),
        ("Which Nimbus model do I get?", "All drivers get a Nimbus 12.", True),
        ("Which Nimbus version is needed?", "The panel needs Nimbus Lite.", True),
        ("What does it mean when a lamp blinks?", "A blinking lamp asks for help.", True),
    ],
)
def test_a_frequency_or_a_time_is_answered_by_one(question: str, text: str, can: bool) -> None:
    """A date says not how often, and a sentence without any time not when."""
    assert has_kind(question, text) is can


@pytest.mark.parametrize("text", ["", "?", "😀"])
def test_nothing_to_measure_is_no_error(text: str) -> None:
    """A blank question, a blank chunk and an empty pool are graded without an error."""
    assert grade([assess(SubqueryResults(text, ()), MODEL)]) == []
    (only,) = grade([assess(SubqueryResults(text, (chunk("blank", text, 0.0),)), MODEL)])
    assert only.relevance is not None
    assert only.relevance < 0.8


def test_an_unknown_embedding_model_is_judged_by_words() -> None:
    """Cosines of an uncalibrated model change no probability: the model for unknown embeddings uses words alone."""
    unknown = calibration_for("no-such-model", load_calibrations())
    assert unknown == load_calibrations()[LEXICAL]
    models = (unknown.relevance, unknown.relevance_read, unknown.answers, unknown.answers_read)
    assert {name for model in models for name in model.weights}.isdisjoint({"chunk_similarity", "sentence_similarity"})


def test_calibrated_cosine_is_no_raw_cosine() -> None:
    """The cosine of a good match, .6 with this model, is worth more than it looks, that of an unrelated text less."""
    good, unrelated = (MODEL.cosine.probability({"chunk_similarity": cosine}) for cosine in (0.65, 0.2))
    assert good > 0.65
    assert unrelated < 0.2


def test_extreme_evidence_does_not_overflow() -> None:
    """However extreme the evidence, a probability is a number."""
    model = Logistic(0.0, {"x": 1e6})
    assert [model.probability({"x": at}) for at in (-1e6, 0.0, 1e6)] == [0.0, 0.5, 1.0]
