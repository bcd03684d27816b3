"""Reword sentences, or change one fact of them.

Every function returns None where a sentence offers nothing to change. All choices come from its *random*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

Change = Callable[[str, Random], str | None]

_SYNONYMS = {
    first: second
    for pair in (
        "large/big|began/started|begin/start|begins/starts|built/constructed|created/made|used/employed|shows/displays|"
        "located/situated|near/close to|about/roughly|many/numerous|important/significant|often/frequently|"
        "because/since|received/got|became/turned into|famous/well-known|entire/whole|required/needed|help/assist|"
        "helped/assisted|buy/purchase|bought/purchased|obtain/get|obtained/got|main/principal|region/area|"
        "occurs/happens|occur/happen|occurred/happened|provide/give|provides/gives|provided/gave|whole/complete|"
        "discovered/found|wrote/authored|died/passed away|film/movie|movie/film|city/town|children/kids|"
        "approximately/around|killed/slain|students/pupils|initially/at first|primarily/mainly|usually/generally|"
        "quickly/rapidly|fast/quick|small/little|attempt/try|attempted/tried|allow/let|allows/lets|"
        "produced/generated|produce/generate|consists of/comprises|led/headed|various/different|said/stated"
    ).split("|")
    for first, second in [pair.split("/")]
}
_DROPPED = re.compile(
    r" \([^()]{1,80}\)|, (?:however|therefore|for example|for instance|of course|in fact|as well),|"
    r"(?<=[a-z]) (?:also|very|quite|largely|currently|typically|originally|subsequently|later|then)(?= [a-z])"
)
_LEAD = re.compile(
    r"(?P<lead>(?:In|On|After|During|By|At|From|Since|Before|As|With|For) [^,]{4,60}), (?P<rest>.{20,})[.]\Z"
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w])")
_SPELLED = "two three four five six seven eight nine ten eleven twelve".split()
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}(?:'s)?\b")
_AUXILIARY = re.compile(
    r"(?<=[a-z,)] )(?:is|are|was|were|can|could|will|would|has been|have been|had been|must|should)(?= [a-z])"
)
_DENIAL = re.compile(r" not (?=[a-z])|(?<=[a-z])n't\b")


def reworded(sentence: str, random: Random) -> str | None:
    """Drop side remarks, move the opening phrase to the end, and exchange up to three words."""
    out = _DROPPED.sub("", sentence)
    if found := _LEAD.match(out):
        rest, lead = found["rest"], found["lead"]
        rest = rest if rest.split()[0].isupper() or rest[:1].isupper() else rest[:1].upper() + rest[1:]
        out = f"{rest} {lead[:1].lower()}{lead[1:]}."
    words = [found for found in re.finditer(r"[a-z]+", out) if found[0] in _SYNONYMS]
    for found in sorted(random.sample(words, min(len(words), 3)), key=lambda word: -word.start()):
        out = out[: found.start()] + _SYNONYMS[found[0]] + out[found.end() :]
    return out if out != sentence else None


def renumbered(sentence: str, random: Random) -> str | None:
    """Change one number of *sentence*, in digits or as a word."""
    spelled = [found for word in _SPELLED for found in re.finditer(rf"\b{word}\b", sentence)]
    found = random.choice([*_NUMBER.finditer(sentence), *spelled] or [None])
    if found is None:
        return None
    if found[0] in _SPELLED:
        other = random.choice([word for word in _SPELLED if word != found[0]])
    else:
        at = random.choice([i for i, letter in enumerate(found[0]) if letter.isdigit()])
        digit = random.choice([d for d in "123456789" if d != found[0][at]])
        other = found[0][:at] + digit + found[0][at + 1 :]
    return sentence[: found.start()] + other + sentence[found.end() :]


def renamed(names: Sequence[str]) -> Change:
    """Make a change of one name for another of *names*."""

    def change(sentence: str, random: Random) -> str | None:
        found = random.choice(list(_NAME.finditer(sentence)) or [None])
        others = [name for name in names if name not in sentence]
        if found is None or not others:
            return None
        return sentence[: found.start()] + random.choice(others) + sentence[found.end() :]

    return change


def names_of(texts: Sequence[str]) -> list[str]:
    """Find the names inside sentences of *texts*, sorted."""
    return sorted({found[0].removesuffix("'s") for text in texts for found in _NAME.finditer(text)})


def denied(sentence: str, random: Random) -> str | None:
    """Add a "not" to *sentence*, or remove the one it has."""
    found = _DENIAL.search(sentence)
    if found:
        return sentence[: found.start()] + (" " if found[0].startswith(" ") else "") + sentence[found.end() :]
    positions = list(_AUXILIARY.finditer(sentence))
    if not positions:
        return None
    found = random.choice(positions)
    end = found.start() + len(found[0].split()[0])
    return f"{sentence[:end]} not{sentence[end:]}"


def joined(first: str, second: str) -> str:
    """Join two sentences by "and"."""
    return f"{first.rstrip('.')}, and {second if second.split()[0].isupper() else second[:1].lower() + second[1:]}"
