"""The extractive synthesizer: sentences of the chunks, each with its marker, or nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from answering.extract.passages_answer import ExtractiveSynthesizer
from answering.relevance.graders import Calibration, assess, load_calibrations
from answering.text.sentences import sentence_spans
from answering.types import MIN_CONFIDENCE, Chunk, Draft, Passage, Question, ReadPassage, SubqueryResults
from tests.support.synthesis import Tokens, bare, chunk, cited, marked, question

TOWER = chunk(1, "The Eiffel Tower is in Paris. It was finished in\n1889. Many people visit it.", "Eiffel Tower")
MUSEUM = chunk(2, "The museum opens at nine in the morning. Tickets cost ten euros.", "Museum", similarity=0.2)
NOISE = chunk(3, "Bread needs flour, water, salt and time.", "Bread", similarity=0.05)
WHEN = question("When was the Eiffel Tower finished?")


def seen(asked: str, answering: Chunk, *others: Chunk) -> SubqueryResults:
    """A reading in which *answering* is near to the question and nothing else is."""
    near = replace(answering, similarity=0.8, keyword=0.8, span_similarities=(0.8,) * len(answering.spans))
    far = [replace(c, similarity=0.1, keyword=0.0, span_similarities=(0.1,) * len(c.spans)) for c in others]
    return SubqueryResults(asked, (near, *far))


async def answer(
    calibration: Calibration, asked: Question, chunks: list[Chunk], *subquery_results: SubqueryResults
) -> tuple[Draft, str]:
    tokens = Tokens()
    assessed = [assess(results, calibration) for results in subquery_results]
    draft = await ExtractiveSynthesizer().synthesize(asked, chunks, assessed, tokens)
    return draft, tokens.text


async def test_every_sentence_is_verbatim_and_marked(calibration: Calibration) -> None:
    """Each sentence is in its chunk, white space aside, and carries the 1-based place of that chunk."""
    draft, _ = await answer(calibration, WHEN, [NOISE, TOWER], seen(WHEN.text, TOWER, NOISE, MUSEUM))
    flat, plain = " ".join(TOWER.text.split()), bare(draft.text)
    sentences = [plain[start:end] for start, end in sentence_spans(plain)]
    assert all(sentence in flat for sentence in sentences)
    assert cited(marked(draft)) == [2] * len(sentences)
    assert "finished in 1889" in draft.text


async def test_max_tokens_leaves_whole_sentences(calibration: Calibration) -> None:
    """Past ``maxTokens`` sentences go, those that answer least first; what is left is whole, cited and not nothing."""
    bridge = chunk(1, "The Orrin bridge was built in 1931. The Orrin bridge was built by Ada Lund.", "Orrin bridge")
    when = question("When was the Orrin bridge built, and by whom was it built?")
    whole, _ = await answer(calibration, when, [bridge], seen(when.text, bridge, NOISE))
    assert cited(marked(whole)) == [1, 1]
    for most, sentences in ((40, 2), (len(whole.text) // 4 - 1, 1), (5, 1)):
        draft, emitted = await answer(
            calibration, replace(when, max_tokens=most), [bridge], seen(when.text, bridge, NOISE)
        )
        assert emitted == marked(draft)
        assert cited(marked(draft)) == [1] * sentences
        assert len(draft.text) <= 4 * most or sentences == 1
        assert all(part in whole.text for part in draft.text.split(". "))


async def test_a_low_max_tokens_keeps_a_list_from_its_beginning(calibration: Calibration) -> None:
    """Of a list the last items go first, and its lead-in never stands alone."""
    text = "To stop the pump at once, do this:\n\n- Press the red button.\n- Close valve A.\n- Call the foreman."
    pump = replace(chunk(1, text, "Pump"), span_similarities=(0.8, 0.1, 0.1, 0.1))
    stop = question("How do I stop the pump at once?")
    found = []
    for most in (100, 22, 1):
        draft, _ = await answer(
            calibration, replace(stop, max_tokens=most), [pump], SubqueryResults(stop.text, (pump,))
        )
        found.append([part for part in ("do this", "red button", "valve A", "foreman") if part in draft.text])
    assert found == [
        ["do this", "red button", "valve A", "foreman"],
        ["do this", "red button", "valve A"],
        ["do this", "red button"],
    ]


async def test_a_low_max_tokens_keeps_an_answer_to_each_part(calibration: Calibration) -> None:
    """The best sentence of each sub-question stays; the further ones of both go."""
    parts = ("When was the Eiffel Tower finished?", "When does the museum open?")
    asked = replace(question(" ".join(parts), max_tokens=1), sub_questions=parts)
    tower = replace(TOWER, span_similarities=(0.7, 0.9, 0.1))
    museum = replace(MUSEUM, similarity=0.8, keyword=0.8, span_similarities=(0.8, 0.7))
    results = (SubqueryResults(parts[0], (tower, NOISE)), SubqueryResults(parts[1], (museum, NOISE)))
    draft, _ = await answer(calibration, asked, [tower, museum], *results)
    assert bare(draft.text).split(". ") == ["It was finished in 1889", "The museum opens at nine in the morning."]


async def test_a_low_max_tokens_keeps_what_a_follow_up_added(calibration: Calibration) -> None:
    """A sentence that names what a follow-up added is better than one that does not, for an answer of one sentence."""
    asked = replace(question("When was the Eiffel Tower finished, and visited?", max_tokens=1), added=("visit",))
    tower = replace(TOWER, span_similarities=(0.2, 0.95, 0.6))
    draft, _ = await answer(calibration, asked, [tower], SubqueryResults(asked.text, (tower, NOISE)))
    assert marked(draft) == "Many people visit it [1]."


async def test_what_is_emitted_is_the_draft(calibration: Calibration) -> None:
    """The stream and the draft are one text."""
    draft, emitted = await answer(calibration, WHEN, [TOWER], seen(WHEN.text, TOWER, NOISE))
    assert emitted == marked(draft) != ""


async def test_confidence_is_the_calibrated_probability(calibration: Calibration) -> None:
    """An answered question is at or above ``min_confidence``, an unanswered one below it and without text."""
    good, _ = await answer(calibration, WHEN, [TOWER], seen(WHEN.text, TOWER, NOISE))
    assert good.confidence is not None
    assert good.confidence >= MIN_CONFIDENCE
    far = question("Who invented the steam engine?")
    bad, emitted = await answer(calibration, far, [MUSEUM], SubqueryResults(far.text, (MUSEUM, NOISE)))
    assert (bad.text, emitted) == ("", "")
    assert bad.confidence is not None
    assert bad.confidence < MIN_CONFIDENCE


async def test_of_two_copies_the_one_that_says_more_is_cited(calibration: Calibration) -> None:
    """A copy that was cut short does not stand for the whole text, even where it matches better by chance."""
    cut = replace(
        chunk(4, "The Eiffel Tower is in Paris. It was finished in\n1889.", "Eiffel Tower"), near_duplicates=("c1",)
    )
    copies = seen(WHEN.text, cut, NOISE)
    whole = replace(seen(WHEN.text, TOWER).chunks[0], similarity=0.79, near_duplicates=("c4",))
    draft, _ = await answer(calibration, WHEN, [cut, TOWER], SubqueryResults(WHEN.text, (*copies.chunks, whole)))
    assert "finished in 1889" in draft.text
    assert set(cited(marked(draft))) == {2}


async def test_only_chunks_that_passed_may_answer(calibration: Calibration) -> None:
    """The best chunk of the pool is not cited when it is below the relevance threshold."""
    draft, _ = await answer(calibration, WHEN, [MUSEUM], seen(WHEN.text, TOWER, MUSEUM))
    assert "1889" not in draft.text


@pytest.mark.parametrize(
    ("added", "section", "answers"),
    [(("tower",), None, True), (("pari",), None, False), (("pari",), "In Paris", True), (("contractor",), None, False)],
)
async def test_an_answer_shows_what_a_follow_up_added(
    calibration: Calibration, added: tuple[str, ...], section: str | None, answers: bool
) -> None:
    """Sentences that name neither by themselves nor by a heading what a follow-up added are no answer to it."""
    tower = chunk(1, "It was finished in 1889 by the river. Paris is near. Bread is sold.", "Eiffel Tower")
    tower = replace(tower, section=section, span_similarities=(0.8, 0.1, 0.1))
    asked = replace(question("When was the Eiffel Tower finished by the river?"), added=added)
    draft, _ = await answer(calibration, asked, [tower], SubqueryResults(asked.text, (tower, NOISE)))
    assert ("1889" in draft.text) is answers
    assert ((draft.confidence or 0.0) >= MIN_CONFIDENCE) is answers


async def test_of_two_chunks_the_one_that_shows_what_was_added_answers(calibration: Calibration) -> None:
    """A chunk that names what a follow-up added answers, though another one is nearer to the question."""
    other = chunk(5, "The Eiffel Tower in Blackpool was finished in 1894.", "Eiffel Tower", similarity=0.6)
    asked = replace(WHEN, added=("blackpool",))
    draft, _ = await answer(
        calibration, asked, [TOWER, other], SubqueryResults(WHEN.text, (*seen(WHEN.text, TOWER).chunks, other))
    )
    assert "1894" in draft.text
    assert "1889" not in draft.text


async def test_a_compound_question_is_one_answer(calibration: Calibration) -> None:
    """Each part that is answered adds its sentences, in order; the confidence is that of the weakest."""
    parts = ("When was the Eiffel Tower finished?", "When does the museum open?")
    asked = replace(question(" ".join(parts)), sub_questions=parts)
    subquery_results = (seen(parts[0], TOWER, MUSEUM, NOISE), seen(parts[1], MUSEUM, TOWER, NOISE))
    draft, _ = await answer(calibration, asked, [TOWER, MUSEUM], *subquery_results)
    assert re.search(r"1889 \[1\]\..*nine in the morning \[2\]\.", marked(draft), re.DOTALL)
    single = [
        (await answer(calibration, asked, [TOWER, MUSEUM], reading))[0].confidence for reading in subquery_results
    ]
    assert draft.confidence == min(c for c in single if c is not None)


async def test_half_an_answer_is_given(calibration: Calibration) -> None:
    """A part that is not answered takes nothing away from the other, and is named as not answered."""
    parts = ("When was the Eiffel Tower finished?", "Who invented the steam engine?")
    asked = replace(question(" ".join(parts)), sub_questions=parts)
    draft, _ = await answer(
        calibration, asked, [TOWER], seen(parts[0], TOWER, NOISE), SubqueryResults(parts[1], (MUSEUM, NOISE))
    )
    assert "1889" in draft.text
    assert "museum" not in draft.text
    assert draft.text.endswith(f"The passages found do not answer: {parts[1]}")


async def test_what_is_not_answered_is_shown_as_a_question(calibration: Calibration) -> None:
    """A sub-question that lost its question mark to the split has one where it is named as not answered."""
    parts = ("Who invented the steam engine", "When was the Eiffel Tower finished?")
    asked = replace(question("and ".join(parts)), sub_questions=parts)
    noise = SubqueryResults(parts[0], (MUSEUM, NOISE))
    draft, _ = await answer(calibration, asked, [TOWER], noise, seen(parts[1], TOWER, NOISE))
    assert draft.text.endswith(f"The passages found do not answer: {parts[0]}?")


@pytest.mark.parametrize("noise", ["[3]", "[1, 2]", "【7】", "[^2]"])
async def test_brackets_of_a_document_stay(calibration: Calibration, noise: str) -> None:
    """A bracketed number of the document is content: it stands in the draft, and is no citation."""
    other = chunk(1, f"The Eiffel Tower was finished in 1889 {noise}.", "Eiffel Tower")
    draft, _ = await answer(calibration, WHEN, [other], seen(WHEN.text, other, NOISE))
    assert draft.text == f"The Eiffel Tower was finished in 1889 {noise}."
    assert [source.chunks for sentence in draft.sentences for source in sentence.sources] == [(0,)]


async def test_sentences_without_a_full_stop_stay_apart(calibration: Calibration) -> None:
    """Two items of a list, which end in no mark, are two sentences in the answer too."""
    listed = chunk(1, "- Eiffel Tower finished in 1889\n- Eiffel Tower finished by Gustave Eiffel", "Tower")
    draft, _ = await answer(calibration, WHEN, [listed], seen(WHEN.text, listed, NOISE))
    plain = bare(draft.text)
    assert [plain[start:end] for start, end in sentence_spans(plain)] == listed.sentences


async def test_nothing_retrieved_is_nothing_answered(calibration: Calibration) -> None:
    """Without readings there is no text and no confidence."""
    draft, _ = await answer(calibration, WHEN, [])
    assert draft == Draft(confidence=0.0)


async def test_the_bar_is_the_questions_own(calibration: Calibration) -> None:
    """A lower least confidence lets through an answer that the usual one turns away."""
    far = question("Who invented the steam engine?")
    reading = SubqueryResults(far.text, (MUSEUM, NOISE))
    bad, _ = await answer(calibration, far, [MUSEUM], reading)
    assert bad.text == ""
    bold, _ = await answer(calibration, replace(far, min_confidence=0.0), [MUSEUM], reading)
    assert bold.text != ""


async def test_a_list_is_written_as_a_list(calibration: Calibration) -> None:
    """Items stand below each other with their bullets, and lines of code between backticks, each with its marker."""
    text = "To stop the pump:\n\n1. Press the red button.\n2. Run this:\n```\npump --off\n```"
    pump = replace(chunk(1, text, "Pump"), span_similarities=(0.8, 0.1, 0.1, 0.1))
    stop = question("How do I stop the pump?")
    draft, _ = await answer(calibration, stop, [pump], SubqueryResults(stop.text, (pump,)))
    assert marked(draft) == (
        "To stop the pump: [1]\n\n1. Press the red button [1].\n2. Run this: [1]\n\n`pump --off` [1]"
    )


async def test_tables_and_code_are_written_as_such(calibration: Calibration) -> None:
    """Rows are a Markdown table with markers in their last cells; code keeps its lines, and its lead-in is cited."""
    hours = chunk(1, "Our hours:\n\n| Day | From |\n|---|---|\n| Thu | 7:00 |\n| Fri | 8:30 |", "Hours")
    asked = question("What are our hours on Fri?")
    near = replace(hours, span_similarities=(0.1, 0.1, 0.1, 0.9))
    draft, _ = await answer(calibration, asked, [near], SubqueryResults(asked.text, (near,)))
    assert marked(draft) == "| Day | From [1] |\n|---|---|\n| Fri | 8:30 [1] |"
    switch = chunk(1, "Switch the gateway with:\n\n```yaml\n  gateway:\n    primary: b\n```\n\nBe quick.", "Gateway")
    near = replace(switch, span_similarities=(0.9, 0.1, 0.1))
    asked = question("How do I switch the gateway?")
    draft, _ = await answer(calibration, asked, [near], SubqueryResults(asked.text, (near,)))
    assert marked(draft) == "Switch the gateway with: [1]\n\n```\ngateway:\n  primary: b\n```"


def reading(*margins: float, answerable: float) -> ReadPassage:
    """A reading whose sentences lie that far above "none of them"."""
    return ReadPassage(margins, 0.0, answerable)


async def both(first: ReadPassage, second: ReadPassage) -> str:
    """What is answered from the tower and another one that were read so."""
    near = seen(WHEN.text, TOWER).chunks[0]
    rival = replace(near, chunk_id="4", document_id="4", text="The tower was finished in 1931. It is of stone.")
    spans = sentence_spans(rival.text)
    rival = replace(rival, spans=spans, span_similarities=(0.8,) * len(spans), reading=second)
    found = SubqueryResults(WHEN.text, (replace(near, reading=first), rival))
    calibration = load_calibrations()["all-MiniLM-L6-v2"]
    return marked((await answer(calibration, WHEN, list(found.chunks), found))[0])


async def test_a_second_passage_is_quoted_where_the_first_is_not_sure() -> None:
    """Two passages that answer about as probably are both quoted, of the second its best sentence; a sure one alone."""
    unsure, surer = reading(-5.0, 0.5, -5.0, answerable=-5.0), reading(-5.0, 6.0, -5.0, answerable=6.0)
    rival, poor = reading(0.4, -5.0, answerable=-5.0), reading(-9.0, -9.0, answerable=-12.0)
    assert "1931" in await both(unsure, rival)
    assert "of stone" not in await both(unsure, rival)
    assert "1931" not in await both(unsure, poor)
    assert "1931" not in await both(surer, rival)


async def test_what_excepts_is_quoted_beside_a_sure_answer() -> None:
    """A rule is only half told without it; another passage that answers as probably is not."""
    asked = question("Do you give medicines to children?")
    rule = chunk(1, "We do not give medicines to children.", "Rules")
    drafts = []
    for text in ("Only an inhaler is given to children.", "The nurse gives no medicines to children."):
        other = chunk(2, text, "Questions", similarity=0.8)
        passages = [replace(seen(asked.text, c).chunks[0], reading=reading(6.0, answerable=6.0)) for c in (rule, other)]
        assessed = assess(SubqueryResults(asked.text, (*passages,)), load_calibrations()["all-MiniLM-L6-v2"])
        drafts.append(marked(await ExtractiveSynthesizer().synthesize(asked, assessed.chunks, [assessed], None)))
    assert drafts[0] == "We do not give medicines to children [1]. Only an inhaler is given to children [2]."
    assert drafts[1].count("[") == 1


class SentenceReader:
    """Says of what it reads that its last sentence lies ``margin`` above "none of them"; keeps what it read."""

    def __init__(self, margin: float) -> None:
        self.margin = margin
        self.read_texts: list[tuple[str, ...]] = []

    async def read(self, _: str, passage: Passage) -> ReadPassage:
        self.read_texts.append(passage.sentences)
        return ReadPassage((-5.0,) * (len(passage.sentences) - 1) + (self.margin,), 0.0, self.margin)

    async def support(self, claim: str, passage: Passage) -> float:
        raise NotImplementedError


async def read_again(reader: SentenceReader | None, text: str, best: int, *nearer: Chunk) -> Draft:
    """The draft over *text*, whose sentence *best* was found to answer in its passage; others are *nearer*."""
    passage = seen(WHEN.text, chunk(1, text, "Tower")).chunks[0]
    margins = [6.0 if n == best else -5.0 for n in range(len(passage.spans))]
    passage = replace(passage, reading=reading(*margins, answerable=6.0))
    assessed = assess(SubqueryResults(WHEN.text, (*nearer, passage)), load_calibrations()["all-MiniLM-L6-v2"])
    return await ExtractiveSynthesizer(reader).synthesize(WHEN, assessed.chunks, [assessed], None)


async def test_the_sentence_that_answers_is_read_once_more_alone() -> None:
    """What it says when it stands alone counts: with a no the answer is less sure, with a clear no it is gone."""
    text = "The Eiffel Tower is in Paris. The Eiffel Tower was finished in 1889. Many people visit it."
    agreeing = SentenceReader(6.0)
    sure, less = await read_again(agreeing, text, 1), await read_again(SentenceReader(-4.0), text, 1)
    assert agreeing.read_texts == [("The Eiffel Tower was finished in 1889.",)]
    assert sure.confidence is not None
    assert less.confidence is not None
    assert sure.confidence > less.confidence
    assert "1889" in marked(sure)
    assert not (await read_again(SentenceReader(-12.0), text, 1)).sentences


async def test_what_answers_only_after_nearer_passages_did_not_is_less_sure() -> None:
    """The more passages are read, the more easily one of them seems to answer."""
    text = "The Eiffel Tower is in Paris. The Eiffel Tower was finished in 1889. Many people visit it."
    declining = reading(-6.0, -6.0, answerable=-6.0)
    nearer = [replace(MUSEUM, chunk_id=f"m{n}", reading=declining) for n in range(4)]
    drafts = [await read_again(SentenceReader(2.0), text, 1, *nearer[:n]) for n in range(5)]
    stated = [draft.confidence or 0.0 for draft in drafts]
    assert stated == sorted(stated, reverse=True)
    assert len(set(stated)) == len(stated)


async def test_a_sentence_is_read_with_what_its_pronoun_refers_to() -> None:
    """Alone, "It was finished in 1889" answers for any building."""
    reader = SentenceReader(6.0)
    await read_again(reader, "The Eiffel Tower is in Paris. It was finished in 1889. Many people visit it.", 1)
    assert reader.read_texts == [("The Eiffel Tower is in Paris.", "It was finished in 1889.")]


async def test_a_definition_is_not_read_alone() -> None:
    """The term often stands before its definition, which alone says nothing about it."""
    reader = SentenceReader(-12.0)
    asked = question("What is a weir?")
    entry = chunk(1, "Weir. A low dam that holds water back.", "Glossary")
    entry = replace(seen(asked.text, entry).chunks[0], reading=reading(-5.0, 6.0, answerable=6.0))
    assessed = assess(SubqueryResults(asked.text, (entry,)), load_calibrations()["all-MiniLM-L6-v2"])
    draft = await ExtractiveSynthesizer(reader).synthesize(asked, assessed.chunks, [assessed], None)
    assert "low dam" in marked(draft)
    assert reader.read_texts == []


@pytest.mark.parametrize(
    ("section", "lead"),
    [("4 What is not allowed", "4 What is not allowed:"), ("Barbecues", ""), ("Are barbecues not allowed?", "")],
)
async def test_a_heading_that_denies_leads_in_what_stands_below_it(
    calibration: Calibration, section: str, lead: str
) -> None:
    """Without it "Barbecues on the pontoon" would read as a permission; it cites nothing."""
    rules = replace(chunk(1, "Barbecues on the pontoon. They go out at ten.", "Rules"), section=section)
    asked = question("Are barbecues allowed on the pontoon?")
    draft, emitted = await answer(calibration, asked, [rules], seen(asked.text, rules, NOISE))
    assert bare(draft.text).startswith(f"{lead}\n\nBarbecues" if lead else "Barbecues")
    assert emitted == marked(draft)


async def test_a_row_that_does_not_answer_is_none_of_those_that_are_asked_for() -> None:
    """Its table answers which items are sold out, but the first row does not; a question for one thing keeps it."""
    rows = chunk(1, "| Item | Left |\n| Brass screws | 38 |\n| Rubber mallet | 0 |", "Stock")
    confidence = []
    for text in ("Which items are sold out of the screws?", "What is the stock of brass screws that are left?"):
        asked = question(text)
        passage = replace(seen(text, rows).chunks[0], reading=reading(-9.0, -0.5, -2.0, answerable=6.0))
        assessed = assess(SubqueryResults(text, (passage,)), load_calibrations()["all-MiniLM-L6-v2"])
        draft = await ExtractiveSynthesizer(SentenceReader(2.0)).synthesize(asked, assessed.chunks, [assessed], None)
        confidence.append(draft.confidence or 0.0)
    assert confidence[0] < MIN_CONFIDENCE < confidence[1]
