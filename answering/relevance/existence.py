"""Tell whether a sentence names what a question asks the existence of: "Is there a sauna?"."""

import re

from answering.text.terms import is_content, stem, vocabulary, words
from answering.types import Chunk

ASKS_EXISTENCE = re.compile(
    r"\A\W*(?:(?:is|are|was|were) there|do (?:you|we|they) (?:have|offer|sell))\b(?: any| an?| some)? (?P<what>.+)",
    re.IGNORECASE,
)
"""A question that the function here is for."""
_YES_OR_NO = re.compile(
    r"\W*(?:(?:a|answer)[:.]\s*)?(?:yes|no|sure|certainly|unfortunately|sorry|of course)\b", re.IGNORECASE
)
_AFTER_NOUN = re.compile(
    r"\b(?:in|at|on|of|for|to|with|by|near|from|that|who|which|when|if|where)\b|[,;?.!]", re.IGNORECASE
)


def lacks_existing(question: str, chunk: Chunk, n: int) -> bool:
    """Whether *question* asks if there is something, which sentence *n*, a question it answers, and headings lack."""
    asks = ASKS_EXISTENCE.match(question)
    if not asks:
        return False
    text = chunk.sentences[n]
    above = chunk.sentences[n - 1] if n and _YES_OR_NO.match(text) else ""
    said = [chunk.headings, above if above.endswith("?") else "", text]
    *_, noun = [word for word in words(_AFTER_NOUN.split(asks["what"])[0]) if is_content(word)] or [""]
    return bool(noun) and stem(noun) not in vocabulary("\n".join(said))
