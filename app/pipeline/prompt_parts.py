"""Quote a document's text for a prompt, so that it can neither cite nor command, and fit it into the model's context.

A chunk's own ``[3]`` would look like a citation of ours, a copied ``</chunk>`` would let what follows pass for
instructions, and a model's control token would open a new turn. All of these are removed or made plain text.

A server that is given too much cuts silently, and cuts the instructions first. So chunks are left out here, from the
last (least relevant) one on, by an estimate that is meant to be too high rather than too low.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answering.markers.parse import without_markers
from answering.types import Chunk
from graph.errors import SynthesisFailed
from prompts import Prompt

ANSWER_TOKENS = 512
"""Tokens kept for the answer when the question does not limit it."""
TEMPLATE_TOKENS = 32
"""Tokens that a server's template puts around the messages."""
_MIN_TEXT_TOKENS = 40
"""A piece of a chunk that is shorter is not worth giving."""
_TAGS = "chunk|question|system|user|assistant|think|thinking|s|bos|eos|start_of_turn|end_of_turn|sys|inst"
_CONTROL = re.compile(rf"<(?=\s*\||<\s*/?\s*sys|\s*/?\s*(?:{_TAGS})\b)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_SEPARATORS = str.maketrans("\x85\u2028\u2029", "   ")
_TOKEN = re.compile(r"[A-Z][a-z]{1,3}|[a-z]{1,4}|[A-Z]{1,4}| {2,}|[^ ]")


def quoted(text: str) -> str:
    """Remove markers from *text*, and make control tokens and our own tags harmless."""
    return harmless(without_markers(text))


def harmless(text: str) -> str:
    """Turn control tokens and our own tags into plain text: ``<|im_start|>`` becomes ``‹|im_start|>``.

    Unicode's line separators become spaces: a copied one ends a JSON line in ``httpx.Response.aiter_lines`` (ollama).
    """
    return _INSTRUCTION.sub(r"(\1)", _CONTROL.sub("‹", text.translate(_SEPARATORS)))


def chunk_block(number: int, title: str, text: str) -> str:
    """Format one numbered chunk of a prompt; *title* and *text* are ``quoted`` already."""
    heading = f"Chunk {number}: {title}" if title else f"Chunk {number}:"
    return f"{heading}\n<chunk>\n{text}\n</chunk>"


def title_of(title: str, section: str | None) -> str:
    """Return a chunk's title and section on one line, quoted."""
    return " ".join(quoted(", ".join(dict.fromkeys(filter(None, (title, section))))).split())


@dataclass(frozen=True, slots=True)
class Fitted:
    """The chunks that fit, as quoted (title, text); ``answer_tokens`` are left for the answer."""

    chunks: tuple[tuple[str, str], ...]
    dropped: int
    answer_tokens: int

    @property
    def blocks(self) -> str:
        """The chunks as blocks of a prompt, numbered from 1."""
        return "\n\n".join(chunk_block(k, *chunk) for k, chunk in enumerate(self.chunks, start=1))

    @property
    def documents(self) -> list[dict[str, object]]:
        """The chunks as documents; the id is the chunk's number."""
        numbered = enumerate(self.chunks, start=1)
        return [{"id": str(k), "data": {"title": title, "text": text}} for k, (title, text) in numbered]


def tokens(text: str) -> int:
    """Estimate from above the tokens of *text*, for any of the usual byte-level vocabularies.

    Four letters of a word count as one token (whole words mostly are one), a digit, a mark, a line break, a run of
    spaces each as one, a single space with the word it precedes, and any other character as its UTF-8 bytes.
    """
    return len(_TOKEN.findall(text)) + len(text.encode("utf-8", errors="replace")) - len(text)


def fit(prompt: Prompt, question: str, chunks: Sequence[Chunk], context_tokens: int, max_tokens: int | None) -> Fitted:
    """Select chunks for *prompt*, first ones first, while they fit; truncate an oversized first one.

    Raises ``SynthesisFailed`` when not even a piece of one chunk fits beside the instructions and the question.
    """
    reserved = min(max_tokens or ANSWER_TOKENS, context_tokens // 2)
    frame = tokens(prompt.system) + tokens(prompt.user(chunks="", question=harmless(question)))
    left = context_tokens - reserved - TEMPLATE_TOKENS - frame
    fitted: list[tuple[str, str]] = []
    for number, chunk in enumerate(chunks, start=1):
        title, text = title_of(chunk.title, chunk.section), quoted(chunk.text)
        heading = tokens(chunk_block(number, title, "")) + 2  # and the blank line between blocks
        if heading + tokens(text) > left:
            text = "" if fitted else _beginning(text, left - heading)
            if not text:
                break
        fitted.append((title, text))
        left -= heading + tokens(text)
    if not fitted:
        raise SynthesisFailed("The question and its chunks do not fit the chat model's context.")
    answer = reserved + max(0, left)
    return Fitted(tuple(fitted), len(chunks) - len(fitted), min(max_tokens or answer, answer))


def _beginning(text: str, limit: int) -> str:
    """Truncate *text* to *limit* tokens at white space; "" below a useful length."""
    if limit < _MIN_TEXT_TOKENS:
        return ""
    while (size := tokens(text)) > limit:
        text = text[: len(text) * limit // size]
    return text.rsplit(None, 1)[0] if len(text.split()) > 1 else text
