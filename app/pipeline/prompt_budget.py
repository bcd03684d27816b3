"""What fits: a prompt and its answer share the model's context, and the instructions are never what gives way.

A server that is given too much cuts silently, and cuts the instructions first. So chunks are left out here, from the
last (least relevant) one on, by an estimate that is meant to be too high rather than too low.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.pipeline.quoted import chunk_block, harmless, quoted, title_of
from graph.errors import SynthesisFailed
from graph.state import Chunk
from prompts import Prompt

ANSWER_TOKENS = 512
"""Room kept for the answer when the question does not say how long it may be."""

_OVERHEAD = 32
"""Tokens that a server's template puts around the messages."""

_LEAST_TEXT = 40
"""Tokens of a chunk below which a piece of it is not worth giving."""

_RUN = re.compile(r"([A-Z]?[a-z]+|[A-Z]+)|(\d)|(\n)|([^\S\n])|([\x21-\x7e])|(.)", re.DOTALL)
_LETTERS_PER_TOKEN = 4
_MARK = "\x00"


@dataclass(frozen=True, slots=True)
class Fitted:
    """The chunks that fit, in order: titles and texts, quoted. ``answer_tokens`` is what is left for the answer."""

    titles: tuple[str, ...]
    texts: tuple[str, ...]
    dropped: int
    answer_tokens: int

    @property
    def blocks(self) -> str:
        """The chunks as they stand in a prompt, numbered from 1."""
        numbered = enumerate(zip(self.titles, self.texts, strict=True), start=1)
        return "\n\n".join(chunk_block(k, title, text) for k, (title, text) in numbered)


def tokens(text: str) -> int:
    """An upper estimate of the tokens of *text*, for any of the usual byte-level vocabularies.

    Four letters of a word count as one token (whole words mostly are one), a digit, a mark, a line break each as one,
    a space with the word it precedes, and any other character as its UTF-8 bytes, which no vocabulary exceeds.
    """
    count = 0
    for word, digit, line, space, mark, other in _RUN.findall(text):
        if word:
            count += -(-len(word) // _LETTERS_PER_TOKEN)
        elif digit or line or mark:
            count += 1
        elif other:
            count += len(other.encode("utf-8", errors="replace"))
        elif space != " ":
            count += len(space.encode("utf-8"))
    return count + len(re.findall(r" {2,}", text))


def fit(prompt: Prompt, question: str, chunks: Sequence[Chunk], context_tokens: int, max_tokens: int | None) -> Fitted:
    """Choose what goes into *prompt*: chunks from the first on, while they fit; a first one too long is cut.

    Raises ``SynthesisFailed`` when not even a piece of one chunk fits beside the instructions and the question.
    """
    reserved = min(max_tokens or ANSWER_TOKENS, context_tokens // 2)
    frame, times = _frame(prompt)
    fixed = _OVERHEAD + frame + times * tokens(harmless(question))
    room = context_tokens - reserved - fixed
    titles: list[str] = []
    texts: list[str] = []
    for number, chunk in enumerate(chunks, start=1):
        title, frame = _framed(number, chunk.title, chunk.section)
        text, length = _quoted(chunk.text)
        if length + frame > room:
            text = "" if texts else _beginning(text, room - frame)
            if not text:
                break
            length = tokens(text)
        titles.append(title)
        texts.append(text)
        room -= length + frame
    if not texts:
        raise SynthesisFailed("The question and its chunks do not fit the chat model's context.")
    left = reserved + max(0, room)
    return Fitted(tuple(titles), tuple(texts), len(chunks) - len(texts), min(max_tokens, left) if max_tokens else left)


@lru_cache(maxsize=8)
def _frame(prompt: Prompt) -> tuple[int, int]:
    """The tokens of what stands around the chunks and the question, and how often the question stands there."""
    around = tokens(prompt.system) + tokens(prompt.user(chunks="", question=""))
    return around, prompt.user(chunks="", question=_MARK).count(_MARK)


@lru_cache(maxsize=1024)
def _framed(number: int, title: str, section: str | None) -> tuple[str, int]:
    """The title of the chunk of that number as it stands in a prompt, and the tokens of the block without its text."""
    shown = title_of(title, section)
    return shown, tokens(chunk_block(number, shown, "")) + 2


@lru_cache(maxsize=1024)
def _quoted(text: str) -> tuple[str, int]:
    """A chunk's text as it stands in a prompt, and its tokens; questions meet the same chunks again and again."""
    shown = quoted(text)
    return shown, tokens(shown)


def _beginning(text: str, room: int) -> str:
    """The beginning of *text* that takes *room* tokens, cut at white space; "" when that is hardly anything."""
    if room < _LEAST_TEXT:
        return ""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= room else (low, middle - 1)
    cut = text[:low]
    return cut.rsplit(None, 1)[0] if len(cut.split()) > 1 else cut
