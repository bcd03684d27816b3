"""Parse the citation markers of a draft (contract, "Markers").

Accepted are ``[1]``, ``[1, 2]``, ``[1-3]``, ``[^1]``, ``[[1]]``, ``【1】``, ``[Source 1]``, ``(Chunk 1)``,
``[doc.pdf, page 5]``, ``[doc.pdf, section Y]``, lists of these with ``;``, and phrases as in ``According to [1], …``.
Code, array indices and links are content. A marker that names no given chunk is kept as one that names nothing. The
markers of a phrase move to the end of its sentence; a phrase that cannot go reads "the document".
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from answering.evidence.claims import STATED
from answering.markers.marked_text import MARK, MarkedText
from answering.markers.markers import Marker, merged, read_marker, read_numbers, unclosed_bracket
from answering.text.sentences import capitalised, sentence_spans
from answering.types import Chunk

_HEADING = re.compile(
    r"[\s#>*_–—-]*(?:list of )?(?:cited )?(?:sources?|references?|citations?|bibliography|footnotes?|works cited)"
    r"(?: used| cited| list)?[\s*_]*(?P<colon>:)?[\s*_]*(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_ENTRY = re.compile(rf"(?:[\s>*_•–—-]*(?P<sign>{MARK}+|\(?\d{{1,3}}[.)])|[\s>]*[*•–—-]\s)[:.\s*_–—-]*(?P<rest>[^\n]*)")
_ADDRESSES = re.compile(r"<?(?:https?://|www\.)\S+")
_BETWEEN = re.compile(rf"(?:{MARK}|[\s,;.&*_]|and\b)*")
_LED = re.compile(rf"^(?P<head>[ \t>*+-]*(?:\d{{1,3}}[.)][ ])?)(?P<line>{MARK}[^\n]*)", re.MULTILINE)
_LAST_LEADS = re.compile(rf"[.!?][\"”*)]*[ ]+{MARK}+(?=(?P<rest>[^{MARK[1:-1]}]*)\Z)")
_LEADS = re.compile(rf"(?P<marks>{MARK}+)[ \t]*(?P<words>[^{MARK[1:-1]}]*[^{MARK[1:-1]}\s])")
LONGEST_BEGUN = 64  # characters at the end of a truncated text in which a bracket that is not closed may be a marker
_NO_BRACKETS = str.maketrans("[]【】［］", "()()()")

_NOUN = "\U000ffffd"  # stands before a marker that was written as words: "Chunk 2"
_SOURCE_NOUN = r"(?:chunk|passage|excerpt|source|document)s?"
_NUMBERED = re.compile(
    rf"(?:\b(?:the|provided)[ ]){{0,2}}\b{_SOURCE_NOUN}[ ]#?\d{{1,4}}(?:(?:[ ]?(?:&|-|–)[ ]?|,?[ ](?:and|or|to)[ ])"
    rf"(?:{_SOURCE_NOUN}[ ])?#?\d{{1,4}}|[,;][ ]?{_SOURCE_NOUN}[ ]#?\d{{1,4}}"
    r"|,[ ]?\d{1,4}(?=[ ]?(?:[,&):]|and\b|or\b)))*(?!\.?\d|[\w-])",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    rf"\([ ]?(?:(?:see|cf\.?|from|in|per|sources?:)[ ])?{_NOUN}(?P<held>{MARK}+)[ ]?\)"
    rf"|(?:[ ][—–-]{{1,2}}[ ]|(?<=[.!?)])[ ]|,[ ])(?:sources?:[ ])?{_NOUN}(?P<last>{MARK}+)(?=\.?[ ]?(?:\n|\Z)|\.[ ])",
    re.IGNORECASE,
)
_N = rf"(?:(?:the[ ])?(?:{_SOURCE_NOUN}[ ])?|{_NOUN})(?P<marks>{MARK}+)"
_STATED = f"{STATED}|seen"
_VERB = (
    "states?|says?|notes?|explains?|describes?|mentions?|indicates?|specif(?:y|ies)|shows?|defines?|lists?|confirms?|adds?"
    "|clarif(?:y|ies)|reports?|recommends?|requires?|gives?|provides?|suggests?|outlines?|tells?"
)
_ASIDE = r"(?:,[ ]which[ ][^,.\n]{1,80}(?=[,.\n]|\Z)|[ ]\([^()\n]{1,80}\)(?=[,.\n]|\Z))?"
"""What is said of a document that a phrase names: "[1], which is the handbook, …"."""
_START = r"(?:(?<![^\n])|(?<=\*\*)|(?<=[.!?:] )|(?<=[-*] )|(?<=\d\. ))"
_SAYS = re.compile(
    rf"{_START}(?P<marks>(?:both[ ])?(?:{_NOUN}|(?:the[ ])?{_SOURCE_NOUN}[ ])?{MARK}+){_ASIDE},?[ ]"
    rf"(?:also[ ]|clearly[ ]|further[ ])?(?P<verb>(?-i:{_VERB}))\b(?P<that>[ ]that\b|:|,)?[ ]",
    re.IGNORECASE,
)
_LEAD = re.compile(
    rf"{_START}(?P<by>(?:according[ ]to|based[ ]on|(?:as[ ])?(?:{_STATED})[ ](?:in|by)|(?:as[ ])?per|in|from)[ ]"
    rf"|as[ ](?=[^,\n]{{1,80}}[ys],))?{_N}(?:[ ](?:{_VERB})(?=,))?{_ASIDE}"
    rf"(?(by)[ ]?[,:]|:)[ ]?(?:it[ ]is[ ](?:{_STATED})[ ]that[ ])?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    rf"[ ]?[,;–—(]?[ ]?(?:as[ ])?\b(?:(?:{_STATED})[ ](?:in|by)|according[ ]to|(?:as[ ])?per|see(?:[ ]also)?"
    rf"|refer[ ]to)[ ]{_N}{_ASIDE}(?:[ ]for[ ](?:more[ ]|further[ ])?(?:details|information))?\)?"
    r"(?=[ ]?[.,;!?)*\n]|\Z)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    rf"{_START}(?:for[ ][^.,\n]{{0,60}},[ ])?(?:please[ ])?(?:see|refer[ ]to|consult|check)(?:[ ]also)?[ ]{_N}"
    r"(?:[ ]for[ ][^.\n]{0,60})?(?:\.|(?=\n)|\Z)[ ]?",
    re.IGNORECASE,
)
_OBJECT = re.compile(rf"\b(?:in|of|from|by|under|per)[ ](?={MARK}+[ ](?!and\b|or\b|but\b|if\b|when\b|while\b)[a-z])")
_MARKS = re.compile(f"{MARK}+")


def parse(text: str, chunks: Sequence[Chunk]) -> list[str | Marker]:
    """Cut *text* into pieces, in order; joined, the strings are the text without its markers.

    Footnotes, links that only carry a number, phrases that only hold a marker and the list of sources at the end are
    removed; where that list holds all the markers there are, they stand at the end.
    """
    marked = MarkedText(text, chunks)
    marked.drop_holders()
    listed = _drop_references(marked, chunks)
    marked.text = _LED.sub(_trailing, _without_phrases(marked, chunks))
    pieces = _without_leftovers(marked.pieces(), chunks)
    if listed.groups and not any(isinstance(piece, Marker) for piece in pieces):
        pieces.append(listed)
    return pieces


def without_dangling(text: str) -> str:
    """Remove the marker that a truncated *text* had begun."""
    begun = unclosed_bracket(text, len(text) - LONGEST_BEGUN)
    return text[:begun].rstrip() if begun < len(text) else text


def _without_leftovers(pieces: list[str | Marker], chunks: Sequence[Chunk]) -> list[str | Marker]:
    """Replace all brackets where removing markers made another one, as in ``[[[[1] a] 1]``."""
    joined = "".join(piece for piece in pieces if isinstance(piece, str))
    if all(isinstance(piece, str) for piece in MarkedText(joined, chunks).pieces()):
        return pieces
    return [piece.translate(_NO_BRACKETS) if isinstance(piece, str) else piece for piece in pieces]


def _trailing(match: re.Match[str]) -> str:
    """Move markers from before the sentences of a line to behind them."""
    last = _LAST_LEADS.search(match["line"])
    if last is None or not any(c.isalnum() for c in last["rest"]):
        return match[0]
    return match["head"] + _LEADS.sub(r"\g<words>\g<marks>", match["line"])


def _drop_references(marked: MarkedText, chunks: Sequence[Chunk]) -> Marker:
    """Remove the reference list at the end of *marked*; return the chunks it names.

    It has a heading ("Sources:") with entries, or numbered lines of only names and addresses. A text of it alone stays.
    """

    def is_reference(rest: str) -> bool:
        rest = _ADDRESSES.sub("", marked.restored(rest)).strip(" \t*_.\r\n")
        return _BETWEEN.fullmatch(rest) is not None or read_marker(rest, chunks) is not None

    lines = marked.text.splitlines(keepends=True)
    first = len(lines)
    listed: list[Marker] = []
    headed, bare = False, True
    while first > 0 and not headed:
        line = lines[first - 1].rstrip("\r\n")
        heading, entry = _HEADING.fullmatch(line), _ENTRY.match(line)
        rest = heading["rest"].strip() if heading else ""
        headed = heading is not None and (not rest or (heading["colon"] is not None and is_reference(rest)))
        if not headed and entry:
            reference = is_reference(entry["rest"])
            bare = bare and reference and re.match(MARK, entry["sign"] or "") is not None
            if not (reference or entry["sign"]):
                break
        elif not headed and line.strip():
            break
        if re.search(MARK, line):
            listed.append(marked.marker(line))
        elif named := heading or entry:
            listed.append(read_marker(marked.restored(named["rest"]), chunks) or Marker())
        first -= 1
    if not (headed or bare) or not "".join(lines[first:]).strip():
        return Marker()
    while first > 0 and not lines[first - 1].strip(" \t\r\n*_-"):
        first -= 1
    if first == 0:
        return Marker()
    marked.text = "".join(lines[:first]).rstrip()
    return merged(listed[::-1])


def _without_phrases(marked: MarkedText, chunks: Sequence[Chunk]) -> str:
    """Return the text of *marked* with markers moved out of phrases ("According to [1], …")."""

    texts = [chunk.text for chunk in chunks] if _NUMBERED.search(marked.text) else []
    of_documents = {mention[0].casefold() for text in texts for mention in _NUMBERED.finditer(text)}

    def numbered(match: re.Match[str]) -> str:
        phrase = match[0].casefold()
        marker = read_numbers(re.sub(r"\b(?:the|provided|passages?|excerpts?)\b", "", phrase), len(chunks))
        meant = marker is not None and (marker.groups or "chunk" in phrase) and phrase not in of_documents
        return _NOUN + marked.sign(marker) if marker and meant else match[0]

    text = _NUMBERED.sub(numbered, marked.text)
    text = re.sub(rf"({MARK})(?:,?[ ]and[ ]|[,;][ ])?{_NOUN}(?={MARK})", r"\1", text)
    text = re.sub(rf"\*\*({_NOUN}{MARK}+:)\*\*", r"\1", text)
    text = _AFTERWARDS.sub(lambda match: match["held"] or match["last"], text)
    text = _SAYS.sub(_according, _POINTS.sub("", text))
    text = _TAIL.sub(lambda match: match["marks"], _with_trailing_markers(text))
    text = _OBJECT.sub(r"\g<0>the document", text)
    return re.sub(_NOUN, "the document", re.sub(_START + _NOUN, "The document", text))


def _according(match: re.Match[str]) -> str:
    """Rewrite "[1] states that X" as "According to [1], X", or with the document as subject."""
    marks = re.sub(rf"[^{MARK[1:-1]}]", "", match["marks"])
    if match["that"]:
        return f"According to {marks}, "
    return f"According to {marks}, the document{'s' if len(marks) > 1 else ''} {match['verb']} "


def _with_trailing_markers(text: str) -> str:
    """Remove phrases that open a sentence, and move their markers to its end."""
    ends = [end for _, end in sentence_spans(re.sub(MARK, " ", text))]
    out: list[str] = []
    done = 0
    for lead in _LEAD.finditer(text):
        if lead.start() < done:
            continue
        at = min(bisect_left(ends, lead.end()), len(ends) - 1)
        end = max(ends[at], lead.end()) if ends else lead.end()
        rest = text[lead.end() : end]
        last = next((i for i in range(len(rest), 0, -1) if rest[i - 1].isalnum()), 0)
        trailing = _MARKS.search(rest, last)
        position = trailing.start() if trailing else len(rest)
        out += [text[done : lead.start()], capitalised(rest[:position]), lead["marks"], rest[position:]]
        done = end
    return "".join([*out, text[done:]])
