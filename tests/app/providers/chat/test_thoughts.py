"""Thoughts never reach a reader, however the stream cuts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.chat.thoughts import ThoughtFilter, without_thoughts

CASES = [
    ("It is blue [1].", "It is blue [1]."),
    ("<think>hm, 2 < 3?</think>It is blue [1].", "It is blue [1]."),
    ("<THINK>a</THINK>Blue.<thinking>b</thinking> Yes.", "Blue. Yes."),
    ("Blue. <think>never closed, and so on", "Blue."),
    ("<think></think>", ""),
    ("a < b and <b>bold</b> <", "a < b and <b>bold</b> <"),
    ("[THINK]The chunk says so.[/THINK]Blue [1].", "Blue [1]."),
    ("<reasoning>so</reasoning> Blue [1].", "Blue [1]."),
    (
        "<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>Blue [1].<|return|>",
        "Blue [1].",
    ),
    (
        "Write `<think>` before a note and `</think>` after it.",
        "Write `<think>` before a note and `</think>` after it.",
    ),
]


@pytest.mark.parametrize(("raw", "shown"), CASES)
def test_thoughts_are_taken_out(raw: str, shown: str) -> None:
    """What stands between the tags goes, and nothing else; a thought that is never closed takes the rest."""
    assert without_thoughts(raw) == shown


def test_a_thought_that_began_before_the_text() -> None:
    """A closing tag that nothing opened ends a thought that the template began: all before it goes."""
    assert without_thoughts("so the answer must be\n</think>\nIt is blue [1].") == "It is blue [1]."


@given(st.sampled_from(CASES), st.data())
def test_any_cut_of_the_stream_shows_the_same(case: tuple[str, str], data: st.DataObject) -> None:
    """The pieces a stream comes in do not matter, not even inside a tag."""
    raw, shown = case
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)))))
    thoughts = ThoughtFilter()
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert ("".join(thoughts.feed(piece) for piece in pieces) + thoughts.feed("", final=True)).strip() == shown


def test_text_is_not_held_back_for_long() -> None:
    """A ``<`` that can no longer become a tag is shown at once."""
    thoughts = ThoughtFilter()
    assert thoughts.feed("a <") == "a "
    assert thoughts.feed("b") == "<b"
