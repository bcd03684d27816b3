"""Tell a follow-up question, and complete it with the words of the question before it."""

import re
from itertools import takewhile

from graph.relevance.compound import ARTICLES, ASKING, PREPOSITIONS, lost_pronoun, put_in, question_parts, subject_of
from graph.sentences import sentence_spans
from graph.terms import AUXILIARIES, asks_whether, is_content, words

_LINKING = re.compile(r"^(?:(?:and|but|or)\b[\s,]*)?(?:(?:what|how)\s+about\b\s*)?", re.IGNORECASE)
_PREPOSITION = re.compile(rf"(?:{'|'.join(PREPOSITIONS)})\b", re.IGNORECASE)
_TIMES = "on at during after before since".split()
"""Prepositions of which one takes the place of another ("on weekdays", "at weekends")."""
_COURTESIES = frozenset(
    "thank thanks cheers ok okay great good fine nice cool perfect hi hello hey bye yes sure right got see lot".split()
)
_LONGEST_FRAGMENT = 6
"""Words of a question without a verb; a longer one is likely to have one that is not recognised."""


def is_follow_up(question: str) -> bool:
    """Whether *question* needs the one before it: it opens with "and" or "what about", has no verb, or refers back."""
    own = _own(question)
    return not is_remark(question) and (own != question or _is_fragment(own) or lost_pronoun(own) is not None)


def is_remark(text: str) -> bool:
    """Whether *text* asks nothing: no sentence but such as hold courtesies alone, or open with a pronoun."""
    if "?" in text or "？" in text:
        return not words(text)
    return bool(words(text)) and all(_is_remark(text[start:end]) for start, end in sentence_spans(text))


def _is_remark(sentence: str) -> bool:
    """Whether *sentence* is a courtesy ("thanks a lot") or speaks of what was said ("that helps")."""
    content, found = set(filter(is_content, words(sentence))), lost_pronoun(sentence)
    return (found is not None and found.start() == 0) or (bool(content) and content <= _COURTESIES)


def carry_subject(question: str, earlier: str) -> str:
    """Complete the follow-up *question* with the words of *earlier*, a question that stands alone.

    A pronoun becomes what *earlier* asks about. A phrase ("for contractors?") takes the place of the phrase of
    *earlier* that opens alike, or is added to it. What can stand alone only loses its "and".
    """
    own, earlier = _own(question), question_parts(earlier)[-1]
    named = takewhile(is_content, reversed(words(earlier)))  # the content words at its end ("handling chemicals")
    subject = subject_of(earlier) or " ".join(reversed(list(named)))
    if found := lost_pronoun(own):
        completed = put_in(own, found, subject) if subject else own
    elif not _is_fragment(own):
        completed = own
    elif _names_nothing(own) and asks_whether(earlier):
        completed = f"{own.rstrip('?!. ')} {earlier[0].lower()}{earlier[1:]}"
    elif _names_nothing(own):
        completed = f"{own.rstrip('?!. ')} {subject}?"
    else:
        completed = _with_phrase(earlier.rstrip("?!. "), own.rstrip("?!. "))
    return completed[:1].upper() + completed[1:]


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


def _with_phrase(earlier: str, phrase: str) -> str:
    """Put *phrase* in the place of the phrase of *earlier* that opens alike; without one, at its end."""
    first, _, rest = phrase.partition(" ")
    opening, subject = first.lower(), subject_of(earlier)
    if opening in ARTICLES or opening in PREPOSITIONS:
        phrase = f"{opening} {rest}"
    if opening in ARTICLES and subject.partition(" ")[0] in ARTICLES:
        return re.sub(re.escape(subject), lambda _: phrase, earlier, count=1, flags=re.IGNORECASE) + "?"
    labelled = re.compile(rf"\b{re.escape(first)}\s+\w+", re.IGNORECASE)  # "garage B" of "garage A"
    if opening not in PREPOSITIONS and rest and labelled.search(earlier):
        return labelled.sub(lambda _: phrase, earlier, count=1) + "?"
    if opening not in PREPOSITIONS:
        phrase = f"for {phrase}"
    same = _TIMES if opening in _TIMES else [phrase.partition(" ")[0]]
    ends = rf"(?=\s+(?:{'|'.join(PREPOSITIONS)})\b|[,;]|$)"
    alike = re.compile(rf"\b(?:{'|'.join(same)})\s+[^,;]+?{ends}", re.IGNORECASE)
    return (alike.sub(lambda _: phrase, earlier, count=1) if alike.search(earlier) else f"{earlier} {phrase}") + "?"
