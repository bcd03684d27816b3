"""Choose what a chat model is given to read: few passages, best first, within its pace and its context.

A document's text can neither command nor forge: control tokens and our own tags are made plain text, and its own
brackets stay, since citations are checked against what was given. A server that is given too much cuts silently, and
cuts the instructions first; so passages are left out or shortened here, by an estimate meant to be too high.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answering.types import Chunk
from app.providers.chat.chat_model import ChatModel
from app.providers.chat.pace import CHARS_PER_TOKEN
from graph.errors import SynthesisFailed
from prompts import Prompt

MAX_PASSAGES, MAX_PASSAGES_FAST = 4, 8
"""Most passages of an answer; of a fast model the second."""
READING_SHARE = 1 / 3
"""Share of a call's time in which the passages must be read; the rest is for the answer."""
READING_SECONDS, MIN_READ_TOKENS = 1.2, 160
"""Seconds that reading should take where more than the second can be read in them: a first token is awaited."""
UNMEASURED_TOKENS = 1200
"""Tokens of passages for a model whose pace is not known yet."""
MIN_PASSAGE_TOKENS = 40
"""A shorter piece of a passage is not worth giving. In tokens, as all counts here but those of time: a reading time is
estimated by the characters, ``CHARS_PER_TOKEN`` each, for ``tokens`` counts too many."""
FIRST_SHARE = 0.5
"""Most of what is left to read that one passage takes while others follow: the best one is often not the right one."""
WRITING_SHARE = 0.6
"""Share of a call's time that an answer may take to write."""
ANSWER_TOKENS, MIN_ANSWER_TOKENS = 512, 32
"""Tokens kept for the answer when the question does not limit it, and the least worth asking for."""
TEMPLATE_TOKENS = 32
"""Tokens that a server's template puts around the messages."""
_TAGS = "passage|chunk|question|system|user|assistant|think|thinking|s|bos|eos|start_of_turn|end_of_turn|sys|inst"
_CONTROL = re.compile(rf"<(?=\s*\||<\s*/?\s*sys|\s*/?\s*(?:{_TAGS})\b)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"\[(/?INST|/?THINK)\]", re.IGNORECASE)
_SEPARATORS = str.maketrans("\x85\u2028\u2029", "   ")
_TOKEN = re.compile(r"[A-Z][a-z]{1,3}|[a-z]{1,4}|[A-Z]{1,4}| {2,}|[^ ]")


def harmless(text: str) -> str:
    """Turn control tokens and our own tags into plain text: ``<|im_start|>`` becomes ``‹|im_start|>``.

    Unicode's line separators become spaces: a copied one ends a JSON line in ``httpx.Response.aiter_lines`` (ollama).
    """
    return _INSTRUCTION.sub(r"(\1)", _CONTROL.sub("‹", text.translate(_SEPARATORS)))


def passage_block(number: int, title: str, text: str) -> str:
    """Format one numbered passage of a prompt; *title* and *text* are ``harmless`` already."""
    heading = f"Passage {number}: {title}" if title else f"Passage {number}:"
    return f"{heading}\n<passage>\n{text}\n</passage>"


def title_of(chunk: Chunk) -> str:
    return " ".join(harmless(", ".join(dict.fromkeys(filter(None, (chunk.title, chunk.section))))).split())


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of one prompt as (title, text); ``answer_tokens`` are left for the answer.

    Passage k is chunk k of those that were given, or part of it; ``dropped`` chunks are left out.
    """

    passages: tuple[tuple[str, str], ...]
    dropped: int
    answer_tokens: int

    @property
    def blocks(self) -> str:
        """The passages as blocks of a prompt, numbered from 1."""
        return "\n\n".join(passage_block(k, *passage) for k, passage in enumerate(self.passages, start=1))

    @property
    def documents(self) -> list[dict[str, object]]:
        """The passages as documents; the id is the passage's number."""
        numbered = enumerate(self.passages, start=1)
        return [{"id": str(k), "data": {"title": title, "text": text}} for k, (title, text) in numbered]


def tokens(text: str) -> int:
    """Estimate from above the tokens of *text*, for any of the usual byte-level vocabularies.

    Four letters of a word count as one token (whole words mostly are one), a digit, a mark, a line break, a run of
    spaces each as one, a single space with the word it precedes, and any other character as its UTF-8 bytes.
    """
    return len(_TOKEN.findall(text)) + len(text.encode("utf-8", errors="replace")) - len(text)


def reading_tokens(chat: ChatModel) -> float:
    """Return the tokens that one call may give *chat* to read, question included."""
    rate = chat.pace.read_rate
    if not rate:
        return UNMEASURED_TOKENS
    return min(rate * chat.seconds * READING_SHARE, max(MIN_READ_TOKENS, rate * READING_SECONDS))


def choose_passages(
    chat: ChatModel, prompt: Prompt, question: str, chunks: Sequence[Chunk], max_tokens: int | None
) -> Passages | None:
    """Choose passages of *chunks*, first ones first, within the context of *chat* and the time of one call.

    A chunk that does not fit is cut to its best sentences. None where a model this slow can read none of them in time.
    Raises ``SynthesisFailed`` when none fits its context beside the instructions and the question.
    """
    reserved = min(max_tokens or ANSWER_TOKENS, chat.context_tokens // 2)
    frame = prompt.user(chunks="", question=harmless(question))
    left = chat.context_tokens - reserved - TEMPLATE_TOKENS - tokens(frame) - tokens(prompt.system)
    reading = reading_tokens(chat) * CHARS_PER_TOKEN - len(frame)
    most = MAX_PASSAGES_FAST if chat.pace.fast else MAX_PASSAGES
    passages: list[tuple[str, str]] = []
    for number, chunk in enumerate(chunks[:most], start=1):
        title = title_of(chunk)
        heading = passage_block(number, title, "")
        space = left - tokens(heading) - 2  # and the blank line between blocks
        remaining = reading - len(heading)
        following = number < min(most, len(chunks)) and remaining * FIRST_SHARE >= MIN_PASSAGE_TOKENS * CHARS_PER_TOKEN
        characters = int(remaining * FIRST_SHARE if following else remaining)
        text = harmless(chunk.text)
        if tokens(text) > space or len(text) > characters:
            text = harmless(best_sentences(chunk, space, characters))
            if not text:
                break
        passages.append((title, text))
        left = space - tokens(text)
        reading = remaining - len(text)
    if chunks and not passages and left > 2 * MIN_PASSAGE_TOKENS:
        return None
    if not passages:
        raise SynthesisFailed("The question and its passages do not fit the chat model's context.")
    answer = reserved + max(0, left)
    answer = min(max_tokens or answer, answer)
    if chat.pace.read_rate:
        answer = min(answer, max(MIN_ANSWER_TOKENS, int(chat.pace.writes * chat.seconds * WRITING_SHARE)))
    return Passages(tuple(passages), len(chunks) - len(passages), answer)


def best_sentences(chunk: Chunk, limit: int, characters: int) -> str:
    """Cut *chunk* to the sentences around its best one, within *limit* tokens and *characters*; "" if too short."""
    if min(limit, characters / CHARS_PER_TOKEN) < MIN_PASSAGE_TOKENS:
        return ""
    scores = _scores(chunk)
    if not scores:
        return _beginning(chunk.text, limit, characters)
    first = last = max(range(len(scores)), key=scores.__getitem__)
    if tokens(_between(chunk, first, last)) > limit or len(_between(chunk, first, last)) > characters:
        return _beginning(_between(chunk, first, last), limit, characters)
    while True:
        wider = [(i, j) for i, j in ((first, last + 1), (first - 1, last)) if i >= 0 and j < len(scores)]
        texts = {span: _between(chunk, *span) for span in wider}
        fitting = [span for span, text in texts.items() if tokens(text) <= limit and len(text) <= characters]
        if not fitting:
            return _between(chunk, first, last)
        first, last = max(fitting, key=lambda span: scores[span[0]] if span[0] < first else scores[span[1]])


def _scores(chunk: Chunk) -> list[float]:
    """Return for each sentence how well it answers: its cosine, and the reader's probability where it was read."""
    probabilities = chunk.reading.probabilities if chunk.reading else (0.0,) * len(chunk.spans)
    cosines = chunk.span_similarities or (0.0,) * len(chunk.spans)
    return [cosine + probability for cosine, probability in zip(cosines, probabilities, strict=True)]


def _between(chunk: Chunk, first: int, last: int) -> str:
    return chunk.text[chunk.spans[first][0] : chunk.spans[last][1]]


def _beginning(text: str, limit: int, characters: int) -> str:
    """Truncate *text* to *limit* tokens and *characters* at white space."""
    text = text[:characters]
    while (size := tokens(text)) > limit:
        text = text[: len(text) * limit // size]
    return text.rsplit(None, 1)[0] if len(text.split()) > 1 else text
