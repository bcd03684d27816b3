"""Expand the acronyms of a question as the passages found for it write them: "HIU", "heat interface unit"."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from answering.text.terms import is_common, is_content, stem

ACRONYM = re.compile(r"\b[A-Z][A-Z&]{1,4}\b")
"""A word of a question that the function here is for: two to five capitals."""
SHORTEST = 3
"""Letters of the shortest acronym whose long form need not stand right before it, in parentheses."""
_COMMON = frozenset(
    "cad cet chf csv eu eur faq fax gbp gmt gps html http https id jpg ok pdf png pin sms uk url us usa".split()
)
"""Acronyms that are hardly ever written in full."""
_ASKS_MEANING = re.compile(r"\b(?:stands? for|means?|meaning|abbreviat\w*|acronym)\b", re.IGNORECASE)
_LINK = r"(?:[ -](?:of|and|for|the|in|to|on))?[ -]"


def in_full(question: str, texts: Sequence[str]) -> str:
    """Return *question* with each acronym in full that at most one of *texts* has, the one that defines it.

    The long form has a word for each letter. The acronym follows it in parentheses, or it is a name or a heading.
    A question for what the acronym means stays.
    """
    if _ASKS_MEANING.search(question):
        return question
    for match in reversed([*ACRONYM.finditer(question)]):
        word = match[0].lower()
        if word in _COMMON or not is_content(word) or is_common(stem(word)):  # "Which rooms are NOT open?"
            continue
        if sum(bool(re.search(rf"\b{re.escape(match[0])}\b", text)) for text in texts) > 1:
            continue
        forms = Counter(form for text in texts for form in _long_forms(match[0], text))
        for form, _ in forms.most_common(1):
            question = f"{question[: match.start()]}{form}{question[match.end() :]}"
    return question


def _long_forms(acronym: str, text: str) -> Iterator[str]:
    """Yield the long forms of *acronym* in *text*, in small letters."""
    letters = [letter for letter in acronym.lower() if letter.isalpha()]
    form = _LINK.join(rf"({letter}[a-z]+)" for letter in letters)
    pattern = rf"(?P<before>^[^\S\n]*)?\b{form}\b(?P<defined> \(\s?{re.escape(acronym)}\b)?(?P<after>[^\S\n]*$)?"
    for match in re.finditer(pattern, text, re.IGNORECASE | re.MULTILINE):
        words = match.groups()[1 : len(letters) + 1]
        long = len(letters) >= SHORTEST and all(is_content(word.lower()) for word in words)
        heading = match["before"] is not None and match["after"] is not None
        name = all(word[0].isupper() for word in words)
        if match["defined"] or (long and (heading or name)):
            yield match[0].split(" (")[0].strip().lower()
