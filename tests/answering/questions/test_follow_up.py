"""Follow-up questions: which are, what they mean without a model, and what a thread keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.questions.follow_up import carry_subject, is_follow_up
from graph.build import build_graph
from graph.errors import ModelUnavailable
from graph.policy import Policy
from graph.ports import Ports
from tests.contract.scripted_graph import Finds, Passes, Says, chunk, run

DAYS = "How many vacation days do employees get?"
NOTICE = "What is the notice period for employees in Germany?"
KETTLE = "How do I descale the green kettle?"
GRASS = chunk("grass", "Grass is green. It is wet in the morning.")


@pytest.mark.parametrize(
    ("earlier", "question", "complete"),
    [
        (DAYS, "and for contractors?", "How many vacation days do contractors get?"),
        (NOTICE, "and for contractors?", "What is the notice period for contractors in Germany?"),
        (NOTICE, "What about contractors?", "What is the notice period for contractors in Germany?"),
        (NOTICE, "And the deadline?", "What is the deadline for employees in Germany?"),
        (NOTICE, "or in France?", "What is the notice period for employees in France?"),
        (KETTLE, "How about the lamp?", "How do I descale the lamp?"),
        (DAYS, "can I carry them over", "Can I carry vacation days over"),
        (KETTLE, "What is the second step?", "For the green kettle, what is the second step?"),
        ("Who may use the steam room?", "Who may not use it?", "Who may not use the steam room?"),
        ("How much does the blue vase cost?", "And a red one?", "How much does a red vase cost?"),
        (KETTLE, "With vinegar?", "How do I descale the green kettle with vinegar?"),
        (DAYS, "When do they expire?", "When do vacation days expire?"),
        (NOTICE, "How do I request it?", "How do I request the notice period?"),
        (KETTLE, "What are its parts?", "What are the green kettle's parts?"),
        (KETTLE, "What happens if it breaks?", "What happens if the green kettle breaks?"),
        (KETTLE, "Does that include the lid?", "Does the green kettle include the lid?"),
        ("What must be worn with acids?", "Where are they stored?", "Where are acids stored?"),
        (KETTLE, "Since when?", "Since when do I descale the green kettle?"),
        (KETTLE, "But who sells lamps?", "Who sells lamps?"),
        (f"Who sells lamps? And {NOTICE}", "How long is it?", "How long is the notice period?"),
        ("How long is the warranty of the TM-400?", "how do I calibrate it?", "How do I calibrate the TM-400?"),
    ],
)
def test_a_follow_up_is_completed_from_the_question_before(earlier: str, question: str, complete: str) -> None:
    """What a follow-up leaves out, or points to, comes from the question before it."""
    assert is_follow_up(question)
    assert carry_subject(question, earlier) == complete


@pytest.mark.parametrize(
    ("earlier", "question", "complete"),
    [
        # a noun takes the place of one of its kind
        ("Can managers approve overtime?", "and consultants?", "Can consultants approve overtime?"),
        ("What must new employees bring?", "what about visitors?", "What must visitors bring?"),
        ("How do employees report an accident?", "and what about visitors?", "How do visitors report an accident?"),
        ("Can an employee use the gym?", "and a contractor?", "Can a contractor use the gym?"),
        ("Is lunch paid?", "and overtime?", "Is overtime paid?"),
        ("When are salaries paid?", "and bonuses?", "When are bonuses paid?"),
        ("How is an advance approved?", "and the loan?", "How is the loan approved?"),
        ("Who is responsible for fire drills?", "and first aid?", "Who is responsible for first aid?"),
        ("What does error E4 mean?", "and E7?", "What does error E7 mean?"),
        ("How many people can use the hall?", "and the kitchen?", "How many people can use the kitchen?"),
        # what is of no kind that can be told is added
        ("Do contractors get sick pay?", "and interns?", "Do contractors get sick pay, and interns?"),
        ("How long can employees travel?", "and for interns?", "How long can employees travel, and for interns?"),
        ("What does green light mean?", "and solid red?", "What does green light mean, and solid red?"),
        ("What does green light mean, and solid red?", "yellow?", "What does green light mean, and yellow?"),
        ("Can managers approve overtime?", "and expenses?", "Can managers approve overtime, and expenses?"),
        ("When does the cafeteria open?", "and close?", "When does the cafeteria open, and close?"),
        ("Who may enter above 10 tons?", "and below that?", "Who may enter above 10 tons, and below that?"),
        ("Which ports are open?", "and for how many weeks?", "Which ports are open, and for how many weeks?"),
        ("Is overtime paid?", "and for managers?", "Is overtime paid for managers?"),
        ("How long is lunch?", "and if lunch is paid?", "How long is lunch if lunch is paid?"),
        ("What is the allowance in the EU?", "and outside?", "What is the allowance in the EU, and outside?"),
        ("Does the pump need oil?", "which one?", "Does the pump need oil, and which one?"),
        # a question word takes the place of another
        ("How long are invoices kept?", "and since when?", "Since when are invoices kept?"),
        ("When must a report be submitted?", "to whom?", "To whom must a report be submitted?"),
        ("Is overtime paid?", "at what rate?", "At what rate is overtime paid?"),
        ("Are dogs allowed inside?", "why not?", "Are dogs allowed inside, and why not?"),
        # a noun that is left out is the one before
        ("How many days of vacation do I get?", "How many can be kept?", "How many days of vacation can be kept?"),
        ("How many printers are there?", "which ones print in colour?", "Which of the printers print in colour?"),
        ("How much leave do I get?", "and how much can I sell?", "How much of the leave can I sell?"),
        ("Which halls have a stage?", "which can be booked?", "Which of the halls can be booked?"),
        ("Where are the lockers?", "and which is the largest?", "Which of the lockers is the largest?"),
        ("How long does the course last?", "how many can take part?", "For the course, how many can take part?"),
        ("What is the parking fee?", "what is the maximum?", "For the parking fee, what is the maximum?"),
        ("How much is a day pass?", "and where can I buy one?", "Where can I buy a day pass?"),
        ("How do I return a laptop?", "and who approves?", "Who approves a laptop?"),
        ("Is the trial free?", "and until when can I cancel?", "Until when can I cancel the trial?"),
        ("How long can employees travel?", "and who decides?", "How long can employees travel, and who decides?"),
        ("Is lunch paid?", "and where can one park?", "Where can one park?"),
        # a pronoun stands for what was asked about
        ("How many people can use the hall?", "how much does it cost?", "How much does the hall cost?"),
        ("Who signs contracts?", "who files them?", "Who files contracts?"),
        ("How is an advance approved?", "who approves it?", "Who approves an advance?"),
        ("What is stored in feedback files?", "who can delete them?", "Who can delete feedback files?"),
        ("What is the retention period for backups?", "where are they stored?", "Where are backups stored?"),
        ("Who is responsible for fire drills?", "how often are they held?", "How often are fire drills held?"),
    ],
)
def test_a_phrase_is_put_where_it_belongs_or_added(earlier: str, question: str, complete: str) -> None:
    """A phrase replaces what is of its kind; where that cannot be told, nothing of the question before is lost."""
    assert is_follow_up(question)
    assert carry_subject(question, earlier) == complete


@pytest.mark.parametrize(
    "questions",
    [
        {
            "When does the sauna open?": "When does the sauna open?",
            "and on weekdays?": "When does the sauna open on weekdays?",
            "and the pool?": "When does the pool open on weekdays?",
            "at weekends?": "When does the pool open at weekends?",
            "How much is it?": "How much is the pool?",
        },
        {
            "When is the sauna open?": "When is the sauna open?",
            "and the pool?": "When is the pool open?",
            "on Sundays?": "When is the pool open on Sundays?",
        },
        {
            "How long can the guest keep the key?": "How long can the guest keep the key?",
            "and the visitor?": "How long can the visitor keep the key?",
        },
        {
            "What does garage A cost?": "What does garage A cost?",
            "garage C?": "What does garage C cost?",
        },
        {
            "Can the pool be booked?": "Can the pool be booked?",
            "since when": "Since when can the pool be booked?",
        },
    ],
)
def test_a_follow_up_of_a_follow_up_is_well_formed(questions: dict[str, str]) -> None:
    """However many follow each other, each becomes a question that could have been asked alone, with its verb."""
    earlier = ""
    for question, complete in questions.items():
        assert (carry_subject(question, earlier) if earlier else question) == complete
        earlier = complete


@pytest.mark.parametrize(
    "question",
    [
        DAYS,
        "What is ROS 2?",
        "vacation carry over",
        "How old was Elway when he won?",
        "Is it possible to carry over vacation days?",
        "How long does it take to get a badge?",
        "What does it mean when the lamp flashes?",
        "Is this service free?",
        "What does that setting do?",
        "Can I work from home on Fridays?",
        "Is lunch paid?",
        "May contractors use the gym?",
        "expense policy",
        "How much does parking cost per month?",
        "Which forms do I need for parental leave?",
        "When is it allowed to work overtime?",
        "What happens if I lose my badge?",
        "If a report is late, who approves it?",
        "In Germany, is overtime paid?",
        "What happens if the alarm sounds while I am in it?",
        "Who should employees contact when they are sick?",
        "Who can delete feedback files and their backups?",
        "Where do visitors leave their cars?",
        "Do managers review their teams every quarter?",
        "List the holidays.",
        "What does a blinking green light mean?",
        "How are the files that users upload deleted?",
        "Does the device keep its settings after a reset?",
        "Why is that option disabled by default?",
        "Is there a canteen?",
        "Which is the best canteen?",
        "How much does one token cost?",
        "Who bought the bridge and where is it now?",
        "Thanks!",
        "?!",
    ],
)
def test_a_complete_question_is_no_follow_up(question: str) -> None:
    """A question that names what it asks about is left alone, also where "it" or "that" stands for nothing before."""
    assert not is_follow_up(question)


@given(st.text(alphabet=st.sampled_from("and what it for the? x\n"), max_size=60), st.sampled_from([DAYS, KETTLE, "?"]))
def test_any_text_can_be_completed(question: str, earlier: str) -> None:
    """Completing never fails, and something is left."""
    if is_follow_up(question):
        assert carry_subject(question, earlier).strip()


class Echo:
    """Writes whatever it is told to, and notes what it was given; told nothing, it is down."""

    def __init__(self, reply: str = "") -> None:
        self.reply = reply
        self.given: list[tuple[str, list[str]]] = []

    async def rewrite(self, question: str, earlier: Sequence[str], deadline: float) -> str:
        self.given.append((question, list(earlier)))
        if not self.reply:
            raise ModelUnavailable("The chat model cannot be reached.")
        return self.reply


async def states(rewriter: Echo | None, *questions: str, **policy: Any) -> list[dict[str, Any]]:
    """The final state of each question, each given the history of the one before."""
    ports = Ports(Finds([GRASS]), Passes(), Says("Grass is green [1]."), rewriter=rewriter)
    graph = build_graph(ports, Policy(**policy))
    ends: list[dict[str, Any]] = []
    for question in questions:
        earlier = ends[-1]["history"] if ends else []
        ends.append(await run(graph, {"query": question, "history": earlier}))
    return ends


async def test_a_history_is_a_conversation() -> None:
    """With a history a follow-up is understood from the questions before, also after an invalid one."""
    ends = await states(None, f"Hello. {NOTICE}", "and in France?", " ", "And for contractors?", "What is grass?")
    assert [end.get("rewritten") for end in ends] == [
        None,
        "What is the notice period for employees in France?",
        None,
        "What is the notice period for contractors in France?",
        None,
    ]
    assert [end["outcome"] for end in ends] == ["answered", "answered", "invalid_input", "answered", "answered"]
    assert ends[3]["question"].text == ends[3]["rewritten"]
    assert ends[2]["history"] == [NOTICE, ends[1]["rewritten"]]
    assert ends[4]["history"] == [ends[1]["rewritten"], ends[3]["rewritten"], "What is grass?"]


async def test_what_follow_ups_added_is_noted() -> None:
    """What phrases added since the first question of their like is noted with the question; a whole one adds none."""
    first = "How many days can employees work from home?"
    ends = await states(
        None, first, "and for contractors?", "and on Mondays?", "who sells lamps?", "When do they rest?"
    )
    assert [end["question"].added for end in ends] == [(), ("contractor",), ("contractor", "monday"), (), ()]


async def test_a_remark_is_not_remembered() -> None:
    """Thanks and the like are no question that a later one could follow; keywords without a question mark are."""
    ends = await states(
        None, NOTICE, "thanks", "Thanks. That helps a lot.", "Great, thanks a lot!", "and in France?", "badge"
    )
    assert [end["history"] for end in ends[:4]] == [[NOTICE]] * 4
    assert ends[4]["rewritten"] == "What is the notice period for employees in France?"
    assert ends[5]["history"] == [NOTICE, ends[4]["rewritten"], "badge"]


async def test_without_a_history_nothing_is_remembered() -> None:
    """Without the questions before, the graph asks every question by itself."""
    graph = build_graph(Ports(Finds([GRASS]), Passes(), Says("Grass is green [1].")), Policy())
    for question in (NOTICE, "and in France?"):
        end = await run(graph, {"query": question})
        assert (end["question"].text, end.get("rewritten")) == (question, None)


async def test_the_model_rewrites_follow_ups_alone() -> None:
    """The model gets a follow-up, without what is said around it, and the questions before; a complete one it never."""
    model = Echo("What is the notice period in France?")
    ends = await states(model, NOTICE, "Thanks a lot. And in France?", DAYS)
    assert model.given == [("And in France?", [NOTICE])]
    assert [end["question"].text for end in ends] == [NOTICE, model.reply, DAYS]


async def test_a_model_that_is_down_costs_no_follow_up() -> None:
    """Where the model does not rewrite, the words of the question before complete the follow-up."""
    ends = await states(Echo(), NOTICE, "and in France?")
    assert ends[1]["rewritten"] == "What is the notice period for employees in France?"


async def test_a_question_too_long_to_be_completed_is_asked_as_it_is() -> None:
    """A follow-up that would exceed the longest question is not rewritten."""
    ends = await states(None, NOTICE, "and in the north of France?", max_query_chars=len(NOTICE) + 1)
    assert ends[1]["question"].text == "and in the north of France?"
