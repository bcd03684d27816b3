"""A draft with one private-use character per marker, code and link; and as a stream.

What is streamed is provisional: markers are verified when the answer is complete, and the final answer replaces it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from answering.markers.markers import Marker, merged, names_of, read_marker, read_numbers, unclosed_bracket, visible
from answering.text.sentences import code_spans, code_within, replace_code
from answering.types import Chunk

MARK = "[\U00100000-\U0010fffd]"  # the characters that stand for markers in ``MarkedText.text``
_KEPT = re.compile("[\U000f0000-\U000ffffc]")
_MAX_SIGNS = 0xFFFC
_PRIVATE = re.compile("[\U000f0000-\U0010ffff]")
_MAX_DEPTH = 6  # to which brackets are read in brackets, as in ``[[1], [2]]``

_BRACKETS = re.compile(
    r"\\?[\[【［](?P<inside>[^\[\]【】［］]{0,300})[\]】］]"
    r"(?P<link>\((?:[^()\s]|\([^()\s]*\)){0,2000}(?:[ \t]+\"[^\"\n]{0,300}\")?[ \t]*\))?"
)
_FOOTNOTE = re.compile(r"(?<=\n)[ \t>]*\[\^\s*\d+\s*\]:[^\n]*(?:\n[ \t]{2,}[^\n]*)*")
_JOINT = re.compile(rf"(?<={MARK})[ \t]*(?:[,;&+][ \t]*)?(?:(?:and|or)[ \t]+)?(?={MARK})")
_HELD = re.compile(
    r"\([ \t]*(?:(?:see|cf\.?|from|per|sources?|ref(?:erence)?s?\.?|citations?|chunks?)(?![\w-])[ \t]*+:?[ \t]*+)?"
    rf"(?P<held>{MARK}+)[ \t]*\)|\*{{1,3}}(?P<bold>{MARK}+)\*{{1,3}}|<sup>\s*(?P<raised>{MARK}+)\s*</sup>"
    rf"|\^(?P<carets>{MARK}+)\^|\$\^\{{(?P<power>{MARK}+)\}}\$"
    rf"|(?:(?<=[.!?)][ ])|(?<=\n))(?:sources?|references?|citations?)[ \t]*:[ \t]*(?P<named>{MARK}+)",
    re.IGNORECASE,
)
_DOUBLED_STOP = re.compile(rf"\.[ ]?({MARK}+\.)(?!\.)")
_AROUND = re.compile(rf"(?<![ \t])(?P<before>[ \t]*)(?P<marks>{MARK}+(?:[ \t]+{MARK}+)*)(?P<after>[ \t]*)")
_CLOSING = frozenset(".,;:!?)]}»…%’”\n\r")
_QUOTING = frozenset("\"'*_`~|")
_ONLY_HOLDS = re.compile(r"(?:see|cf|from|sources?|chunks?|[\s,;:.&])*", re.IGNORECASE)
_INDEXED = re.compile(r"\b(?P<name>[A-Za-z_][\w.]{0,63}+)(?:\[[ \d,:]+\])+")
_INDEXED_NAMES = frozenset(
    "arr array args argv buf data items list lst matrix row rows tuple values vec vector".split()
)

AMBIGUOUS_WORDS = 3
"""Words before a bracket that a document has as well, for it to be the document's though it names a passage, too."""
PATIENCE = 60  # most characters held back after a bracket, or those of the longest document's name with a page
_WINDOW = 400  # characters after which what was shown is no longer read again with what follows
_MAY_BE_LINK = re.compile(r"\[[^\[\]]{0,300}\](?:\([^()\s]{0,200})?\Z")
_WAITS = " \t\\"


class MarkedText:
    """A text with one character per marker; ``text`` may be edited, then cut into pieces.

    An array index outside code is put between two *tick* characters. Time is linear in the length of the text.
    """

    def __init__(self, text: str, chunks: Sequence[Chunk], *, tick: str = "`") -> None:
        self._chunks = chunks
        self._of_documents = bracketed(tuple(chunk.text for chunk in chunks))
        self._tick = tick
        self._kept: list[str] = []
        self._signs: dict[Marker, str] = {}
        self._markers: dict[str, Marker] = {}
        text = _FOOTNOTE.sub("", replace_code(_PRIVATE.sub("", text), self._keep_code))
        if "`" not in text:
            text = _INDEXED.sub(self._index, text)
        for _ in range(_MAX_DEPTH):
            before, text = text, _BRACKETS.sub(self._read, text)
            if text == before:
                break
        self.text = text

    def drop_holders(self) -> None:
        """Remove what only holds markers: "[1], [2] and [3]", "(see [1])", "Source: [1]", "p.m. [1]."."""
        text = _HELD.sub(lambda match: "".join(filter(None, match.groups())), _JOINT.sub("", self.text))
        self.text = _DOUBLED_STOP.sub(r"\1", text)

    def sign(self, marker: Marker) -> str:
        """Return the character that stands for *marker*."""
        sign = self._signs.setdefault(marker, chr(0x100000 + min(len(self._signs), _MAX_SIGNS)))
        self._markers[sign] = marker
        return sign

    def marker(self, text: str) -> Marker:
        """Merge all markers of *text* into one."""
        return merged([self._markers[sign] for sign in re.findall(MARK, text)])

    def restored(self, text: str) -> str:
        """Return *text* with its code and links as they were."""
        return _KEPT.sub(lambda match: self._kept[ord(match[0]) - 0xF0000], text)

    def pieces(self) -> list[str | Marker]:
        """Cut the text at its markers, white space around them repaired, empty strings left out."""
        signs = re.split(f"({MARK})", _AROUND.sub(_whitespace, self.text))
        return [self._markers[sign] if i % 2 else self.restored(sign) for i, sign in enumerate(signs) if sign]

    def _keep(self, text: str) -> str:
        if len(self._kept) > _MAX_SIGNS:
            return text
        self._kept.append(self.restored(text))
        return chr(0xF0000 + len(self._kept) - 1)

    def _keep_code(self, code: str) -> str:
        line_end = "\n" if code.endswith("\n") else ""
        return self._keep(code.removesuffix("\n")) + line_end

    def _index(self, match: re.Match[str]) -> str:
        """Mark an array index as code; a word of prose may carry a citation without space."""
        last = match["name"].rpartition(".")[2]
        letter = len(last) == 1 and last.islower() and last not in "ai"
        is_code = letter or last.lower() in _INDEXED_NAMES or ("_" in last and not last.isupper())
        return self._keep(f"{self._tick}{match[0]}{self._tick}") if is_code else match[0]

    def _read(self, match: re.Match[str]) -> str:
        """Replace one pair of brackets by its character; brackets around ordinary words stay."""
        inside = re.sub(MARK, "", match["inside"])
        nested = inside != match["inside"]
        seen = visible(inside)
        if match["link"]:  # a link is content, unless all that is seen of it is a number
            if read_numbers(seen, 0) is not None or (nested and not seen):
                return self.sign(Marker())
            return match[0] if nested else self._keep(match[0])
        marker = read_marker(inside, self._chunks)
        words = AMBIGUOUS_WORDS if marker and marker.groups else 1
        if not nested and (context_of(match, words), match[0]) in self._of_documents:
            return self._keep(match[0])
        if marker is None and not (nested and _ONLY_HOLDS.fullmatch(seen)):
            return match[0]
        return self.sign(merged([self.marker(match["inside"]), marker or Marker()]))


def context_of(match: re.Match[str], words: int) -> str:
    """Return the last *words* right before a bracket, on one line."""
    before = match.string[max(0, match.start() - 40 * words) : match.start()]
    gap = " " if before[-1:].isspace() else ""
    return " ".join(before.split()[-words:]) + gap


@lru_cache(maxsize=32)
def bracketed(texts: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """List the brackets of *texts*, each with what stands before it: in a model's text they are content as well."""
    found = (match for text in texts for match in _BRACKETS.finditer(text))
    return frozenset((context_of(match, words), match[0]) for match in found for words in (1, AMBIGUOUS_WORDS))


def _whitespace(match: re.Match[str]) -> str:
    """Repair the white space around markers that go: none doubled, none before punctuation, none lost."""
    left, right = match.string[max(0, match.start() - 1) : match.start()], match.string[match.end() : match.end() + 1]
    marks = re.sub(r"[ \t]", "", match["marks"])
    if left in ("", "\n") or not right or right in _CLOSING:
        return marks
    quoting = right in _QUOTING or _KEPT.match(right)
    spaced = match["after"] or (match["before"] and not quoting) or (left.isalnum() and right.isalnum())
    return f"{marks} " if spaced else marks


class MarkerStream:
    """Turns the synthesizer's text into text whose ``[k]`` count documents in order of appearance."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        longest = max((len(name) for chunk in chunks for name in names_of(chunk)), default=0)
        self._patience = min(300, max(PATIENCE, longest + 30))
        self._numbers: dict[str, int] = {}
        self._text = ""  # the end of what was shown, and what waits
        self._shown = ""  # what was shown of it

    def close(self) -> str:
        """Return what was held back, without a marker that never closed."""
        return self.feed("", final=True)

    def feed(self, text: str, *, final: bool = False) -> str:
        """Take the next piece; return what may be shown now, perhaps nothing."""
        self._text += text
        end = self._complete(final=final)
        written = self._written(self._text[:end])
        fresh = written[len(self._shown) :]
        self._shown = max(self._shown, written, key=len)
        if end > _WINDOW:
            self._forget(end)
        return fresh

    def _complete(self, *, final: bool) -> int:
        """Find the first bracket or backtick that may still open a marker or code, else the end."""
        text, end = self._text, len(self._text)
        if not final:
            tick = text.find("`", max(text.rfind("\n") + 1, max((stop for _, stop in code_spans(text)), default=0)))
            link = _MAY_BE_LINK.search(text, max(0, end - 520))
            end = tick if tick >= 0 and end - tick <= 2 * PATIENCE else end
            end = min(end, link.start()) if link else end
        return unclosed_bracket(text, len(text) - self._patience - 1, end)

    def _written(self, text: str) -> str:
        """Write *text* as shown, each marker as a number; white space at its end waits."""
        out = ""
        numbers: dict[int, None] = {}
        for piece in MarkedText(text, self._chunks, tick="").pieces():
            if isinstance(piece, Marker):
                documents = (self._chunks[group[0]].document_id for group in piece.groups)
                fresh = {self._numbers.setdefault(name, len(self._numbers) + 1): None for name in documents}
                space = " " if fresh and not numbers and out and not out.endswith("\n") else ""
                out += space + "".join(f"[{number}]" for number in fresh if number not in numbers)
                numbers |= fresh
            else:
                out += f" {piece}" if numbers and out.endswith("]") and piece[0].isalnum() else piece
                numbers = {}
        return out.rstrip(_WAITS)

    def _forget(self, end: int) -> None:
        """Drop all but the last line, or words; an open block of code is kept."""
        text = self._text
        start = text.rfind("\n", 0, end)
        if start <= 0:
            start = max(text[:end].rstrip().rfind(" "), end - _WINDOW)
        if not code_within(code_spans(text), start, start + 1):
            self._text = text[start:]
            self._shown = self._written(self._text[: end - start])
