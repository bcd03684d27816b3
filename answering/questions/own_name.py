"""Leave out of a question the name of the organisation whose documents are asked: "the notice period at Larkfield".

Its own handbook hardly names it beside a notice period. The reader takes a passage without the name for one about
another organisation.
"""

import re
from collections.abc import Sequence

from answering.text.terms import is_common, stem
from answering.types import Chunk

_NAME = r"(?P<{0}>[A-Z][\w&-]+(?: [A-Z][\w&-]+){{0,2}})"
_FUNCTION_WORDS = "and or if when while before after on at in for to is are do does can may must"
_AFTER = rf"(?=\s*(?:[?.!,;)]|\Z|\s(?:{'|'.join(_FUNCTION_WORDS.split())})\b))"
"""What follows a name that belongs to no noun after it."""
NAMED = re.compile(
    rf",?\s(?:at|from|in|inside|within)\s{_NAME.format('name')}{_AFTER}|\A\W*(?:At|In)\s{_NAME.format('first')},\s"
)
"""A question that the function here is for: a name after a preposition."""
_CAPITAL = re.compile(r"\b[A-Z]\w{2,}")
MIN_DOCUMENTS = 3
"""Candidates' documents that have the name, at the least; half of all of them have it."""


def without_own_name(question: str, chunk: Chunk, chunks: Sequence[Chunk]) -> str:
    """Return *question*, as it is read in *chunk*, without the name that most documents of *chunks* have in common.

    A word of every day is no name. In a chunk that has the name, or another one, it stays: that may tell both apart.
    """
    match = NAMED.search(question)
    name = (match["name"] or match["first"]) if match else ""
    if not match or name in _text(chunk) or not _is_name(name):
        return question
    if any(map(_is_name, set(_CAPITAL.findall(chunk.text)) - {*question.split()})):
        return question
    near = {candidate.document_id for candidate in chunks}
    having = {candidate.document_id for candidate in chunks if name in _text(candidate)}
    if len(having) < MIN_DOCUMENTS or 2 * len(having) < len(near):
        return question
    shorter = question[: match.start()] + question[match.end() :]
    return shorter[:1].upper() + shorter[1:]


def _is_name(text: str) -> bool:
    return not all(is_common(stem(word.lower())) for word in text.split())


def _text(chunk: Chunk) -> str:
    return f"{chunk.headings}\n{chunk.text}"
