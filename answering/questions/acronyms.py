"""Write an acronym of a question in full, where the passages found for it write it so: "HIU", "heat interface unit"."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from answering.text.terms import is_content

ACRONYM = re.compile(r"\b[A-Z][A-Z&]{1,4}\b")
"""A word of a question that the function here is for: two to five capitals."""
SHORTEST = 3
"""Letters of the shortest acronym whose long form need not stand right before it, in parentheses."""
MIN_TIMES = 2
"""How often a long form that nothing marks as a name or a definition stands in the passages at the least."""
_ASKS_MEANING = re.compile(r"\b(?:stands? for|means?|meaning|abbreviat\w*|acronym)\b", re.IGNORECASE)
_LINK = r"(?:[ -](?:of|and|for|the|in|to|on))?[ -]"


def in_full(question: str, texts: Sequence[str]) -> str:
    """Return *question* with each acronym in full that at most one of *texts* has, the one that defines it.

    The long form has a content word for each letter. It stands before the acronym in parentheses, or is a name or
    repeated, and is the most frequent one. A question for what the acronym means stays.
    """
    if _ASKS_MEANING.search(question):
        return question
    for match in reversed([*ACRONYM.finditer(question)]):
        if sum(bool(re.search(rf"\b{re.escape(match[0])}\b", text)) for text in texts) > 1:
            continue
        forms = Counter(form for text in texts for form in _long_forms(match[0], text))
        for form, _ in forms.most_common(1):
            question = f"{question[: match.start()]}{form}{question[match.end() :]}"
    return question


def _long_forms(acronym: str, text: str) -> Iterator[str]:
    """Yield the long forms of *acronym* in *text*, in small letters."""
    letters = [letter for letter in acronym.lower() if letter.isalpha()]
    pattern = rf"\b{_LINK.join(rf'({letter}[a-z]+)' for letter in letters)}\b( \(\s?{re.escape(acronym)}\b)?"
    found = [*re.finditer(pattern, text, re.IGNORECASE)]
    for match in found:
        *words, defined = match.groups()
        name = all(word[0].isupper() for word in words) and len(words) >= SHORTEST
        repeated = len(found) >= MIN_TIMES and len(words) >= SHORTEST
        if defined or ((name or repeated) and all(is_content(word.lower()) for word in words)):
            yield match[0].split(" (")[0].lower()
