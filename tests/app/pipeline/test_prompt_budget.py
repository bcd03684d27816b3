"""A prompt and its answer fit the context; chunks give way from the last one on, instructions never."""

from __future__ import annotations

from dataclasses import replace
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel

from answering.types import Chunk
from app.pipeline.passages import ANSWER_TOKENS, MAX_PASSAGES, Passages, choose_passages
from app.pipeline.passages import tokens as estimate
from app.providers.chat.chat_model import ChatModel
from app.providers.chat.pace import Pace
from graph.errors import SynthesisFailed
from prompts import Prompt, load_prompt
from tests.support.paths import ROOT
from tests.support.synthesis import chunk

PROMPT = load_prompt("answer")
ASKED = "Where is the tower?"


def fit(
    prompt: Prompt,
    question: str,
    chunks: list[Chunk],
    context: int,
    max_tokens: int | None,
    pace: Pace | None = None,
    seconds: float = 10.0,
) -> Passages | None:
    pace = pace or Pace(read_rate=1e6, write_rate=1e6)
    chat = ChatModel("any:model", FakeListChatModel(responses=[]), context, seconds, pace=pace)
    return choose_passages(chat, prompt, question, chunks, max_tokens)


def fitting(prompt: Prompt, question: str, chunks: list[Chunk], context: int, max_tokens: int | None) -> Passages:
    """What a model of any speed is given."""
    fitted = fit(prompt, question, chunks, context, max_tokens)
    assert fitted is not None
    return fitted


def prompt_tokens(question: str, blocks: str) -> int:
    return estimate(PROMPT.system) + estimate(PROMPT.user(chunks=blocks, question=question))


@given(
    st.lists(st.text(max_size=3000), min_size=1, max_size=12),
    st.integers(1024, 8192),
    st.one_of(st.none(), st.integers(1, 4096)),
)
def test_prompt_and_answer_never_exceed_the_context(texts: list[str], context: int, max_tokens: int | None) -> None:
    """Whatever the chunks hold, prompt and answer together are estimated within the context, and order is kept."""
    chunks = [chunk(n, text) for n, text in enumerate(texts)]
    fitted = fitting(PROMPT, ASKED, chunks, context, max_tokens)
    assert prompt_tokens(ASKED, fitted.blocks) + fitted.answer_tokens <= context
    assert fitted.dropped + len(fitted.passages) == len(chunks)
    assert fitted.answer_tokens >= 1


def test_a_question_that_stands_there_twice_counts_twice() -> None:
    """A prompt may repeat the question; each time takes its place."""
    twice = replace(PROMPT, template=Template("$chunks\n" + "$question\n" * 3))
    asked = "Where is the tower? " * 100
    fitted = fitting(twice, asked, [chunk(n, "Plain words. " * 90) for n in range(30)], 4096, None)
    whole = estimate(twice.system) + estimate(twice.user(chunks=fitted.blocks, question=asked))
    assert whole + fitted.answer_tokens <= 4096


def test_chunks_are_dropped_from_the_end() -> None:
    """The most relevant chunks stay whole; how many went is counted."""
    chunks = [chunk(n, f"Sentence {n} of the guide. " * 60) for n in range(10)]
    fitted = fitting(PROMPT, ASKED, chunks, 2048, None)
    assert 0 < fitted.dropped < 10
    whole = [text for _, text in fitted.passages][:-1]
    assert whole == [c.text for c in chunks[: len(whole)]]
    assert fitted.passages[-1][1] in chunks[len(whole)].text


def test_one_chunk_too_long_is_cut() -> None:
    """A single chunk that is longer than the context gives its beginning rather than nothing."""
    fitted = fitting(PROMPT, ASKED, [chunk(0, "word " * 50_000)], 2048, None)
    assert fitted.dropped == 0
    assert fitted.passages[0][1].startswith("word word")


def test_max_tokens_makes_room_and_is_the_limit() -> None:
    """``maxTokens`` is reserved for the answer, but never more than half of the context."""
    chunks = [chunk(n, "Plain words about towers. " * 40) for n in range(30)]
    short, long = fitting(PROMPT, ASKED, chunks, 2048, 64), fitting(PROMPT, ASKED, chunks, 2048, 4096)
    assert short.answer_tokens == 64
    assert short.dropped < long.dropped
    assert long.answer_tokens >= 1024
    assert fitting(PROMPT, ASKED, chunks[:1], 4096, None).answer_tokens >= ANSWER_TOKENS


def test_a_question_that_leaves_no_room_is_a_failure() -> None:
    """Where the question alone fills the context, an error is raised; the instructions are not cut for it."""
    with pytest.raises(SynthesisFailed, match="do not fit"):
        fit(PROMPT, "多" * 2000, [chunk(0, "Some text.")], 1024, None)


@pytest.mark.parametrize("text", ["", " ", "word", "1234567890", "日本語", "🙂🙂", "a  b", "don't", "x_y.z()\n\n\n"])
def test_the_estimate_is_no_lower_than_a_token_per_mark_digit_and_byte(text: str) -> None:
    """Digits, marks and foreign letters are what vocabularies split most: each counts."""
    ascii_words = "".join(letter for letter in text if letter.isascii() and (letter.isalpha() or letter == " "))
    rest = sum(len(letter.encode()) for letter in text if letter not in ascii_words)
    assert estimate(text) >= rest


def test_the_estimate_of_english_is_between_one_and_two_tokens_a_word() -> None:
    """On this project's own manual it is above what vocabularies need (about 1.3 a word), and not wildly so."""
    manual = (ROOT / "knowledge" / "operating-the-garden.md").read_text(encoding="utf-8")
    assert 1.3 < estimate(manual) / len(manual.split()) < 2.6


def test_no_chunk_is_no_prompt() -> None:
    """Nothing to answer from is a failure here; the graph asks for no answer then."""
    empty: list[Chunk] = []
    with pytest.raises(SynthesisFailed):
        fit(PROMPT, ASKED, empty, 4096, None)


@pytest.mark.parametrize(("read", "most"), [(25.0, 1), (150.0, 3), (600.0, MAX_PASSAGES)])
def test_passages_are_given_by_the_models_pace(read: float, most: int) -> None:
    """A model gets what it can read in a third of its time, the best sentences first, and four passages at most."""
    chunks = [chunk(n, f"The tower {n} stands in the middle of the town, near the river. " * 12) for n in range(10)]
    fitted = fit(PROMPT, ASKED, chunks, 8192, None, Pace(read_rate=read, write_rate=read / 4))
    assert fitted is not None
    assert 1 <= len(fitted.passages) <= most
    assert len(fitted.blocks) <= max(250, read * 10 / 3) * 4.2
    assert fitted.answer_tokens <= read / 4 * 10


def test_a_long_passage_leaves_room_for_the_next_ones() -> None:
    """Where time is short the best passage is cut to half of what can be read, since the answer may be in the next."""
    chunks = [chunk(n, f"The tower {n} stands in the middle of the town, near the river. " * 12) for n in range(3)]
    fitted = fit(PROMPT, ASKED, chunks, 8192, None, Pace(read_rate=150.0, write_rate=40.0))
    assert fitted is not None
    first, second, *_ = (text for _, text in fitted.passages)
    assert len(second) > len(first) / 4
    assert len(first) < len(chunks[0].text)


def test_a_model_too_slow_for_one_passage_is_given_none() -> None:
    """Where not even the best sentences can be read in time, nothing is asked of the model."""
    assert (
        fit(PROMPT, ASKED, [chunk(0, "The tower stands here. " * 40)], 4096, None, Pace(read_rate=5.0, write_rate=1.0))
        is None
    )
