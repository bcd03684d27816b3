"""Write the sentences of an extractive answer: prose, items of lists, rows of tables and code, with their markers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from answering.markers.parse import without_markers
from answering.text.blocks import cells
from answering.text.sentences import sentence_spans
from answering.types import Chunk

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


def written(sentences: Iterable[Sentence], chunks: Sequence[Chunk]) -> Iterator[str]:
    """Write the sentences in order, each once, with markers and single spaces.

    What looks like a marker in a document is not repeated, since readers would take it for a citation.
    """
    number = {chunk.chunk_id: k for k, chunk in enumerate(chunks, start=1)}
    cited: dict[tuple[str, int], str] = {}
    for sentence in sentences:
        if sentence.text.startswith(f"{FENCE}\n"):  # its lead-in is cited
            cited[sentence.text, 0] = ""
            continue
        text, prefix = " ".join(without_markers(sentence.text).split()), sentence.bullet
        for start, end in sentence_spans(text):
            cited.setdefault((text[start:end], number[sentence.chunk_id]), prefix)
            prefix = ""
    before, listed = "", False
    for ((text, k), prefix), following in pairwise([*cited.items(), (("", 0), "")]):
        row, code = text.startswith("|"), text.startswith(f"{FENCE}\n")
        apart = any(start == len(before) + 1 for start, _ in sentence_spans(f"{before} {text}"))
        in_line = apart and not (row or code or before.endswith(FENCE))
        close = (prefix and listed) or (row and before.startswith("|"))
        gap = "" if not before else "\n" if close else " " if in_line and not prefix else "\n\n"
        words = text[:-1].rstrip() if row else text.rstrip(".!?…") or text  # the marker is put where the answer has it
        cell = f"{words} [{k}]{' ' * row}{text[len(words) :].strip()}"
        header = row and not before.startswith("|") and following[0][0].startswith("|")
        rule = f"\n|{'---|' * len(cells(text))}" if header else ""  # makes the row a table's header
        yield f"{gap}{prefix}{text if code else cell}{rule}"
        before, listed = text, bool(prefix) or (listed and in_line)
