"""Extractive answers: which sentences, and how sure."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from answering.extract.sentences import MAX_SENTENCES, Sentence, answering_sentences
from answering.relevance.graders import assess, load_calibrations
from answering.text.context import texts_to_read
from answering.text.sentences import sentence_spans
from answering.types import MIN_CONFIDENCE, Chunk, SubqueryResults

MODEL = load_calibrations()["all-MiniLM-L6-v2"]


def chunk(name: str, text: str, *cosines: float, title: str = "") -> Chunk:
    spans = sentence_spans(text)
    best = max(cosines, default=0.0)
    similarities = tuple(cosines) or (best,) * len(spans)
    assert len(similarities) == len(spans)
    return Chunk(
        chunk_id=name,
        document_id=name,
        title=title,
        text=text,
        similarity=best,
        keyword=best,
        spans=spans,
        span_similarities=similarities,
    )


KALE = chunk(
    "kale", "Kale likes lime. Kale is sown in April. Bees visit it. Slugs eat all.", 0.5, 0.85, 0.2, 0.1, title="Kale"
)
ROSE = chunk("rose", "Roses need pruning. They smell.", 0.2, 0.1, title="Roses")
ASKED = SubqueryResults("When is kale sown?", (ROSE, KALE))


def best(results: SubqueryResults) -> Chunk:
    """The candidate that most probably answers."""
    return max(assess(results, MODEL).chunks, key=lambda chunk: chunk.answers or 0.0)


def extract(results: SubqueryResults) -> tuple[Sentence, ...]:
    """The sentences of that candidate."""
    return answering_sentences(best(results), results.question)


def test_the_sentence_that_answers_is_quoted() -> None:
    """The answer holds the sentence that answers, verbatim at its offsets, and leaves out those that do not."""
    found = extract(ASKED)
    assert "Kale is sown in April." in [sentence.text for sentence in found]
    assert "Slugs eat all." not in [sentence.text for sentence in found]
    assert all(KALE.text[s.start : s.end] == s.text and s.chunk_id == "kale" for s in found)


def test_a_sentence_on_another_label_answers_nothing() -> None:
    """Of sentences that differ in their label, the one that was asked for is quoted, and where it is missing, none."""
    text = "Garage A costs 12 euros a day. Garage B costs 14 euros a day. The park is green."
    found = extract(SubqueryResults("What does garage B cost a day?", (chunk("g", text, 0.8, 0.8, 0.1),)))
    assert [sentence.text for sentence in found] == ["Garage B costs 14 euros a day."]
    other = f"{text} Garage C has a blue door."
    missing = best(SubqueryResults("What does garage C cost a day?", (chunk("g", other, 0.8, 0.8, 0.1, 0.1),)))
    assert missing.answers < MIN_CONFIDENCE


def test_a_table_row_comes_with_its_header() -> None:
    """Of a table the row that answers is quoted together with the row that names its cells."""
    text = "Seeds of the garden.\n\n| plant | sown in |\n|---|---|\n| rose | May |\n| kale | April |\n"
    table = chunk("table", text, 0.3, 0.3, 0.2, 0.9, title="Seeds")
    found = extract(SubqueryResults("When is kale sown?", (table,)))
    assert [sentence.text for sentence in found] == ["| plant | sown in |", "| kale | April |"]


def test_a_header_is_quoted_whatever_it_seems_to_be_about() -> None:
    """ "Price" below "Lamp Corvo" is ambiguous without the names of both columns, though these name no Corvo."""
    text = "| Lamp | Price | Purchase price |\n|---|---|---|\n| Lamp Corvo | 48 | 21 |\n| Lamp Vega | 52 | 30 |\n"
    table = chunk("table", text, 0.3, 0.9, 0.5)
    found = extract(SubqueryResults("What is the purchase price of the lamp Corvo?", (table,)))
    assert [sentence.text for sentence in found] == ["| Lamp | Price | Purchase price |", "| Lamp Corvo | 48 | 21 |"]


def test_a_clear_answer_clears_gate_two_and_a_poor_one_does_not() -> None:
    """Where a sentence plainly answers, the probability reaches ``min_confidence``; where none does, it stays below."""
    far = replace(KALE, similarity=0.2, keyword=0.0, span_similarities=(0.1, 0.2, 0.1, 0.1))
    poor = SubqueryResults("Who sells tractors?", (ROSE, far))
    assert best(ASKED).answers >= MIN_CONFIDENCE > best(poor).answers


def answer(question: str, found: Chunk) -> list[str]:
    return [sentence.text for sentence in extract(SubqueryResults(question, (found,)))]


def test_what_cannot_answer_is_not_quoted() -> None:
    """Headings, questions, code and what merely repeats the question are left out while anything else is there."""
    text = "# Sowing kale\n\nWhen is kale sown?\n\nKale sown.\n\n```\nsow kale --when\n```\n\nKale is sown in April."
    kale = chunk("kale", text, 0.9, 0.9, 0.9, 0.9, 0.5)
    assert answer("When is kale sown?", kale) == ["Kale is sown in April."]
    assert answer("When is kale sown?", chunk("kale", "When is kale sown?", 0.9)) == ["When is kale sown?"]


def test_a_mere_lead_in_of_what_is_too_long_is_no_answer() -> None:
    """ "For example:" before a long block of code, which is not quoted, says nothing; before a short one it does."""
    for lines, expected in ((9, "Then go on."), (2, "For example:")):
        code = "\n".join(f"x{n} = ma.masked_where(n > {n}, x)" for n in range(lines))
        text = f"For example:\n\n```\n{code}\n```\n\nThen go on."
        assert answer("How do I mask an array?", chunk("m", text, 0.9, 0.1, 0.1))[0] == expected


def test_of_code_alone_the_lines_that_say_what_is_asked_are_quoted() -> None:
    """Where a passage is nothing but code, its lines with the words of the question are quoted, in their order."""
    code = "cli open\ncli goto example.org\ncli type x\n# take a screenshot\ncli screenshot\ncli close\ncli end"
    found = answer("How do I take a screenshot?", chunk("cli", f"# Start\n\n```\n{code}\n```", 0.1, 0.9))
    assert {"`# take a screenshot`", "`cli screenshot`"} <= set(found)
    assert len(found) == MAX_SENTENCES


def test_whether_something_is_so_is_answered_in_its_own_words() -> None:
    """To a question for yes or no a sentence that repeats its words, with or without "not", is an answer."""
    kale = chunk("kale", "Kale is not hardy. Cabbage is sown in April.", 0.9, 0.3)
    assert "Kale is not hardy." in answer("Is kale hardy?", kale)
    assert "Kale is not hardy." not in answer("When is kale hardy?", kale)
    may = chunk("may", "Kale may be sown. In May kale is sown.", 0.9, 0.5)
    assert answer("When is kale sown?", may) == ["In May kale is sown."]


def test_a_further_sentence_must_be_worth_its_length() -> None:
    """Of two further sentences that match alike, the short one is quoted and the long one is not."""
    long = "They like it " + "very " * 50 + "much."
    short = chunk("kale", "Kale is sown in April. They like it.", 0.8, 0.8, title="Kale")
    assert len(answer("When is kale sown?", short)) == 2
    assert len(answer("When is kale sown?", chunk("k", f"Kale is sown in April. {long}", 0.8, 0.8, title="Kale"))) == 1


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_an_answer_is_short_and_reads_in_order(cosines: list[float]) -> None:
    """Whatever the similarities, an answer is one to three sentences of one chunk, in the order they stand there."""
    reading = SubqueryResults(ASKED.question, (replace(KALE, span_similarities=tuple(cosines)),))
    found = extract(reading)
    starts = [sentence.start for sentence in found]
    assert 1 <= len(starts) <= MAX_SENTENCES
    assert starts == sorted(starts)
    assert len({sentence.chunk_id for sentence in found}) == 1


def test_a_lead_in_comes_with_what_it_leads_in() -> None:
    """A sentence that ends with a colon brings the items of its list, or its line of code, and nothing after them."""
    text = (
        "To stop the pump:\n\n1. Turn the wheel.\n2. Wait.\n\nIt is loud. Start the pump with:\n\n```\npump --on\n```\n"
    )
    cosines = 0.9, 0.1, 0.1, 0.1, 0.3, 0.1
    found = extract(SubqueryResults("How do I stop the pump?", (chunk("pump", text, *cosines, title="Pump"),)))
    assert [sentence.text for sentence in found][:3] == ["To stop the pump:", "Turn the wheel.", "Wait."]
    assert "It is loud." not in [sentence.text for sentence in found]
    cosines = 0.1, 0.1, 0.1, 0.1, 0.9, 0.1
    found = extract(SubqueryResults("How do I start the pump?", (chunk("pump", text, *cosines, title="Pump"),)))
    assert [sentence.text for sentence in found][-2:] == ["Start the pump with:", "`pump --on`"]


def test_a_lead_in_comes_with_its_table() -> None:
    """The rows of a table are quoted with the sentence that says what they are of."""
    text = "The opening hours are:\n\n| Day | From |\n|---|---|\n| Monday | 9:00 |\n\nAll is well."
    spans = len(sentence_spans(text))
    found = extract(SubqueryResults("What are the opening hours?", (chunk("h", text, 0.9, *[0.1] * (spans - 1)),)))
    assert "| Monday | 9:00 |" in "\n".join(sentence.text for sentence in found)
    assert "All is well." not in [sentence.text for sentence in found]


def test_an_item_of_a_list_comes_with_its_lead_in() -> None:
    """An item that answers is quoted after the sentence that says what the list is of; prose after the list is not."""
    text = "Any of these is untrue:\n\n- Kale is sown in May.\n- Roses are blue.\n\nAll is well. Kale is green."
    found = extract(SubqueryResults("When is kale sown?", (chunk("k", text, 0.1, 0.9, 0.1, 0.1, 0.1, title="Kale"),)))
    assert [sentence.text for sentence in found][:2] == ["Any of these is untrue:", "Kale is sown in May."]
    found = extract(SubqueryResults("Is kale green?", (chunk("k", text, 0.1, 0.1, 0.1, 0.1, 0.9, title="Kale"),)))
    assert [sentence.text for sentence in found] == ["Kale is green."]


def test_how_many_is_answered_with_an_amount() -> None:
    """Where the question asks for an amount, a sentence with one is quoted before any that has none."""
    text = "Change the passcode of the phone. It must have at least six digits."
    assert "It must have at least six digits." in answer("How long must the passcode be?", chunk("p", text, 0.9, 0.2))
    assert answer("How often is it watered?", chunk("p", "It is watered. It is watered daily.", 0.9, 0.3)) == [
        "It is watered daily."
    ]
    assert "Change the passcode of the phone." in answer("What is changed?", chunk("p", text, 0.9, 0.2))


RUNBOOK = (
    "1. Tell the team.\n2. Look which node leads:\n```\nctl status\n```\n"
    "3. Fence the old node:\n```\nctl fence a\nctl wait\n```\n"
    "  If fencing fails, cut the power.\n4. Promote the new node.\n\nAll is well then."
)


def test_steps_are_quoted_from_the_first_to_the_last() -> None:
    """Asked how, a numbered list is quoted with all its steps, their numbers and their code, as it stands there."""
    runbook = chunk("run", RUNBOOK, 0.9, *[0.2] * (len(sentence_spans(RUNBOOK)) - 1), title="Failover")
    steps = extract(SubqueryResults("What are the steps of a failover?", (runbook,)))
    assert "".join(sentence.bullet for sentence in steps) == "1. 2. 3. 4. "
    assert [sentence.text for sentence in steps if sentence.text.startswith("`")] == [
        "`ctl status`",
        "```\nctl fence a\nctl wait\n```",
    ]
    assert "All is well then." not in [sentence.text for sentence in steps]
    chosen = extract(SubqueryResults("Is the team told?", (runbook,)))
    assert [sentence.text for sentence in chosen] == ["Tell the team."]


def test_a_step_that_introduces_code_answers_alone() -> None:
    """Where the step itself was asked for, it comes with its code and without the other steps."""
    spans = sentence_spans(RUNBOOK)
    cosines = [0.9 if RUNBOOK[start:end].startswith("Fence") else 0.1 for start, end in spans]
    fence = answer("How do I fence the old node?", chunk("run", RUNBOOK, *cosines, title="Failover"))
    assert fence == ["Fence the old node:", "```\nctl fence a\nctl wait\n```"]


def test_a_sentence_without_an_end_introduces_its_list() -> None:
    """ "Visitors are accompanied, except" brings what follows; a further sentence that only introduces is left out."""
    text = "Visitors are accompanied at all times, except\n\n- in the canteen.\n- on the open day.\n\nBadges are worn."
    assert answer("Are visitors always accompanied?", chunk("v", text, 0.9, 0.1, 0.1, 0.1))[:3] == [
        "Visitors are accompanied at all times, except",
        "in the canteen.",
        "on the open day.",
    ]
    states = "The text states:\n\n- the problem of the team,\n- the solution, and\n- who is asked."
    assert len(answer("Which problem of the team?", chunk("s", states, 0.1, 0.9, 0.1, 0.1))) == 4
    never = "Private use of the laptop is fine. Never store on the laptop:\n\n- photographs.\n- games."
    assert answer("Is private use of the laptop fine?", chunk("l", never, 0.9, 0.85, 0.1, 0.1)) == [
        "Private use of the laptop is fine."
    ]


def test_an_item_is_quoted_from_its_beginning() -> None:
    """Of an item of several sentences those before the one that answers are quoted too."""
    text = "Two things cause this:\n\n- Two servers have one name. The solution is to rename one.\n- The port is taken."
    assert answer("What is the solution?", chunk("z", text, 0.1, 0.1, 0.9, 0.1)) == [
        "Two things cause this:",
        "Two servers have one name.",
        "The solution is to rename one.",
    ]


def test_a_denial_answers_whether_something_is_so() -> None:
    """ "They cannot be reserved." has no other word than the question and answers it."""
    text = "Parking places are free. They cannot be reserved."
    assert "They cannot be reserved." in answer("Can parking places be reserved?", chunk("p", text, 0.5, 0.9))


def test_all_rows_are_quoted_where_all_are_asked_for() -> None:
    """Of a short table; else the three best would be an answer that lacks some without a word."""
    rows = ("| Ticket | Price |", "| Day | 8 |", "| Week | 30 |", "| Month | 90 |", "| Year | 300 |")
    table = chunk("table", "\n".join(rows), 0.5, 0.9, 0.8, 0.7, 0.3)
    for question, count in (
        ("List all tickets", 5),
        ("Which tickets are there?", 5),
        ("What is the price of a day?", 4),
    ):
        assert len(extract(SubqueryResults(question, (table,)))) <= count
    assert [s.text for s in extract(SubqueryResults("List all tickets", (table,)))] == [*rows]


CAMP = """\
- Dogs
  - on a lead
  - not allowed in:
    - the cabins
    - the wash house
- Fires
  - not allowed in:
    - the wood"""


def test_an_item_of_a_nested_list_comes_with_those_above_it() -> None:
    """And, below "not allowed in:", with its siblings; what is not allowed for fires says nothing of dogs."""
    nested = chunk("camp", CAMP, 0.4, 0.3, 0.5, 0.9, 0.5, 0.2, 0.5, 0.8, title="Camp")
    found = extract(SubqueryResults("Where are dogs not allowed?", (nested,)))
    assert [sentence.text for sentence in found] == ["Dogs", "not allowed in:", "the cabins", "the wash house"]
    assert texts_to_read(nested)[-1] == "Fires: not allowed in: the wood"


def quoted(text: str, question: str, *cosines: float) -> list[str]:
    """The sentences chosen of a chunk of *text*, without a reader."""
    (found,) = assess(SubqueryResults(question, (chunk("c", text, *cosines),)), MODEL).chunks
    return [sentence.text for sentence in answering_sentences(found, question, most=1)]


def test_what_limits_a_sentence_follows_it() -> None:
    """In its paragraph, and only where it opens as a limit; the next paragraph may limit something else."""
    free, due = "A booking is cancelled free of charge 21 days ahead.", "After that 60 % is due."
    question = "Until when is a booking cancelled free of charge?"
    assert quoted(f"{free} {due} Ask Mia.", question, 0.9, 0.1, 0.1) == [free, due]
    assert quoted(f"{free}\n\n{due} Ask Mia.", question, 0.9, 0.1, 0.1) == [free]
    assert quoted(f"{free} Ask Mia. {due}", question, 0.9, 0.1, 0.1) == [free]
