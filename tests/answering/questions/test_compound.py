"""Compound questions and their parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.questions.compound import MAX_SUB_QUESTIONS, split_questions


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Who founded the garden? And when was the greenhouse built?",
            ("Who founded the garden?", "when was the greenhouse built?"),
        ),
        (
            "what is the capital of France; also what is the population of Spain",
            ("what is the capital of France", "what is the population of Spain"),
        ),
        ("what is humus and who discovered penicillin", ("what is humus", "who discovered penicillin")),
        (
            "How old was Elway when he won? In which year was Rome founded?",
            ("How old was Elway when he won?", "In which year was Rome founded?"),
        ),
        (
            "Who bought the old bridge and where is it now?",
            ("Who bought the old bridge", "where is the old bridge now?"),
        ),
        ("what is humus and how is it made", ("what is humus", "how is humus made")),
        (
            "How many weeks of sick leave are there, and how long must I have been employed to use it?",
            ("How many weeks of sick leave are there", "how long must I have been employed to use sick leave?"),
        ),
        (
            "How long is the warranty? And what are its limits?",
            ("How long is the warranty?", "what are the warranty's limits?"),
        ),
        (
            "Who repairs the pumps, and how often must they be cleaned?",
            ("Who repairs the pumps", "how often must the pumps be cleaned?"),
        ),
        ("When do the pools open and how do I book them?", ("When do the pools open", "how do I book the pools?")),
        ("Where are the lockers and what is their size?", ("Where are the lockers", "what is the lockers' size?")),
        (
            "Which formats are read, how do I book the pool, when is lunch served, and what did Ada paint?",
            ("Which formats are read", "how do I book the pool", "when is lunch served", "what did Ada paint?"),
        ),
        (
            "What does a locker cost, what does a towel cost and when is the sauna closed?",
            ("What does a locker cost", "what does a towel cost", "when is the sauna closed?"),
        ),
        (
            "What does the chart, which is in Rome, show, and where can I buy it?",
            ("What does the chart, which is in Rome, show", "where can I buy the chart?"),
        ),
        ("What are clades? The West saw the East as what?", ("What are clades?", "The West saw the East as what?")),
    ],
)
def test_two_questions_are_parted(question: str, parts: tuple[str, ...]) -> None:
    """A text that asks two things is parted into them, without the word that linked them, each with its subject."""
    assert split_questions(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "When was Rome founded? And how old was he?",
        "What year did the war start? How many people did they lose?",
        "What keys do visitors get and when must they return them?",
        "How and when did plague enter Europe?",
        "What do cats and dogs eat?",
        "Which rose grows in shade and what?",
        "Salt; pepper",
        "Is it? Was it? Who? What?",
    ],
)
def test_what_cannot_stand_alone_stays_whole(question: str) -> None:
    """A question stays whole where a part would refer back, ask nothing, or name nothing."""
    assert split_questions(question) == (question,)


@given(st.text(alphabet=st.sampled_from("who what is rose? and; A\n"), max_size=80))
def test_any_text_has_parts(text: str) -> None:
    """Any text gives itself, or two to four parts; without a pronoun these hold nothing but its own words."""
    parts = split_questions(text)
    assert parts == (text,) or (2 <= len(parts) <= MAX_SUB_QUESTIONS and all(part in text for part in parts))


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("When does the clubhouse open and who cleans it?", "who cleans the clubhouse?"),
        ("What does the contract say about leave, and when does it end?", "when does the contract end?"),
        ("When does the regatta take place and what does it cost?", "what does the regatta cost?"),
    ],
)
def test_a_subject_is_carried_without_its_verb(text: str, second: str) -> None:
    """What follows do, does or did is the subject and its verb: only the subject takes the pronoun's place."""
    assert split_questions(text)[-1] == second


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("What is the weight of the TM-400 and what does it cost?", "what does the TM-400 cost?"),
        ("What is the weight of the pH meter and what does it cost?", "what does the pH meter cost?"),
        ("When is the release of Heron 4 planned and what does it cost?", "what does Heron 4 cost?"),
        ("What is the capital of France and what is its population?", "what is France's population?"),
        ("What is the opening time of the sauna and when was it built?", "when was the opening time built?"),
        ("What does the chart say about the fall of Rome, and where can I buy it?", "where can I buy the chart?"),
    ],
)
def test_a_pronoun_stands_for_what_is_named(text: str, second: str) -> None:
    """After "the weight of the TM-400", "it" is the TM-400: what is named, or holds a digit or a capital letter."""
    assert split_questions(text)[-1] == second


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("Is personal email allowed and can passwords be shared?", "can passwords be shared?"),
        ("What is the hotel limit and do I need a receipt?", "do I need a receipt?"),
        ("Can I rent the hall, and is there parking?", "is there parking?"),
        ("Where is the pool and is the sauna free?", "is the sauna free?"),
        ("Is the pool open and does it cost anything?", "does the pool cost anything?"),
    ],
)
def test_a_question_for_yes_or_no_is_parted(text: str, second: str) -> None:
    """A second question that opens with an auxiliary verb and its subject is parted from the first."""
    assert split_questions(text)[1:] == (second,)


@pytest.mark.parametrize(
    "text",
    [
        "Can I copy and can be free?",
        "What can and can't I do?",
        "What can and can I do?",
        "Where is the salt and will-power book?",
        "Who wrote the code and did the tests?",
        "How do I open the valve and do the tests in the lab?",
        "Who is late and is the manager of sales?",
        "Does the pump that leaks and is old need repair?",
        "Does the handbook say who approves leave and how long it lasts?",
        "If it rains and can I go home?",
    ],
)
def test_an_auxiliary_verb_of_the_same_question_parts_nothing(text: str) -> None:
    """A question stays whole where "and" and an auxiliary verb begin no question, or the first part asks nothing."""
    assert split_questions(text) == (text,)
