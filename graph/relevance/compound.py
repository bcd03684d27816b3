"""Compound questions: the parts of a text that asks more than one thing."""

import re
from collections.abc import Sequence
from itertools import takewhile

from graph.terms import is_content, question_stems, words

MOST_PARTS = 4
"""A text that seems to ask more things than this is left whole: it is more likely prose than a list of questions."""

_WH = r"(?:what|when|where|which|who|whom|whose|why|how)\b"
_PREPOSITION = r"(?:(?:in|on|at|for|to|of|by|from|with)\s+)?"
_QUESTION_END = re.compile(r"(?<=\?)\s+")
_CONJUNCTION = re.compile(
    rf"\s*;\s*(?=\S)|,?\s+(?:and\s+also|as\s+well\s+as|and|also|plus)\s+(?={_PREPOSITION}{_WH})", re.IGNORECASE
)
_LINKING = re.compile(r"^(?:and|also|plus|then|or|but|additionally|furthermore|moreover)\b[\s,]*", re.IGNORECASE)
_ASKING = re.compile(rf"^{_PREPOSITION}{_WH}|^(?:name|list|describe|explain|tell)\b", re.IGNORECASE)
_PRONOUNS = frozenset("it its he him his she her hers they them their theirs this that these those".split())
_AUXILIARIES = frozenset("is are was were do does did can could will would shall should has have had".split())
_ARTICLES = frozenset("the a an my our your".split())
_THING = re.compile(r"\b(?:it|its)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_][\w'’-]*")
_LONGEST = 4
"""Words of a subject that is given back."""
_OPENING = 4
"""A question's auxiliary verb is looked for among so many words; without one, a pronoun among them refers back."""


def question_parts(question: str) -> tuple[str, ...]:
    """The questions that *question* asks, in order; ``(question,)`` when it asks one, or when in doubt.

    A text is split after a question mark, and at a semicolon or a conjunction where both sides ask. A part that lost
    its subject ("and where is it now?") gets that of the first part back. The text stays whole when a part could not be
    searched by itself: it has no word of content, or refers back to something else.
    """
    parts: list[str] = []
    for sentence in _QUESTION_END.split(question.strip()):
        pieces = [piece for piece in map(_trimmed, _CONJUNCTION.split(sentence)) if piece]
        subject = _subject(parts[0] if parts else pieces[0] if pieces else "")
        pieces = [_with_subject(piece, subject) if parts or n else piece for n, piece in enumerate(pieces)]
        asking = len(pieces) > 1 and all(_ASKING.match(piece) and _stands_alone(piece) for piece in pieces)
        parts.extend(
            pieces if asking else [_with_subject(_trimmed(sentence), subject) if parts else _trimmed(sentence)]
        )
    several = 2 <= len(parts) <= MOST_PARTS and all(_stands_alone(part) and _asks(part) for part in parts)
    return tuple(parts) if several else (question,)


def _subject(part: str) -> str:
    """What *part* asks about: the words behind its first article, or behind its first auxiliary verb; "" for none."""
    tokens = _TOKEN.findall(part)
    for marks, kept in ((_ARTICLES, 1), (_AUXILIARIES, 0)):
        start = next((n for n, token in enumerate(tokens) if token.lower() in marks), None)
        if start is not None:
            named = list(takewhile(lambda token: is_content(token.lower()), tokens[start + 1 : start + 1 + _LONGEST]))
            if named:
                return " ".join([*tokens[start : start + kept], *named])
    return ""


def _with_subject(part: str, subject: str) -> str:
    """*part* with its first pronoun for a thing exchanged for *subject*."""
    found = _THING.search(part)
    if not subject or not found or not _refers_back(words(part)):
        return part
    own = "'s" if found[0].lower() == "its" else ""
    return f"{part[: found.start()]}{subject}{own}{part[found.end() :]}"


def _trimmed(piece: str) -> str:
    """*piece* without the word that links it to what stands before it."""
    return _LINKING.sub("", piece.strip()).strip()


def _asks(part: str) -> bool:
    return part.endswith("?") or bool(_ASKING.match(part))


def _stands_alone(part: str) -> bool:
    """Whether *part* names what it asks about, so that it can be searched by itself."""
    found = words(part)
    return len(found) > 2 and not _refers_back(found) and bool(question_stems(part))


def _refers_back(found: Sequence[str]) -> bool:
    """Whether a pronoun stands where the subject should ("how old was he") and not after it."""
    opening = next((i + 1 for i, word in enumerate(found[:_OPENING]) if word in _AUXILIARIES), 0)
    if not opening:
        return not _PRONOUNS.isdisjoint(found[:_OPENING])
    return next((word for word in found[opening:] if word in _PRONOUNS or is_content(word)), "") in _PRONOUNS
