"""Questions that name one of several alike by a word, over the same records in several layouts."""

import pytest

from answering.relevance.alternatives import compared
from answering.relevance.earlier_messages import QUOTED
from answering.relevance.entities import names_another
from answering.relevance.possible_answers import possible_answers
from answering.text.sentences import sentence_spans
from answering.types import About, Chunk

PLANS = {"Gold": ("39 euros", "at any hour"), "Silver": ("29 euros", "until 6 pm"), "Bronze": ("19 euros", None)}


def chunk_of(text: str, section: str | None = None, name: str = "c") -> Chunk:
    return Chunk(name, "d", "Plans of Hollin", text, section=section, spans=sentence_spans(text))


def in_sections() -> list[Chunk]:
    return [
        chunk_of(f"Price per month: {price}" + (f"\n\nSupport: {support}" if support else ""), f"{name} plan", name)
        for name, (price, support) in PLANS.items()
    ]


def in_a_table() -> list[Chunk]:
    rows = "\n".join(f"| {name} | {price} | {support or ''} |" for name, (price, support) in PLANS.items())
    return [chunk_of(f"| Plan | Price per month | Support |\n{rows}")]


def in_a_list() -> list[Chunk]:
    items = (
        f"- {name} plan: price per month {price}" + (f"; support {support}" if support else "")
        for name, (price, support) in PLANS.items()
    )
    return [chunk_of("\n".join(items))]


def in_prose() -> list[Chunk]:
    return [
        chunk_of(
            " ".join(
                f"The {name} plan costs {price} per month."
                + (f" The {name} plan has support {support}." * bool(support))
                for name, (price, support) in PLANS.items()
            )
        )
    ]


def about_of(question: str, chunks: list[Chunk]) -> dict[str, About]:
    """What each sentence of *chunks* is about."""
    return {
        text: about
        for chunk in compared(question, chunks)
        for text, about in zip(chunk.sentences, chunk.about, strict=True)
    }


LAYOUTS = pytest.mark.parametrize(
    "chunks", [in_sections(), in_a_table(), in_a_list(), in_prose()], ids=["sections", "table", "list", "prose"]
)


@LAYOUTS
def test_only_the_one_that_is_named_answers(chunks: list[Chunk]) -> None:
    """Whatever the layout, the price of the named plan is looked up, and those of the others are another's."""
    about = about_of("What does the Silver plan cost per month?", chunks)
    assert [about[text] for text in about if "29 euros" in text] == [About.LOOKED_UP]
    assert {about[text] for text in about if "39 euros" in text or "19 euros" in text} == {About.ANOTHER}


@LAYOUTS
def test_what_only_others_have_is_not_answered(chunks: list[Chunk]) -> None:
    """Of a plan without support nothing answers a question of its support: not its price, not another's support."""
    about = about_of("When has the Bronze plan support?", chunks)
    assert {about[text] for text in about if "Plan |" not in text} == {About.ANOTHER}


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("When does the airport depot open?", 2),
        ("When does the harbour depot open?", 1),
        ("When does the depot open?", 0),
        ("Who keeps the key?", 0),
    ],
)
def test_a_word_that_no_text_has_names_another(question: str, others: int) -> None:
    """With two depots in reach a third one is neither; a question that names none excludes none."""
    chunks = [chunk_of("Opens at: 6 am", "North depot", "n"), chunk_of("Opens at: 7 am", "Harbour depot", "h")]
    assert list(about_of(question, chunks).values()).count(About.ANOTHER) == others


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("When does the ferry to Svanholm leave?", "The ferry to Brenholm leaves at 8.15.", True),
        ("When does the ferry to Brenholm leave?", "The ferry to Brenholm leaves at 8.15.", False),
        ("When does Dr Ahmadi see patients?", "Dr Weller sees patients on Mondays.", True),
        ("How many vouchers has the Premium package?", "The Basic package includes two vouchers.", True),
        ("How long does certificate 5530 hold?", "Certificate no. 5521 holds for a year.", True),
        ("Which soup is there on Tuesday?", "On Monday there is leek soup.", True),
        ("Which soup is there on Tuesday?", "Monday to Friday there is leek soup.", False),
        ("Who speaks in June?", "Lena Fuchs speaks in October.", True),
        ("When is the June report due?", "The June report is due on 5 July.", False),
        ("Wann öffnet die Halle in Graz?", "Die Werkstatt in Linz öffnet um acht.", False),
    ],
)
def test_another_name_beside_the_same_noun(question: str, text: str, other: bool) -> None:
    """A name, a person, a number, a day or a month in the place of the one that is asked is another's."""
    assert list(about_of(question, [chunk_of(text)]).values()) == [About.ANOTHER if other else About.UNKNOWN]


def test_sections_that_are_no_records_are_not_compared() -> None:
    """Two sections of running text share a word in their headings and answer, each, what is asked of the other."""
    chunks = [
        chunk_of("All employees earn four hours of sick leave per pay period.", "Leave of employees", "a"),
        chunk_of("Use it for visits to a doctor. Tell your supervisor first.", "Sick leave", "b"),
    ]
    about = about_of("How many hours of sick leave do I earn?", chunks)
    assert set(about.values()) == {About.UNKNOWN}


@pytest.mark.parametrize(
    ("question", "text", "others"),
    [
        ("西仓库几点开门？", "南仓库早上六点开门。\n\n西仓库早上八点开门。", [1, 0]),
        ("西仓库几点开门？", "西仓库早上八点开门，周末不开。\n\n其他房间晚上关门。", [0, 0]),
        ("北仓库几点开门？", "南仓库早上六点开门。\n\n西仓库早上八点开门。", [1, 1]),
        ("哪个仓库没有叉车？", "南仓库有叉车。\n\n西仓库没有叉车。", [0, 0]),
        ("我可以借几本书？", "每人一次可以借六本书。", [0]),
        ("会議室Cの定員は何名ですか？", "会議室Aの定員は8名です。会議室Cには窓があります。", [1, 0]),
        ("朝食は何時からですか？", "朝食は午前7時からです。", [0]),
        ("समाचार कक्ष कितने बजे खुलता है?", "पठन कक्ष सुबह नौ बजे खुलता है।\n\nसमाचार कक्ष सुबह आठ बजे खुलता है।", [1, 0]),
    ],
)
def test_in_scripts_without_capitals_the_opening_tells_one_from_another(
    question: str, text: str, others: list[int]
) -> None:
    """What stands in the place of an interrogative or of "I" is no other thing, and a missing word no other name."""
    marked = about_of(question, [chunk_of(text)]).values()
    assert [about is About.ANOTHER for about in marked] == list(map(bool, others))


@pytest.mark.parametrize(
    ("question", "texts", "own"),
    [
        ("What is the volume of Kiln I?", {"Kiln I": "Volume: 60 litres", "Kiln II": "Volume: 187 litres"}, "Kiln I"),
        ("How hot does Oven IV get?", {"Oven IV": "Highest: 240 °C", "Oven V": "Highest: 300 °C"}, "Oven IV"),
        ("Who sits in block C?", {"Block C": "Tenant: Ruhl", "Block E": "Tenant: Amsel"}, "Block C"),
    ],
)
def test_a_letter_or_a_roman_number_is_a_label(question: str, texts: dict[str, str], own: str) -> None:
    """Also those that are words elsewhere, "I" and "a"."""
    chunks = [chunk_of(text, section, section) for section, text in texts.items()]
    about = {chunk.chunk_id: chunk.about[0] for chunk in compared(question, chunks)}
    other = next(section for section in texts if section != own)
    can = {c.chunk_id: possible_answers(question, c)[0] for c in compared(question, chunks)}
    assert (about[own] is About.ANOTHER, can) == (False, {own: True, other: False})


def test_the_letter_of_a_code_is_a_label_whatever_it_is() -> None:
    """ "bay-a" is another than "bay-c", though "a" alone is an article."""
    assert names_another("Which crop grows in bay-c?", "id: bay-a")
    assert not names_another("Which crop grows in bay-c?", "a bay for the crop")


def test_the_pronoun_is_no_label() -> None:
    """ "The oven I use" names no oven."""
    chunks = [chunk_of(f"Highest: {degrees} °C", name, name) for name, degrees in (("Oven II", 240), ("Oven III", 300))]
    assert not any(About.ANOTHER in chunk.about for chunk in compared("Where is the oven I use?", chunks))


def test_a_number_in_another_column_is_no_label() -> None:
    """ "Loom 4" is not the row of loom 3 of which four are in stock."""
    table = (
        "| Part | Machine | Stock |\n| shuttle | loom 3 | 4 |\n| reed | loom 2 | 2 |\n| shaft | loom 4, loom 3 | 5 |"
    )
    about = about_of("What is there for loom 4?", [chunk_of(table)])
    assert about["| shuttle | loom 3 | 4 |"] is About.ANOTHER
    assert about["| shaft | loom 4, loom 3 | 5 |"] is not About.ANOTHER


def test_the_column_that_is_named_best_must_not_be_empty() -> None:
    """ "House and garden" is not answered by the price of the house alone; what stands in parentheses is no name."""
    table = "| Ticket | House | House and garden |\n| Adult | 11.00 | 15.50 |\n| Family (2 + up to 3) | 24.00 | |"
    for question, can in {
        "What does a family pay for house and garden?": (False, False),
        "What does a family pay for the house?": (False, True),
        "What does an adult pay for house and garden?": (True, False),
    }.items():
        (chunk,) = compared(question, [chunk_of(table)])
        assert possible_answers(question, chunk)[1:] == can, question


def test_a_ticket_that_no_row_has_is_in_none() -> None:
    """The first column's name says of what kind its cells are."""
    table = "| Ticket | Price |\n| Adult | 11.00 |\n| Senior | 8.50 |"
    about = about_of("student ticket price", [chunk_of(table)])
    assert {about["| Adult | 11.00 |"], about["| Senior | 8.50 |"]} == {About.ANOTHER}


def test_of_names_that_are_asked_in_part_the_fuller_one_is_meant() -> None:
    """ "amber float" is "Fishing float, amber", and not the green one, nor an anchor."""
    rows = ("No | Object | Shelf", "1 | Fishing float, green | C2", "2 | Fishing float, amber | C3", "3 | Anchor | E1")
    table = "\n".join(f"| {row} |" for row in rows)
    about = about_of("shelf amber float", [chunk_of(table)])
    assert [mark is About.ANOTHER for mark in about.values()] == [False, True, False, True]


def test_a_table_without_the_column_gives_way_to_one_that_has_it() -> None:
    """A loan of the film tells nothing of the day on which it was inspected."""
    prints = chunk_of("| Title | Inspected |\n| Night Tram | 21 June |\n| Regatta | 3 May |", "Prints", "prints")
    loans = chunk_of("| Title | Due back |\n| Night Tram | 19 May |\n| Regatta | 4 May |", "Loans", "loans")
    about = about_of("inspection date of Night Tram", [loans, prints])
    assert about["| Night Tram | 19 May |"] is About.ANOTHER
    assert about["| Night Tram | 21 June |"] is About.LOOKED_UP


@pytest.mark.parametrize(
    ("reply", "others"),
    [
        ("It is 310 euros now, Max.", [True]),
        ("The hall is taken, I am afraid.", [True]),
        ("Thank you, see you on Monday!", [False]),
    ],
)
def test_a_reply_takes_the_place_of_what_it_quotes(reply: str, others: list[bool]) -> None:
    """Where it speaks of what is asked, or corrects; thanks leave the earlier message as it was."""
    quoted = chunk_of("The hall costs 250 euros.", f"{QUOTED}: Max, 1 May", "2")
    _, earlier = compared("What does the hall cost?", [chunk_of(reply, None, "1"), quoted])
    assert [about is About.ANOTHER for about in earlier.about] == others


DUTIES = "The porter is Ida Holm, extension 12. The cook is Nils Roe. On Mondays the hall is closed."


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is Ida Holm's extension?", "The porter is Ida Holm, extension 12."),
        ("Is the hall closed on Tuesdays?", "On Mondays the hall is closed."),
        ("Does a room of 130 EUR need leave?", "On Mondays the hall is closed."),
    ],
)
def test_what_only_looks_like_a_name_tells_nothing_apart(question: str, sentence: str) -> None:
    """The ending of a name, a weekday that is asked for by yes or no, and an amount before a noun are none."""
    assert about_of(question, [chunk_of(DUTIES)])[sentence] is not About.ANOTHER


def test_an_amount_to_compare_with_is_no_key() -> None:
    """Of what costs more than 100 euros a row with 100 euros is not the one that is asked for."""
    table = "| Tool | Deposit |\n| Saw | 100 EUR |\n| Drill | 150 EUR |"
    about = about_of("Which tools have a deposit of more than 100 EUR?", [chunk_of(table)])
    assert about["| Saw | 100 EUR |"] is not About.LOOKED_UP
    assert about["| Drill | 150 EUR |"] is not About.ANOTHER


BYLAW = [
    Chunk(
        "1",
        "d",
        "Bylaw 1",
        text := "Quorum is fifty (50) Members present.",
        "General Meetings",
        "Quorum",
        spans=sentence_spans(text),
    ),
    Chunk(
        "2", "d", "Bylaw 1", text := "Quorum is half of the Council.", "Council", "Quorum", spans=sentence_spans(text)
    ),
]


@pytest.mark.parametrize(
    ("question", "chunks", "sentence"),
    [
        (
            "How many Members are needed for quorum at a General Meeting?",
            BYLAW,
            "Quorum is fifty (50) Members present.",
        ),
        (
            "beads longest grain duration",
            [chunk_of("Two grain modes. Turn it to raise grain duration.")],
            "Turn it to raise grain duration.",
        ),
        (
            "What is the maximum total discount?",
            [
                chunk_of(
                    "The discount of members and the summer discount are added. The discount is limited to 30 per cent."
                )
            ],
            "The discount is limited to 30 per cent.",
        ),
        (
            "Up to what amount per night are hotel costs refunded?",
            [chunk_of("Hotel costs are refunded up to 110 euros per night. A double room costs 62 euros per night.")],
            "Hotel costs are refunded up to 110 euros per night.",
        ),
        (
            "How much does a Veld card cost?",
            [chunk_of("What does a Veld card cost? 5.00 euro, lasts 6 years.")],
            "5.00 euro, lasts 6 years.",
        ),
        (
            "What is the incoming server port for the company email?",
            [
                chunk_of(
                    "- Username: Your email address.\n- Incoming Server Port: 993\n- Outgoing Server Port: 587",
                    "Settings",
                )
            ],
            "Incoming Server Port: 993",
        ),
    ],
)
def test_the_one_that_is_asked_for_is_no_other(question: str, chunks: list[Chunk], sentence: str) -> None:
    """A plural, a superlative, a question above its answer and another field of a form make no other of it."""
    (found,) = [chunk for chunk in compared(question, chunks) if sentence in chunk.sentences]
    n = found.sentences.index(sentence)
    assert found.about[n] is not About.ANOTHER
    assert possible_answers(question, found)[n]


@pytest.mark.parametrize(
    ("reply", "others"),
    [
        ("The Hub gets a new SIM card in May.", [False]),
        ("The customs number of the Hub has changed.", [True]),
        ("The customs number for the Hub is in the list.", [True]),
    ],
)
def test_a_reply_on_another_topic_replaces_nothing(reply: str, others: list[bool]) -> None:
    """One word in common is no reply to what is asked; half of its words are, or a word of a correction."""
    quoted = chunk_of("For the Hub it is 8517 62 00.", f"{QUOTED}: Dorli, 11 October", "2")
    _, earlier = compared("What is the customs number for the Hub?", [chunk_of(reply, None, "1"), quoted])
    assert [about is About.ANOTHER for about in earlier.about] == others
