"""Write the sentences of an extractive answer: prose, items of lists, rows of tables and code, each with its span."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from answering.text.blocks import cells
from answering.text.sentences import sentence_spans
from answering.types import Chunk, CitedSentence, Source

FENCE = "```"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer: exactly ``chunk.text[start:end]``; code is in backticks or a fence.

    ``score`` is how well it answers the question, ``plain`` how near it is to it without the reader; ``bullet`` stands
    before it ("2. ") where it begins an item of a list.
    """

    chunk_id: str
    start: int
    end: int
    text: str
    score: float
    plain: float
    bullet: str = ""


def written(sentences: Iterable[Sentence], chunks: Sequence[Chunk]) -> tuple[CitedSentence, ...]:
    """Write the sentences in order, each once, on one line but for code, with what parts them."""
    number = {chunk.chunk_id: position for position, chunk in enumerate(chunks)}
    lines: dict[tuple[str, str], Sentence] = {}
    for sentence in sentences:
        line = sentence.text if _fenced(sentence.text) else " ".join(sentence.text.split())
        lines.setdefault((line, sentence.chunk_id), sentence)
    shown = [(line, sentence) for (line, _), sentence in lines.items()]
    out = []
    before, rule, listed = "", "", False
    for (text, sentence), (following, _) in pairwise([*shown, ("", Sentence("", 0, 0, "", 0.0, 0.0))]):
        row = text.startswith("|")
        joined = _gap(before, text, sentence.bullet, listed=listed)
        sources: tuple[Source, ...] = ()
        if not _fenced(text):  # the lead-in of a block of code is cited
            words = text[:-1].rstrip() if row else text.rstrip(".!?…") or text
            span = (sentence.start, sentence.end)
            sources = (Source((number[sentence.chunk_id],), len(words), span),)
        out.append(CitedSentence(text, sources, f"{rule}{joined}{sentence.bullet}"))
        header = row and not before.startswith("|") and following.startswith("|")
        rule = f"\n|{'---|' * len(cells(text))}" if header else ""  # makes the row a table's header
        in_line = not (row or joined.startswith("\n"))
        before, listed = text, bool(sentence.bullet) or (listed and in_line)
    return tuple(out)


def _fenced(text: str) -> bool:
    return text.startswith(f"{FENCE}\n")


def _gap(before: str, text: str, bullet: str, *, listed: bool) -> str:
    """Return the white space between a sentence and the one before it."""
    if not before:
        return ""
    row = text.startswith("|")
    if (bullet and listed) or (row and before.startswith("|")):
        return "\n"
    apart = any(start == len(before) + 1 for start, _ in sentence_spans(f"{before} {text}"))
    in_line = apart and not (row or _fenced(text) or before.endswith(FENCE) or bullet)
    return " " if in_line else "\n\n"
