"""Read the content of brackets: chunk numbers, a document's name, or ordinary words."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from answering.text.sentences import replace_code
from answering.types import Chunk

_LABEL = (
    r"(?:chunk|source|document|doc|passage|context|ref|reference|citation|cite|footnote|note|excerpt|snippet|result"
    r"|item|number|no|id|see|cf|from)s?\b\s*[.:#]?"
)
_DASH = r"(?:-|‐|‑|–|—|~|…|\.{2,3}|to\b|through\b)"
_NUMBERS = re.compile(
    rf"\s*(?:(?P<first>\d{{1,9}})\s*{_DASH}\s*(?:{_LABEL})?\s*(?P<last>\d{{1,9}})|(?P<one>[-+‑–]?\d{{1,9}})|{_LABEL}"
    r"|[#^,;&/|+()]|and\b|or\b)",
    re.IGNORECASE,
)
_MINUS = str.maketrans("‑–", "--")
_LABEL_FIRST = re.compile(rf"\A{_LABEL}\s*", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?:(?P<number>\d{1,9})\s*[,:–—-]\s*)?(?P<name>.*?)"
    rf"(?:(?:^|(?(number)|(?!))|\s*,|[ :(#]{{1,2}}(?=p))\s*(?P<page_word>(?:pages?|pp?|pg)\b\.?)?\s*(?P<page>\d{{1,6}})"
    rf"(?:\s*{_DASH}\s*(?P<last>\d{{1,6}}))?\)?)?"
    r"(?:(?:^|\s*,)\s*(?:sections?\b|sect?\.|§|chapter\b|ch\.)\s*(?P<section>\S.*))?",
    re.IGNORECASE,
)
_NOUN = (
    r"(?:chunk|passage|excerpt|source|document|doc|snippet|ref|reference|citation|quelle|abschnitt|dokument|fuente"
    r"|来源|來源|文档|段落|资料|出典|資料|文書|출처|문서)s?"
)
_DETAILED = re.compile(
    rf"(?:(?:see|cf\.?|from|in|as per|per|sources?) ?:? ?)?(?:the )?"
    rf"(?P<label>{_NOUN}[.:]?[ _-]?#?(?P<number>\d{{1,2}}))"
    r"(?: ?[,:–—-] ?\D.*)?|(?P<alone>\d{1,2}), ?(?:line|sentence|para(?:graph)?|row)s?\b.*",
    re.IGNORECASE,
)
"""A passage's number with more of it: "Passage 1: Harbor Rules", "passage 1, sentence 3", "1, line 3"."""
_FILE = re.compile(r"[^\s/\\][^/\\]*\.(?:pdf|md|txt|html?|docx?|rst|epub|odt|rtf|pptx?|tex)", re.IGNORECASE)
_LIST = r"\d{1,2}(?: ?[,;&] ?\d{1,2}){0,9}"
_SIGN = r"(?:[¹²³⁴-⁹]+|[①-⑳]|<sup>\s*\d{1,2}\s*</sup>|\^\d{1,2}\^|\$\^\{\d{1,2}\}\$)"
OTHERWISE = re.compile(
    rf"(?P<raised>(?:(?<=[^\W\d_])|(?<=[.!?。,;:\"”’)*\n])|(?<=\w )(?={_SIGN}(?:[.,;!?。 ]|\Z)))"
    rf"{_SIGN}(?:[ ,]{{0,2}}{_SIGN})*)"
    rf"|(?<=[\w%.!?\"”’`] )(?P<ended>(?P<bold>\*{{0,3}})\(?{_LIST}\)(?P=bold))(?=[.!?]?(?:\s|\Z))"
    rf"|(?<=[\w%.!?\"”’`] )\{{{_LIST}\}}(?=[.,;!?]|[ ]*(?:\n|\Z))|[〔〖]{_LIST}[〕〗]|\\cite\w{{0,6}}\{{{_LIST}\}}"
    rf"|<(?P<tag>ref|cite|citation|source)>{_LIST}</(?P=tag)>|[({{（]{{1,2}}(?P<words>[^(){{}}（）\[\]\n]{{3,200}})[)}}）]{{1,2}}"
)
"""Citations that are not in brackets: "night.¹", "(1)", "{1}", "〔1〕", "\\cite{1}" and words in parentheses."""
POWERED = re.compile(r"(?:\A|[\W\d_])(?:[^\W\d_]{1,2}|\w*met(?:er|re)s?|feet|foot|inch(?:es)?|miles?|sin|cos|tan)\Z")
"""A unit or a function: "²" behind it is a power."""
_WORDED = re.compile(r"(?P<word>[^\W\d_]{1,12})[ _:.#°n-]{0,4}(?P<number>\d{1,2})")
_OWN_NUMBERS = frozenset("figure fig table step option chapter version equation eq level part day week".split())
_PLACEHOLDER = re.compile(r"(?:source|passage|document|doc|chunk|citation)(?:[ _](?:id|number|no))?", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BRACKET = re.compile(r"(?P<open>\\?[\[【［])|[\]】］]")
_INVISIBLE = frozenset(("Cf", "Mn", "Me", "Cc"))


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker of a draft. Each group holds one citation's chunks, as 0-based positions.

    A number names one chunk. A document or a page may be several; one of them that supports the sentence is enough,
    and only that one is cited. A marker without groups names nothing that was given, and is removed.
    """

    groups: tuple[tuple[int, ...], ...] = ()


def merged(markers: Sequence[Marker]) -> Marker:
    """Join all that *markers* name, each group once."""
    return Marker(tuple(dict.fromkeys(group for marker in markers for group in marker.groups)))


def visible(inside: str) -> str:
    """Normalise *inside* to what is visible: no zero-width characters, tags, emphasis; NFKC."""
    if not inside.isascii():
        inside = unicodedata.normalize("NFKC", inside)
        inside = "".join(c for c in inside if c == "\n" or unicodedata.category(c) not in _INVISIBLE)
    return " ".join(_TAG.sub(" ", inside).split()).strip("*_~`\\ ")


def read_marker(inside: str, chunks: Sequence[Chunk]) -> Marker | None:
    """Read the marker that brackets around *inside* make; None when they hold ordinary words.

    Numbers count *chunks* from 1; ranges may be reversed or reach beyond; what is out of range is left out.
    """
    seen = visible(inside)
    before, dagger, _ = seen.partition("†")  # 【1†source】, as some assistants write it
    numbers = read_numbers(before, len(chunks))
    if numbers is not None or dagger:
        return numbers or Marker()
    groups = [_read_part(part.strip(), chunks) for part in seen.split(";") if part.strip()]
    if not groups or None in groups:
        return _read_words(seen, chunks)
    return Marker(tuple(dict.fromkeys(group for group in groups if group)))


def read_numbers(seen: str, count: int) -> Marker | None:
    """Read numbers and ranges within 1..*count*; None for any other text."""
    groups: dict[tuple[int, ...], None] = {}
    position = 0
    any_number = False
    while position < len(seen):
        match = _NUMBERS.match(seen, position)
        if match is None:
            return None
        position = match.end()
        if match["first"] or match["one"]:
            any_number = True
            single = (match["one"] or "").translate(_MINUS)
            first, last = sorted((int(match["first"] or single), int(match["last"] or single)))
            groups.update(((k - 1,), None) for k in range(max(1, first), min(last, count) + 1))
    return Marker(tuple(groups)) if any_number else None


def _read_words(seen: str, chunks: Sequence[Chunk]) -> Marker | None:
    """Read "S1", "doc1, doc2" and "Quelle 1" as chunks, and "source_id" as naming none; None where a passage has it."""
    if _PLACEHOLDER.fullmatch(seen):
        return None if is_spoken(f"[{seen}]", chunks) else Marker()
    groups: list[tuple[int, ...]] = []
    for part in re.split(r" ?[,;&] ?", seen):
        match = _WORDED.fullmatch(part)
        own = match is None or match["word"].casefold() in _OWN_NUMBERS or is_spoken(part, chunks)
        if match is None or own or not 1 <= int(match["number"]) <= len(chunks):
            return None
        groups.append((int(match["number"]) - 1,))
    return Marker(tuple(groups))


def _read_part(part: str, chunks: Sequence[Chunk]) -> tuple[int, ...] | None:
    """Find the chunks of "doc, page 5", "page 5", "2, page 5"; None for no citation."""
    bare = _LABEL_FIRST.sub("", part)
    if named := _named(part, chunks) or _named(bare, chunks):
        return named
    if (detailed := _DETAILED.fullmatch(part)) and not is_spoken(detailed["label"] or part, chunks):
        k = int(detailed["number"] or detailed["alone"])
        return (k - 1,) if 1 <= k <= len(chunks) else None
    match = _REFERENCE.fullmatch(bare)
    if match is None:
        return None
    name, section = match["name"].strip(" ,"), match["section"]
    named = _named(name, chunks) if name else tuple(range(len(chunks)))
    names_document = bool(name) and (bool(named) or _FILE.fullmatch(name) is not None)
    if not (names_document or match["page_word"] or (section and not name)):
        return None
    if match["number"]:
        k = int(match["number"])
        return (k - 1,) if 1 <= k <= len(chunks) else ()
    first, last = sorted((int(match["page"] or 0), int(match["last"] or match["page"] or 0)))
    pages = range(first, last + 1) if match["page"] else None
    fitting = tuple(i for i in named if _fits(chunks[i], pages, section))
    if not fitting and pages and not match["page_word"]:
        fitting = tuple(i for i in named if i + 1 in pages)  # "Garden Guide, 3": chunk 3, if it is the document's
    return fitting if fitting or names_document or pages else None


def _named(name: str, chunks: Sequence[Chunk]) -> tuple[int, ...]:
    folded = _fold(name)
    return tuple(i for i, chunk in enumerate(chunks) if folded in names_of(chunk))


def _fits(chunk: Chunk, pages: range | None, section: str | None) -> bool:
    if pages is not None and (chunk.page is None or chunk.page not in pages):
        return False
    target = _fold(section or "")
    titles = [_fold(title) for title in (chunk.section, chunk.chapter) if title]
    begins = (f"{target} ", f"{target}.", f"{target}:")  # "section 5.2" of "5.2 Safety valves"
    return section is None or any(t == target or t.startswith(begins) or t.endswith(f" {target}") for t in titles)


@lru_cache(maxsize=1024)
def names_of(chunk: Chunk) -> frozenset[str]:
    """List the folded names of the chunk's document: path, file name, stem, title."""
    names = {_fold(name) for name in (chunk.source or "", chunk.document_id, chunk.title)}
    names |= {name.rsplit("/", 1)[-1] for name in names}
    names |= {name.rsplit(".", 1)[0] for name in names if re.fullmatch(r".+\.[a-z][a-z0-9]{1,5}", name)}
    return frozenset(names - {""})


def _fold(text: str) -> str:
    """Fold case, width, white space and quotation marks of *text*, to compare names."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip("\"'“”.")


def is_spoken(words: str, chunks: Sequence[Chunk]) -> bool:
    """Whether a passage has *words* itself, which then name no passage."""
    return words.casefold() in _folded_texts(tuple(chunk.text for chunk in chunks))


@lru_cache(maxsize=32)
def _folded_texts(texts: tuple[str, ...]) -> str:
    return "\n".join(texts).casefold()


def cites(seen: str, chunks: Sequence[Chunk]) -> bool:
    """Whether words in parentheses are a passage's number or a given file."""
    detailed = _DETAILED.fullmatch(seen)
    name = _LABEL_FIRST.sub("", seen).partition(",")[0]
    meant = not is_spoken(detailed["label"] or seen, chunks) if detailed else "." in name and _named(name, chunks)
    marker = read_marker(seen, chunks) if meant else None
    return marker is not None and bool(marker.groups or not detailed)


def unclosed_bracket(text: str, start: int, end: int | None = None) -> int:
    """Find the first unclosed bracket in *start*:*end* of *text*, outside code; else the end."""
    text = replace_code(text, lambda code: " " * len(code))
    end = len(text) if end is None else end
    opens: list[int] = []
    for bracket in _BRACKET.finditer(text, max(0, start), end):
        if bracket["open"]:
            opens.append(bracket.start())
        elif opens:
            opens.pop()
    return opens[0] if opens else end
