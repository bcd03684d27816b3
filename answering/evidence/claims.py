"""Reduce a sentence to its claim, without label, lead-in or markup; split it into clauses."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from answering.text.blocks import cells
from answering.text.sentences import Span, capitalised
from answering.text.terms import stems

_BOUNDARY = re.compile(
    r"[;:][ \n]+|[ ](?:[—–]|--)[ ]|,[ \n]+|[ \n](?=(?:and|but|while|whereas|although|though|because|which)[ \n])"
)
_OPENING = re.compile(r"(?:and|but)\s+(?:at|in|on|for|from|by|after|before|since|during|with|under|as)\b")
_CONDITION = re.compile(r"(?:(?:and|but|or|even|only)\s+)*(?:if|when|unless|until|where|provided)\b", re.IGNORECASE)
_DOCUMENT = (
    r"(?:(?:the|this|these|our|your|provided|given|above|following)\s+)*(?:[^\W\d][\w-]*\s+){0,3}?(?:handbook|manual|documents?|"
    r"documentation|docs|guide|guidelines?|polic(?:y|ies)|chunks?|context|passages?|texts?|sources?|articles?|excerpts?"
    r"|sections?|chapters?|clauses?|pages?|spec(?:ification)?s?|rfc|faq|readme|information)\b(?:\s+\d+(?:\.\d+)*)?(?:\s+(?:provided|given|above|"
    r"(?:of|in|on)\s+[^,:.\n]{1,40}))?"
)
STATED = "stated|described|explained|shown|noted|mentioned|outlined|specified|indicated|defined|listed|given|written"
_SAID = f"{STATED}|said"
_SOURCE = rf"(?:according\s+to|based\s+on|as\s+(?:{_SAID})\s+(?:in|by)|(?:as\s+)?per)\s+{_DOCUMENT}"
_PROMPT = r"(?:in|from)\s+(?:the\s+)?(?:provided\s+|given\s+|above\s+)?(?:chunk|passage|context|excerpt)s?(?:\s+\d+)?"
_LEADS = re.compile(
    r"(?:[\s>*_]*(?:"
    r"(?:[-*+•]|\d\ufe0f?\u20e3|\(?\#?\d{1,3}[.):]{1,2}|\#{1,6})\s+"
    r"|(?:(?:short|final|brief|direct|the)\s+)?(?:answer|rule|note|summary|result|conclusion|fact|key\s+point|explanation"
    r"|response|important|tip|reason|step|stage|way|option|method|phase|case|in\s+short|tl;dr|to\s+answer\s+your\s+question)(?:\s+(?:is|\#?\d{1,2}))?[*_]*(?::|(?<=\d)(?:\)|\s[–—-]))[*_]*\s*"
    r"|(?:please\s+)?(?:note|remember|be\s+aware|keep\s+in\s+mind)[*_]*(?:\s+that|:|,)\s+"
    r"|(?:it\s+(?:is|should\s+be)|it['’]s)\s+(?:important|worth|also\s+worth|essential|noted|stated|said|specified|mentioned)"
    r"(?:\s+(?:to\s+(?:note|remember)|noting|mentioning))?\s+that\s+"
    r"|(?:yep|correct|right|exactly|sure|indeed|certainly|of\s+course)[*_]*[,:;.!—–-]+[*_]*\s+(?!\d)"
    r"|(?:in\s+(?:short|summary|conclusion|brief|other\s+words|addition|fact|general)|to\s+(?:summari[sz]e"
    r"|sum\s+up|conclude)|overall|therefore|thus|hence|so|also|additionally|furthermore|moreover|however|conversely"
    r"|finally|lastly|first(?:ly)?|second(?:ly)?|third(?:ly)?|next|then|specifically|basically|essentially|ultimately"
    r"|by\s+contrast|likewise|similarly|as\s+a\s+result|consequently)[*_]*,\s*"
    rf"|(?:{_SOURCE}|{_PROMPT}|as\s+{_DOCUMENT}\s+(?:states|says|explains|notes|describes))\s*[,:]\s*"
    rf"|(?=(?:the|this|our|your)\s){_DOCUMENT}\s+(?:also\s+|clearly\s+)?(?:states?|says?|notes?|explains?|mentions?|indicates?|specif(?:y|ies)|confirms?)"
    r"\s+that\s+"
    r"|(?:and|but|while|whereas|although|though|which|then|also)\b(?=\s)\s*"
    r"|[,;:—–\s]+)){0,8}",
    re.IGNORECASE,
)
_TAIL = re.compile(rf"(?:\s*[,(]\s*|\s+(?!per\b))(?:{_SOURCE})\s*\)?(?P<stop>[.!]?)\Z", re.IGNORECASE)
_META = re.compile(
    r"(?:(?:sure|certainly|of course|okay|yes)[,!.]*\s+)?(?:(?:here(?:['’]s|\s+(?:is|are))|below\s+(?:is|are))"
    r"\s+(?:what|how|an?\b|some\b|(?:the|your)\s+(?:\w+\s+)?(?:answer|steps|information|details|rules|summary|list|overview|facts|key))"
    r"|i\s+hope|i(?:['’]ve|\s+have)?\s+found|let\s+me\s+know|feel\s+free\s+to\s+ask)[^:]*\Z",
    re.IGNORECASE,
)
_TAGS = re.compile(r"\*\*|`|</?(?:b|i|em|strong|u|sup|sub|mark|span|p|br)\b[^<>]{0,80}>")
_EMPHASIS = re.compile(r"(?<!\w)(?P<sign>[*_]|__(?=[^_\n]+ ))(?=\S)(?P<inside>[^*_\n]{1,500})(?<=\S)(?P=sign)(?!\w)")
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
YES_OR_NO = re.compile(r"[\s*_]*(?:yes|no|correct|true|false)[\s*_]*[.!,]?[\s*_]*", re.IGNORECASE)  # no claim alone
ANSWERS = re.compile(r"\A[\s>*_]*(yes|no)[*_]*[,:;.!—–-]+[*_]*\s+(?!\d)", re.IGNORECASE)  # before what is sought
MAX_QUESTION = 200  # characters of a question that are read with a claim


def bare_claim(text: str) -> str:
    """Reduce *text* to its assertion, as plain words on one line; "" without one.

    A table row becomes its cells, "first: second, third".
    """
    if is_preamble(text):
        return ""
    row = text.strip()
    if len(row) > 1 and row[0] == row[-1] == "|":
        first, *others = [*filter(None, cells(row))] or [""]
        text = f"{first}: {', '.join(others)}" if others else first
    asserted = _LEADS.sub("", ANSWERS.sub("", _LEADS.sub("", text, count=1)), count=1)
    claim = _EMPHASIS.sub(lambda match: match["inside"], _TAGS.sub("", asserted))
    claim = _TAIL.sub(lambda match: match["stop"], " ".join(claim.split()).strip("* "))
    if quoted := _QUOTED.fullmatch(claim):
        claim = quoted[1]
    claim = claim.strip()
    return claim if asserted == text else capitalised(claim)


def completed(claim: str, question: str) -> str:
    """Put *question*, if any, before the *claim* that answers it, for it may hold what the claim leaves out.

    Of a longer question its last ``MAX_QUESTION`` characters, from a word on.
    """
    if len(question) > MAX_QUESTION:
        question = question[-MAX_QUESTION:].partition(" ")[2]
    return f"{question.rstrip('?')}? {claim}" if question else claim


def is_preamble(text: str) -> bool:
    """Whether *text* asserts nothing: a heading, a label, "Here is what the documents say:"."""
    bare = text.strip("*_ \t\n")
    return not bare or bare.startswith("#") or bare.endswith(":") or _META.match(bare) is not None


def introduced(texts: Sequence[str], gaps: Sequence[str], preamble: int, fenced: Collection[int] = ()) -> Iterator[int]:
    """Yield the numbers of the sentences that a *preamble* introduces, up to the next preamble or a blank line.

    *gaps* is what stands before each of the sentences *texts*; *fenced* are those that are blocks of code.
    """
    for number in range(preamble + 1, len(texts)):
        parted = number > preamble + 1 and _BLANK_LINE.search(gaps[number])
        if parted or (is_preamble(texts[number]) and number not in fenced):
            return
        yield number


def claim_span(text: str, start: int, end: int) -> Span:
    """Trim a clause's lead-in and end from *start*:*end*, unless nothing else is left."""
    begin = end - len(_LEADS.sub("", text[start:end], count=1))
    start = begin if begin < end else start
    return start, start + len(text[start:end].rstrip(" ,;:\n\t—–"))


def clauses(text: str, start: int, end: int) -> list[Span]:
    """Split the sentence at *start*:*end* into clauses that could each stand by itself, no condition alone."""
    edges = [start, *(match.end() for match in _BOUNDARY.finditer(text, start, end)), end]
    spans: list[Span] = []
    joins = False  # whether the clause before cannot stand by itself
    for begin, stop in pairwise(edges):
        condition, short = _CONDITION.match(text, begin, stop), is_short(text[begin:stop])
        if spans and (joins or condition or (short and not (stop < end and _OPENING.match(text, begin, stop)))):
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((begin, stop))
        joins = condition is not None or (short and spans[-1][0] == begin)
    return [claim_span(text, *span) for span in spans]


def is_short(clause: str) -> bool:
    """Whether *clause* has fewer than the three content words that it needs to be checked by itself."""
    return len(frozenset(stems(clause))) < 3
