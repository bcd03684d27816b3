"""The claim of a sentence: what wraps it is taken off, what it asserts is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.evidence.claims import bare_claim

CLAIM = "You may carry over 240 hours."


@pytest.mark.parametrize(
    "wrapped",
    [
        "Answer: {}",
        "**Answer:** {}",
        "Short answer: {}",
        "**Rule**: {}",
        "**Step 1:** {}",
        "Note: {}",
        "Note that {}",
        "Please note that {}",
        "It is important to note that {}",
        "Yes, {}",
        "Yes. {}",
        "No: {}",
        "In short, {}",
        "In short, note that {}",
        "However, {}",
        "According to the handbook, {}",
        "According to section 3 of the leave policy, {}",
        "Based on the provided passages, {}",
        "As stated in the document, {}",
        "As the text states, {}",
        "The document states that {}",
        "In the provided chunks: {}",
        "- {}",
        "* {}",
        "1. {}",
        "2) {}",
        "**{}**",
        "*{}*",
        "__{}__",
        "- **Answer:** {}",
        "> {}",
        "“{}”",
        "| {} |",
        "  {}\n",
    ],
)
def test_a_wrapper_is_taken_off(wrapped: str) -> None:
    """A label, a word of discourse, a mention of the source, a list sign or emphasis adds nothing to a claim."""
    assert bare_claim(wrapped.format(CLAIM)) == CLAIM
    assert bare_claim(wrapped.format(CLAIM[0].lower() + CLAIM[1:])).lower() == CLAIM.lower()


@pytest.mark.parametrize(
    "tail", [", according to the handbook.", " (as stated in the leave policy).", ", as per the FAQ."]
)
def test_a_mention_of_the_source_at_the_end_is_taken_off(tail: str) -> None:
    """The source may be named behind the claim, too."""
    assert bare_claim(CLAIM[:-1] + tail) == CLAIM


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| Sick leave | 4 hours |", "Sick leave: 4 hours"),
        ("| **Sick leave** | 4 hours | `each` |", "Sick leave: 4 hours, each"),
        ("|  | 4 hours |", "4 hours"),
        ("Use `typer.run()` in *one* <b>file</b>.", "Use typer.run() in one file."),
        ("so, typer.run() starts", "typer.run() starts"),
    ],
)
def test_markup_is_read_as_plain_words(text: str, expected: str) -> None:
    """A table row is its cells, joined so that they can be read; emphasis, code signs and tags go."""
    assert bare_claim(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "No. 5 screws hold the lid.",
        "Rule 5 applies to all.",
        "The answer is 42.",
        "None of the documents states that leave lapses.",
        "Nobody in the manual says that it is safe.",
        "According to Smith, it is safe.",
        "If you are ill, you may stay.",
        "In this case, 5 days are free.",
        "The key is kept in the page.",
        "From the page, choose Save.",
        "Sick leave: 4 hours.",
        "_TYPER_STANDARD_TRACEBACK=1.",
        "2*3*4 is snake_case_name in __init__.py.",
        "Replace <path> by yours.",
        'Use "must" for an obligation and "may" for a permission.',
    ],
)
def test_what_a_claim_asserts_stays(text: str) -> None:
    """A condition, a person who says it, a subject, a negation and code are part of the claim."""
    assert bare_claim(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Answer:",
        "**Answer:**",
        "Here is what the documents say:",
        "Based on the provided passages:",
        "## Leave",
        "Here is a summary of the rules.",
        "I hope this helps!",
        "Let me know if you have questions.",
        " ",
    ],
)
def test_a_heading_or_a_preamble_claims_nothing(text: str) -> None:
    """Of a text that only introduces others no claim is left."""
    assert bare_claim(text) == ""


@given(st.text(max_size=200) | st.text(alphabet='*_`|"- .:,ab<>/1', max_size=60))
def test_any_text_has_a_claim(text: str) -> None:
    """Whatever the text, its claim is one line, and every word of it is the text's."""
    claim = bare_claim(text)
    assert claim == " ".join(claim.split())
    assert len(claim) <= len(text) + text.count("|")


@pytest.mark.parametrize(
    "unit", ["the ", "according to the ", "in the text of ", "so, ", "*", "`", "|", "(", "a-b ", '"']
)
def test_a_long_text_takes_linear_time(unit: str) -> None:
    """Four times as much of the worst text takes about four times as long."""

    def seconds(length: int) -> float:
        begun = time.thread_time()
        bare_claim(unit * (length // len(unit)))
        return time.thread_time() - begun

    assert seconds(100_000) < 12 * min(seconds(25_000), seconds(25_000)) + 0.2
