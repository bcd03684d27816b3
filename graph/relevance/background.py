"""Tell the question in a text from what is said around it: a greeting, thanks, how the question came up."""

import re

from graph.relevance.compound import ASKING, named_after, stands_alone, trimmed, with_subject
from graph.sentences import sentence_spans
from graph.terms import is_content, words

_QUESTION_MARK = re.compile(r"[?？][\"'”’)\]]*$")
_INTRODUCING = frozenset({"the", "a", "an"})


def asked_in(text: str) -> str:
    """Return the sentences of *text* that ask, joined by spaces; *text* itself where all of them do, or none."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    asking = [one for one in sentences if _asks(one)]
    return " ".join(asking) if 0 < len(asking) < len(sentences) else text


def without_background(text: str) -> str:
    """Return what *text* asks without what is said around it; *text* itself when in doubt.

    A question that lost its subject ("… When was it built?") gets that of the nearest sentence before it that names
    one.
    """
    asked = asked_in(text)
    if asked == text:
        return text
    before: list[str] = []
    for start, end in sentence_spans(text):
        if asked.startswith(text[start:end]):
            break
        before.append(text[start:end])
    for sentence in reversed(before):
        asked = with_subject(asked, named_after(_INTRODUCING, sentence, keep=True))
    return asked if stands_alone(asked) else text


def _asks(sentence: str) -> bool:
    """Whether *sentence* ends in a question mark, or opens like a question and has no end; and names something.

    "How are you?" names nothing.
    """
    asks = _QUESTION_MARK.search(sentence) or (sentence[-1].isalnum() and ASKING.match(trimmed(sentence)))
    return bool(asks) and any(map(is_content, words(sentence)))
