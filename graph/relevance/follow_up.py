"""Tell a follow-up question, and complete it with the words of the question before it."""

import re
from itertools import takewhile

from graph.relevance.compound import (
    ARTICLES,
    ASKING,
    AUXILIARIES,
    PREPOSITIONS,
    named_after,
    question_parts,
    refers_back,
    subject_of,
)
from graph.terms import is_content, words

_LINKING = re.compile(r"^(?:(?:and|but|or)\b[\s,]*)?(?:(?:what|how)\s+about\b\s*)?", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|its|they|them|theirs?|he|him|his|she|hers?|this|that|these|those)\b", re.IGNORECASE)
_DEMONSTRATIVES = frozenset("this that these those".split())
_POSSESSIVE = frozenset("its their theirs his her hers".split())
_EXPLETIVE = re.compile(
    r"\bthat there\b|\bit\s+(?:called|takes?|took|means?|"
    r"(?:\w+ly\s+)?(?:possible|necessary|allowed|permitted|required|mandatory|ok|okay|safe|worth|"
    r"better|best|easy|hard|true))\s+(?:for\s+(?:\w+\s+){1,3})?(?:to|that|if|when)\b",
    re.IGNORECASE,
)
"""An "it" or "that" which stands for nothing ("is it possible to …")."""
_SPEAKERS = frozenset("i we you to who".split())
_PREPOSITION = re.compile(rf"(?:{'|'.join(PREPOSITIONS)})\b", re.IGNORECASE)
_LONGEST_FRAGMENT = 6
"""Words of a question without a verb; a longer one is likely to have one that is not recognised."""


def is_follow_up(question: str) -> bool:
    """Whether *question* needs the one before it: it opens with "and" or "what about", has no verb, or refers back."""
    own = _own(question)
    return bool(words(own)) and (own != question or _is_fragment(own) or _dangling(own) is not None)


def carry_subject(question: str, earlier: str) -> str:
    """Complete the follow-up *question* with the words of *earlier*, a question that stands alone.

    A pronoun becomes what *earlier* asks about. A phrase ("for contractors?") takes the place of the phrase of
    *earlier* that opens alike, or is added to it. What can stand alone only loses its "and".
    """
    own, earlier = _own(question), question_parts(earlier)[-1]
    subject = subject_of(earlier) or _last_named(earlier)
    if found := _dangling(own):
        own_case = "'s" if found[0].lower() in _POSSESSIVE else ""
        completed = f"{own[: found.start()]}{subject}{own_case}{own[found.end() :]}" if subject else own
    elif not _is_fragment(own):
        completed = own
    elif _names_nothing(own):
        completed = f"{own.rstrip('?!. ')} {subject}?"
    else:
        completed = _with_phrase(earlier.rstrip("?!. "), own.rstrip("?!. "))
    return completed[:1].upper() + completed[1:]


def _last_named(earlier: str) -> str:
    """Return the content words at the end of *earlier* ("handling chemicals")."""
    return " ".join(reversed(list(takewhile(is_content, reversed(words(earlier))))))


def _own(question: str) -> str:
    """Remove what links *question* to the one before it."""
    return _LINKING.sub("", question) or question


def _is_fragment(own: str) -> bool:
    """Whether *own* is a phrase ("for contractors?") or nothing but a question word ("since when?")."""
    found = words(own)
    if AUXILIARIES.isdisjoint(found) and not ASKING.match(own):
        return len(found) <= _LONGEST_FRAGMENT and (own.endswith("?") or bool(_PREPOSITION.match(own)))
    return _names_nothing(own)


def _names_nothing(own: str) -> bool:
    """Whether *own* has no word of its own subject ("why?", "since when?")."""
    return not any(is_content(word) and word not in PREPOSITIONS for word in words(own))


def _dangling(own: str) -> re.Match[str] | None:
    """Find the first pronoun, if nothing before it in *own* is what it stands for."""
    found = _PRONOUN.search(own)
    if not found or _EXPLETIVE.search(own) or _is_article(found[0], words(own[found.end() :])):
        return None
    return found if refers_back(own) or not _names_something(own[: found.start()]) else None


def _is_article(pronoun: str, after: list[str]) -> bool:
    """Whether *pronoun* belongs to the noun that follows ("is this service free")."""
    return (
        pronoun.lower() in _DEMONSTRATIVES
        and len(after) > 1
        and is_content(after[0])
        and (is_content(after[1]) or after[1] in AUXILIARIES)
    )


def _names_something(text: str) -> bool:
    """Whether *text* has a noun, as far as its neighbours tell: after "I", "to" or "who" a content word is a verb."""
    found = words(text)
    after = [word for before, word in zip(["", *found], found, strict=False) if before not in _SPEAKERS]
    return any(map(is_content, after))


def _with_phrase(earlier: str, phrase: str) -> str:
    """Put *phrase* in the place of the phrase of *earlier* that opens alike; without one, at its end."""
    first, _, rest = phrase.partition(" ")
    opening = _PREPOSITION.fullmatch(first)
    named = named_after(ARTICLES, earlier, keep=True)
    if opening or first.lower() in ARTICLES:
        phrase = f"{first.lower()} {rest}"
    if named and first.lower() in ARTICLES:
        return re.sub(re.escape(named), lambda _: phrase, earlier, count=1, flags=re.IGNORECASE) + "?"
    if not opening:
        phrase = f"for {phrase}"
    alike = re.compile(rf"\b{phrase.split()[0]}\s+[^,;]+?(?=\s+(?:{'|'.join(PREPOSITIONS)})\b|[,;]|$)", re.IGNORECASE)
    if alike.search(earlier):
        return alike.sub(lambda _: phrase, earlier, count=1) + "?"
    return f"{earlier} {phrase}?"
