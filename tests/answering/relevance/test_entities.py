"""Questions that name one of several alike, over records in five layouts."""

import pytest

from answering.relevance.alternatives import compared
from answering.relevance.entities import names_another, of_others
from answering.relevance.possible_answers import has_kind, is_about_another, possible_answers
from answering.text.sentences import sentence_spans
from answering.types import About, Chunk

LAYOUTS = {
    "headings": "## Article 4713\n\nPrice: 21. Tool: a drill.\n\n## Article 4714\n\nPrice: 9. Tool: a level.",
    "a list": "- Article 4713 costs 21 euros and needs a drill.\n- Article 4714 costs 9 euros and needs a level.",
    "a table": "| Article | Price | Tool |\n|---|---|---|\n| 4713 | 21 | a drill |\n| 4714 | 9 | a level |",
    "another column": "| No. | Price | Tool |\n|---|---|---|\n| 4713 | 21 | a drill |\n| 4714 | 9 | a level |",
    "a linking word": "Article number 4713 costs 21 euros and needs a drill. Article No. 4714 needs a level.",
    "prose": "Article 4713 is red. It is mounted with a drill. Article 4714 is blue. It is mounted with a level.",
}


def chunk_of(text: str, section: str | None = None) -> Chunk:
    return Chunk("c", "d", "Records", text, section=section, spans=sentence_spans(text))


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_sentences_of_another_record_are_told(text: str) -> None:
    """Whatever the layout, what stands in the record of another article is of another, and the right one is not."""
    (chunk,) = compared("Which tool is needed to mount article 4714?", [chunk_of(text)])
    for sentence, about in zip(chunk.sentences, chunk.about, strict=True):
        assert about is About.ANOTHER or "drill" not in sentence
        assert about is not About.ANOTHER or "level" not in sentence


@pytest.mark.parametrize(
    ("question", "section", "text", "other"),
    [
        ("When does the north depot open?", None, "The south depot opens at 9.", True),
        ("When does the south depot open?", None, "The south depot opens at 9.", False),
        ("When does the depot open?", None, "The south depot opens at 9.", False),
        ("In which safe is the alarm code of room 103?", "Room 104", "The alarm code is in the safe Alder.", True),
        ("In which safe is the alarm code of room 103?", "Room 103", "The alarm code is in the safe Cedar.", False),
        ("What is the code of locker 13?", None, "Lockers 10 to 20 open with the code 2956.", False),
        ("What do I pay after 10 days?", None, "After 7 days half of the fee is due.", False),
    ],
)
def test_only_what_is_named_otherwise_is_of_another(question: str, section: str | None, text: str, other: bool) -> None:
    """A direction, a heading and a label tell one from others alike; ranges and amounts exclude nothing."""
    assert of_others(question, chunk_of(text, section)) == (other,)


@pytest.mark.parametrize(
    ("question", "can"),
    [
        ("How many orders are open?", [False, False, False, False]),
        ("How many items has order 18?", [False, False, True, False]),
        ("Which orders are open?", [False, True, True, True]),
    ],
)
def test_rows_that_would_have_to_be_counted_answer_nothing(question: str, can: list[bool]) -> None:
    """Some of the rows are no number; the row that alone is asked for answers, and all where they are listed."""
    chunk = chunk_of(
        "| Order | State | Items |\n|---|---|---|\n| 17 | open | 3 |\n| 18 | open | 5 |\n| 19 | sent | 2 |"
    )
    assert list(possible_answers(question, chunk)) == can


@pytest.mark.parametrize(
    ("question", "text", "can"),
    [
        ("How loud is the fan?", "The dryer is loud and not used after ten. The fan makes 38 decibels.", [0, 1]),
        ("How much water do ferns get?", "Ferns are given water every other day.", [0]),
        ("How often are the ferns watered?", "The ferns are given water every other day.", [1]),
        ("How much does the sauna cost?", "The inn has a sauna. It costs 12 euros for two hours.", [0, 1]),
        ("How much does the plan Gold cost?", "Plan: Gold\n\nPrice: 29 euros", [0, 1]),
        ("How much leave do employees get?", "Employees ask before they go. Staff get 14 weeks of leave.", [0, 1]),
    ],
)
def test_an_amount_is_one_of_what_is_asked_for(question: str, text: str, can: list[int]) -> None:
    """Neither an hour nor a frequency is an amount."""
    assert list(map(int, possible_answers(question, chunk_of(text)))) == can


@pytest.mark.parametrize(
    "question",
    [
        "Is the office open Monday to Friday?",
        "Is it shut every day but the Monday?",
        "What is open on Saturday and Sunday?",
        "Who cleans except on the first Tuesday?",
        "Is the pool closed from the June until the August?",
    ],
)
def test_a_span_of_days_or_months_names_none_of_them(question: str) -> None:
    """Such a question is about no one day, so nothing is about another."""
    chunk = chunk_of("The office is open Monday to Friday. On Saturday it is shut.")
    assert not any(of_others(question, chunk))


@pytest.mark.parametrize(("question", "can"), [("Who drives the blue van?", False), ("Who owns the blue van?", True)])
def test_a_verb_asks_for_the_column_of_its_doer(question: str, can: bool) -> None:
    """The column "Driver" has who drives; where its cell is empty, the one in another column is nobody who does."""
    chunk = chunk_of("| Van | Driver | Owner |\n|---|---|---|\n| Red | Ali Demir | |\n| Blue | | Holm Ltd |")
    assert possible_answers(question, chunk)[-1] == can


@pytest.mark.parametrize("code", ["D-{}", "S-{}", "K-{}", "HX-{}"])
def test_a_code_with_another_number_is_of_another(code: str) -> None:
    """Also where the letter of the code, alone, is a stop word ("I'd")."""
    question, text = f"What pressure did dryer {code.format(29)} show?", f"Dryer {code.format(19)} showed 6.3 bar."
    assert names_another(question, text)
    assert not names_another(question.replace("29", "19"), text)


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("Who drives the bus on Sundays?", "Henk Bos drives it on Tuesdays and Fridays.", True),
        ("Who drives the bus on friday?", "Henk Bos drives it on Tuesdays and Fridays.", False),
        ("When does the shop open on Sunday?", "Mon–Fri 9 to 18, Sat 10 to 14", True),
        ("When does the shop open on Saturday?", "Mon–Fri 9 to 18, Sat 10 to 14", False),
        ("When does the shop open on Wednesday?", "It opens at nine from Monday to Friday.", False),
        ("When does the shop open on Monday?", "It opens at ten from Saturday through Tuesday.", False),
        ("When is brunch served on Sunday?", "On weekends brunch is served from ten.", False),
        ("When is brunch served on Monday?", "On weekends brunch is served from ten.", True),
        ("When is soup served on Tuesday?", "Soup is served every day but Monday.", False),
        ("When is soup served?", "Soup is served on Mondays.", False),
        ("Who lets stalls of the Friday market?", "Ask Mr Lund, who is in on Tuesdays and Thursdays.", False),
    ],
)
def test_days_of_the_week_are_told_also_where_there_are_several(question: str, text: str, other: bool) -> None:
    """What happens on some days tells nothing of another; a span has those inside, and "every day" excludes none."""
    assert is_about_another(question, chunk_of(text)) == (other,)


def test_whether_something_is_so_on_a_day_is_told_by_the_other_days() -> None:
    """That the yard is open until Saturday is an answer to whether it is on Sunday, and none to when."""
    chunk = chunk_of("The yard is open from seven, Monday through Saturday.")
    assert possible_answers("Is the yard open on Sunday?", chunk) == (True,)
    assert possible_answers("When is the yard open on Sunday?", chunk) == (False,)


@pytest.mark.parametrize(
    ("question", "text", "can"),
    [
        ("电脑室几点关门？", "电脑室在三楼，每次可用一小时。", False),
        ("电脑室几点关门？", "电脑室17:30关门。", True),
        ("朝食は何時からですか？", "朝食は7時からです。", True),
        ("風呂は何時からですか？", "風呂は2時間使えます。", False),
        ("कक्ष कितने बजे खुलता है?", "कक्ष आठ बजे खुलता है।", True),
        ("कक्ष कितने बजे खुलता है?", "कक्ष दूसरी मंज़िल पर है।", False),
    ],
)
def test_a_time_of_day_is_asked_for_in_other_scripts_too(question: str, text: str, can: bool) -> None:
    """Neither a floor nor a length of time answers what time it is that something opens."""
    assert has_kind(question, text) == can


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("Heron Cart Maintenance Notes", False),
        ("Visitor Badge Rules And Colours", False),
        ("Cart Osprey", True),
        ("The Osprey cart and its care", True),
    ],
)
def test_capitals_of_a_title_in_capitals_are_no_names(title: str, other: bool) -> None:
    """Where each word of a longer title has one, they tell nothing; in others they name the thing that is told of."""
    text = "Tighten the caster bolts to 22 newton metres."
    chunk = Chunk("c", "d", title, text, spans=sentence_spans(text))
    assert of_others("What torque do the bolts of a Heron cart need?", chunk) == (other,)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "May I take my laptop outside the European Union?",
            "Laptops may not be taken outside the European Union. You may take yours to the United Kingdom.",
        ),
        ("launch driver 19 May", "The launch is driven by S. Marsh on 19 May. The launch driver 4 is away."),
    ],
)
def test_a_place_after_a_preposition_and_a_day_are_no_labels(question: str, text: str) -> None:
    """ "Outside" is no kind of thing of which "European" is one, nor is "driver 19" a driver."""
    assert not of_others(question, chunk_of(text))[0]
