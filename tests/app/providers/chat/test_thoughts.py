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
        "<|channel|>analysis to=a<|message|>so<|start|>assistant<|channel|>final <|constrain|>json<|message|>Blue.",
        "Blue.",
    ),
    ("<|channel>thought\nso it is<channel|>Blue [1].", "Blue [1]."),
    ("<seed:think>so</seed:think>Blue.<thoughts>c</thoughts> Yes.<think >d</think >", "Blue. Yes."),
    ("<|START_THINKING|>so<|END_THINKING|><|START_RESPONSE|>Blue.<|END_RESPONSE|>", "Blue."),
    ("\n<analysis>so </think </analysis>Blue.", "Blue."),
    ("Blue, see <reason>late</reason>.", "Blue, see <reason>late</reason>."),
    ("<|im_start|>assistant\nBlue.<|im_end|>\n<|im_start|>user\nAnd red?<|im_end|><|im_start|>assistant\nNo.", "Blue."),
    ("[/INST] Blue. [INST] And red? [/INST] No.", "Blue."),
    ("Turns begin with <|user|> in it.", "Turns begin with <|user|> in it."),
    (
        "Write `<think>` before a note and `</think>` after it.",
        "Write `<think>` before a note and `</think>` after it.",
    ),
]


@pytest.mark.parametrize(("raw", "shown"), CASES)
def test_thoughts_are_taken_out(raw: str, shown: str) -> None:
    """What stands between the tags goes, and nothing else; a thought that is never closed takes the rest."""
    assert without_thoughts(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("<answer>\nBlue [1].\n</answer>", "Blue [1]."),
        ("### Response:\nBlue [1].\n\n### Instruction:\nNext?", "Blue [1]."),
        ("Assistant: Blue [1].\n\nUser: And red?\n\nAssistant: No [2].", "Blue [1]."),
        ("**Answer:** Blue [1].", "Blue [1]."),
        ("Output: 40 kW", "Output: 40 kW"),
        ("<response><code>7</code></response>", "<response><code>7</code></response>"),
        ("A talk:\n\nUser: Hello.\nAssistant: Welcome.", "A talk:\n\nUser: Hello.\nAssistant: Welcome."),
    ],
)
def test_the_answer_is_taken_out_of_its_wrapping(raw: str, shown: str) -> None:
    """Tags and labels around the answer go, with a turn that the model made up; the same words as content stay."""
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
    assert thoughts.feed("d") == "<d"
