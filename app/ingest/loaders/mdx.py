"""Load MDX, Markdown with components: what its scripts and tags say to a program goes, what they hold stays.

A title or label of a component is shown above its content, as a page shows it on a tab or a card.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from app.ingest.documents import LoadedDocument
from app.ingest.loaders import markdown
from app.ingest.loaders.text_encoding import decode

_VERBATIM = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?\n)??[ \t]*(?P=fence)[ \t]*$"
    r"|(?P<ticks>(?<![`{])`+(?!`))[^`\n]+(?P=ticks)(?!`)"
    r"|\$\$.+?\$\$|\$[^$\n]+\$|\\[{}<]",
    re.DOTALL | re.MULTILINE,
)
"""Code, formulas and what is escaped: no script and no tag stands in them."""
_SCRIPT = re.compile(r"(?:\A|(?<=\n\n))(?:import|export)\s.*?(?=\n\s*\n|\Z)", re.DOTALL)
"""Imports and exports up to the next blank line, as MDX has them (https://mdxjs.com/docs/what-is-mdx/#esm)."""
_ATTRIBUTE = r"\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*')?)?"
_COMPONENT = re.compile(rf"<(?P<closing>/?)(?:[A-Z][\w.]*(?P<attributes>(?:{_ATTRIBUTE})*)\s*/?)?>")
"""A tag of a component, whose name has a capital letter, and the nameless one."""
_SHOWN = re.compile(r"\s(?:title|label|header|heading|summary|question)\s*=\s*(?:\"([^\"]+)\"|'([^']+)')")
_STRING = re.compile(r"\s*(?:\"([^\"{}]*)\"|'([^'{}]*)'|`([^`{}$]*)`)\s*")


def load(data: bytes, source: str) -> LoadedDocument:
    """Read an MDX file as ``markdown.load`` reads what is left of it. Raises ``Unreadable`` for binary data."""
    return markdown.load(plain(decode(data)).encode(), source)


def plain(text: str) -> str:
    """Return *text* without scripts, expressions in braces and tags of components."""
    *_, below = markdown.split_front_matter(text)
    body = "".join(
        part if verbatim else _without_braces(_SCRIPT.sub("", part)) for part, verbatim in _parts(below.lstrip("\n"))
    )
    body = "".join(part if verbatim else _COMPONENT.sub(_title, part) for part, verbatim in _parts(body))
    return f"{text.removesuffix(below)}{body}"


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of *text*, and whether each stands as it is written."""
    at = 0
    for found in _VERBATIM.finditer(text):
        yield text[at : found.start()], False
        yield found[0], True
        at = found.end()
    yield text[at:], False


def _without_braces(text: str) -> str:
    """Return *text* without what stands in braces, but for a string; a brace without its other one stays."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for found in re.finditer(r"[{}]", text):
        if found[0] == "{":
            opened.append(found.start())
        elif opened:
            start = opened.pop()
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, found.end()))
    kept = "".join(
        text[end:start] + _string(text[start:after]) for (_, end), (start, after) in pairwise([(0, 0), *spans])
    )
    return kept + text[spans[-1][1] if spans else 0 :]


def _string(expression: str) -> str:
    """Return the string that a braced *expression* is; "" for any other."""
    found = _STRING.fullmatch(expression[1:-1])
    return next((text for text in found.groups() if text), "") if found else ""


def _title(tag: re.Match[str]) -> str:
    """Return what a page shows of the attributes of an opening *tag*, as a paragraph; a line break else."""
    found = _SHOWN.search(tag["attributes"] or "")
    return f"\n\n**{found[1] or found[2]}**\n\n" if found and not tag["closing"] else "\n" if "\n" in tag[0] else ""
