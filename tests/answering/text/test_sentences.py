"""The sentences of a text: where they start and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.text.sentences import is_question, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@given(st.text(alphabet=st.sampled_from('aA. \n\r\t-*|#`~1?!"“”😀é\u2028'), max_size=120))
def test_spans_are_ordered_disjoint_stripped_and_deterministic(text: str) -> None:
    """Whatever the text, spans are in order, apart, inside it, without white space at their edges, and repeatable."""
    spans = sentence_spans(text)
    last = 0
    for start, end in spans:
        assert last <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        last = end
    assert spans == sentence_spans(text)


@given(st.text(max_size=200))
def test_no_text_is_too_strange(text: str) -> None:
    """Any Unicode string is split without an error, into pieces that lie inside it."""
    spans = sentence_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)


@pytest.mark.parametrize("text", ["", " ", "\r\n\r\n", "\t\n "])
def test_blank_text_has_no_sentence(text: str) -> None:
    """Blank text has no sentence."""
    assert sentence_spans(text) == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith moved to the U.S. in 1990.",
        "It weighs 3.5 kg, i.e. less than No. 5 does.",
        "J. R. R. Tolkien taught at Oxford.",
        "Smith et al. (2009, p. 12) disagree.",
        'She asked "Who is it?" and left.',
        "The kit costs approx. 5 € incl. VAT.",
        "Ask Ms. Dr. J. Berg (ext. 4417).",
        "The password `Garden-2025!` changes (every quarter).",
    ],
)
def test_an_abbreviation_ends_no_sentence(sentence: str) -> None:
    """Points in abbreviations, initials and numbers, and marks inside a short quotation, end no sentence."""
    assert sentences(f"Before it. {sentence} After it.") == ["Before it.", sentence, "After it."]


def test_a_word_that_may_be_an_abbreviation_ends_a_sentence_before_another() -> None:
    """ "5 min." ends a sentence where another one follows, and goes on before a number."""
    assert sentences("It takes 5 min. Then stop. It costs max. 5 euros.") == [
        "It takes 5 min.",
        "Then stop.",
        "It costs max. 5 euros.",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Der Markt ist am 7. April 2034 und kostet 5 EUR zzgl. MwSt. und Pfand.",
        "Das Archiv liegt im 4. Stock, gemäß Abs. 2 bzw. Anlage C.",
        "Meldungen sind bis zum 30.11. schriftlich abzugeben.",
        "The ferry runs Mon. to Thu. and on Sun. afternoons.",
        "Visits are by appt. only, see Sched. 4 of the act.",
        "La Dra. Ibarra vive en la Av. Norte núm. 8.",
        "The mill has 30 stones.⁷,⁸",
        "Run ./configure, or ../run.sh from below.",
    ],
)
def test_a_sentence_goes_on_after_a_point(sentence: str) -> None:
    """Ordinals, days of a month, more abbreviations and a small letter go on with it; a note mark belongs to it."""
    assert sentences(f"Before it. {sentence} After it.") == ["Before it.", sentence, "After it."]


@pytest.mark.parametrize(
    "found",
    [
        ["the gate is open.", "the dog is in."],
        ["Wir kommen am 14.", "Danach wird gegessen."],
        ["It builds the statements.", "bc reads them."],
        ["The shop opens on Mon.", "The mill does not."],
    ],
)
def test_what_may_go_on_ends_a_sentence_too(found: list[str]) -> None:
    """Small letters in a text without capitals, a date and the name of a program do not put two sentences together."""
    assert sentences(" ".join(found)) == found


def test_small_letters_of_two_items_stay_apart() -> None:
    """A small letter goes on within one paragraph or item alone."""
    assert sentences("- Cake and tea etc.\n- coffee\n\nOpen on Fri.\n\nnever closed") == [
        "Cake and tea etc.",
        "coffee",
        "Open on Fri.",
        "never closed",
    ]


def test_list_items_are_apart_and_lose_their_markers() -> None:
    """Each item of a list ends where it ends, and its bullet or number belongs to no sentence."""
    text = "Bring these:\n- a spade\n* seeds. And water\n1. Dig.\n2. Sow"
    assert sentences(text) == ["Bring these:", "a spade", "seeds.", "And water", "Dig.", "Sow"]


def test_a_number_at_a_line_start_does_not_break_a_paragraph() -> None:
    """A wrapped line that happens to start with a number is no list item."""
    assert sentences("He turned\n38. Then he left.") == ["He turned\n38.", "Then he left."]


def test_headings_table_rows_and_rules_stand_alone() -> None:
    """A heading and a table row are one sentence each, and the rule between rows is none."""
    text = "# Soil\nIt is dry\n\n| plant | pH |\n|---|---|\n| kale | 6.5 |\nMore text."
    assert sentences(text) == ["# Soil", "It is dry", "| plant | pH |", "| kale | 6.5 |", "More text."]


def test_a_code_block_is_one_sentence() -> None:
    """A fenced block of code is kept whole, blank lines and points in it included, without its fences."""
    text = "Run:\n```python\na = 1. \n\nb(a)\n```\nDone. Good."
    assert sentences(text) == ["Run:", "a = 1. \n\nb(a)", "Done.", "Good."]


def test_windows_line_ends_are_line_ends() -> None:
    """A carriage return before a newline changes nothing but the offsets."""
    unix = "- one\n- two\n\nLast. One."
    assert sentences(unix.replace("\n", "\r\n")) == sentences(unix)


def test_a_long_quotation_is_looked_into() -> None:
    """The sentences of a long quotation are found, though a short one is kept whole."""
    reported = "The leaves close at once. They hold the insect fast. " * 8
    assert len(sentences(f'He wrote: "{reported.strip()}"')) == 16


def test_a_huge_text_is_split_in_linear_time() -> None:
    """Half a million characters are one call, not a problem."""
    assert len(sentence_spans("One sentence here. " * 25_000)) == 25_000


def test_a_list_goes_on_after_the_code_of_an_item() -> None:
    """What is indented below a block of code belongs to its item, so the next number begins an item."""
    text = "1. Fence it:\n```\nfence\n```\n  If that fails, cut the power.\n4. Promote the other."
    found = [text[start:end] for start, end in sentence_spans(text)]
    assert found == ["Fence it:", "fence", "If that fails, cut the power.", "Promote the other."]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("仓库七点开门。周末不开门！谁有钥匙？门卫有。", ["仓库七点开门。", "周末不开门！", "谁有钥匙？", "门卫有。"]),
        ("「休みですか？」と聞いた。はい。", ["「休みですか？」と聞いた。", "はい。"]),
        ("गोदाम खुलता है। रविवार को बंद है।", ["गोदाम खुलता है।", "रविवार को बंद है।"]),
        ("يفتح في السابعة. هل يفتح الأحد؟ لا.", ["يفتح في السابعة.", "هل يفتح الأحد؟", "لا."]),
    ],
)
def test_sentences_of_other_scripts(text: str, sentences: list[str]) -> None:
    """The marks that end a sentence in other scripts end it, with or without a space after them."""
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@pytest.mark.parametrize("text", ["谁有钥匙？", "「休みですか？」", "هل يفتح الأحد؟"])
def test_a_question_in_another_script_is_one(text: str) -> None:
    """Full-width and Arabic question marks end a question."""
    assert is_question(text)


def test_a_unit_of_one_letter_ends_a_sentence() -> None:
    """A unit after a number or a slash is no initial of a name, with which the sentence would go on."""
    text = "It runs at 500 Mbit/s. The other does 30 km/h. It weighs 5 t. Ask J. Smith."
    found = [text[start:end] for start, end in sentence_spans(text)]
    assert found == ["It runs at 500 Mbit/s.", "The other does 30 km/h.", "It weighs 5 t.", "Ask J. Smith."]


@pytest.mark.parametrize("space", ["\u2028", "\u2029", "\x85", "\u00a0", "\u3000", "\u2003", "\u202f"])
def test_a_wide_space_does_not_end_the_process(space: str) -> None:
    """The library that cuts sentences panics on some of these, which no ``except Exception`` catches."""
    text = f"{space}\tA{space}.`???\U0001f600|.\t"
    assert all(0 <= start < end <= len(text) for start, end in sentence_spans(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("64. Beyond that the weakest is ignored.", ["64.", "Beyond that the weakest is ignored."]),
        ("7. Restart the node.", ["Restart the node."]),  # of a list that began in the chunk before
        ("12. Stop it.\n13. Start it.", ["Stop it.", "Start it."]),
    ],
)
def test_a_number_alone_at_the_start_is_no_marker(text: str, found: list[str]) -> None:
    """A number of two digits with neither the one before nor the one after it opens no item: it is what is said."""
    assert sentences(text) == found
