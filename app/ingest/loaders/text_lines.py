"""Put lines of print together: words divided at the end of a line, and labels with their values.

Between a label and its value there are dots, as in price lists ("Adults .... 6.80"), or a colon.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property

_ENDS_DIVIDED = re.compile(r"(?P<before>[^\W\d_][\w’'\u2010\u00ad-]*)(?P<hyphen>[-\u2010\u00ad])$")
_HYPHENS = ("-", "\u2010", "\u00ad")
LONGEST_LINE = 1000
"""Characters of the longest line whose words are looked at."""
_FIRST_WORD = re.compile(r"^[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_CONJUNCTIONS = frozenset("and or und oder et ou y e o en of og och och eller i oraz lub".split())
_DIVIDED = re.compile(r"(?<=\w)-\n(?=\w)")
_UNSPACED = re.compile(r"(?<=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])\n(?=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])")

ITEM = re.compile(r"\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\(?[a-z]\)|\([ivx]{2,4}\))\s+\S")
"""How an item of a list begins."""
LED = re.compile(r"\s*(?P<label>\S.*?)[ \t]?(?:\.[ \t]?){4,}(?P<value>[^.\s].*)$")
_LEADER = re.compile(r" ?(?:\. ?){4,}")
MIN_LED = 2  # lines with dots before a value that make a list of a paragraph


class LineJoiner:
    """Joins lines by the words of their document, and by those of the embedding model where they do not tell."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    @cached_property
    def _words(self) -> set[str]:
        """The words within the lines: the first and the last one of a line may be parts of a word."""
        return {
            word.casefold().replace("\u2010", "-")
            for line in self._lines
            if len(line) <= LONGEST_LINE
            for word in _WORD.findall(_ENDS_DIVIDED.sub("", _FIRST_WORD.sub("", line, 1)))
        }

    def join(self, above: str, below: str) -> str:
        """Return two lines as one; the hyphen between them goes where the word has none."""
        divided, first = _ENDS_DIVIDED.search(above), _FIRST_WORD.match(below)
        if divided and below[:1].isdigit():  # a code, "A-101"
            return above + below
        if divided is None or first is None or first[0].casefold() in _CONJUNCTIONS:  # "two- and three-day passes"
            return f"{above} {below}"
        if self._is_one_word(divided["before"], first[0], divided["hyphen"]):
            return above[:-1] + below
        return above[:-1] + "-" + below

    def _is_one_word(self, before: str, after: str, hyphen: str) -> bool:
        """Tell whether the parts of a word are written together."""
        if hyphen == "\u00ad":
            return True
        if not after[0].islower():
            return False
        joined, parts = (before + after).casefold(), [before.casefold(), after.casefold()]
        if joined in self._words:
            return True
        if f"{parts[0]}-{parts[1]}" in self._words or re.search("[-\u2010]", before):
            return False
        return joined in _common_words() or not all(part in self._words or part in _common_words() for part in parts)


@cache
def _common_words() -> frozenset[str]:
    """Return the words that the embedded model knows as one piece; none where it is not installed."""
    from app.providers.embeddings.minilm import find_weights  # loads NumPy
    from graph.errors import ConfigurationError

    try:
        vocabulary = json.loads((find_weights() / "tokenizer.json").read_bytes())["model"]["vocab"]
    except (ConfigurationError, OSError):
        return frozenset()
    return frozenset(word for word in vocabulary if len(word) > 2 and word.isalpha())


def joined_lines(lines: Iterable[str], joiner: LineJoiner) -> str:
    """Join wrapped lines, divided words by *joiner*; lines of Chinese or Japanese have no space between them."""
    parts: list[str] = []
    for line in map(str.strip, lines):
        above = parts[-1] if parts else ""
        if above.endswith(_HYPHENS) and len(above) <= LONGEST_LINE:  # in time linear in the text, whatever it is
            joined = joiner.join(above, line)
            parts[-1:] = [joined[: len(joined) - len(line)], line]
        else:
            parts += ["\n", line] if parts else [line]
    return _UNSPACED.sub("", _DIVIDED.sub("-", "".join(parts))).replace("\n", " ")


def led_entries(lines: Sequence[str]) -> str:
    """Return *lines* with dots between label and value ("Adults .... 6.80") as items; "" for others.

    A label may begin on the line before; a line that ends with a colon leads the items after it in.
    """
    if sum(bool(LED.match(line)) for line in lines) < MIN_LED:
        return ""
    entries: list[str] = []
    label = ""
    for line in map(str.strip, lines):
        led = LED.match(line)
        if led:
            entries.append(f"- {label}{led['label']}: {_LEADER.sub(', ', ' '.join(led['value'].split()))}")
            label = ""
        elif line.endswith(":"):
            entries.append(f"{label}{line}\n")
            label = ""
        else:
            label += f"{line} "
    return "\n".join([*entries, f"\n{label}"]).strip()
