"""Drop template tags and attribute lists from Markdown, and keep the words they show to readers."""

from __future__ import annotations

import re

_CODE_SPAN = r"(?P<ticks>(?<!`)`+(?!`))[^`].{0,400}?(?<!`)(?P=ticks)(?!`)"
_TAG = (
    r"\{%(?P<block>(?:(?!\{%).){0,600}?)%\}"
    r"|\{\{(?P<output>(?:(?!\{\{).){0,600}?)\}\}"
    r"|\{#\s(?:(?!\{#).){0,2000}?#\}"
    r"|\{\*(?:(?!\{\*).){0,400}?\*\}"
    r"|\{!(?!!)[^{}\n]{0,400}?(?<!!)!\}"
)
_ATTRIBUTES = (
    r"(?<=[)\]*_`>])\{:?[ ]?(?:[.#][\w-]|[\w-]+=)[^{}\n]{0,300}\}"
    r"|[ \t]*\{:[^{}\n]{0,300}\}[ \t]*$"
    r"|[ \t]+\{[ ]?[.#][\w-][^{}\n]{0,300}\}[ \t]*$"
)
_ANY = re.compile(rf"{_CODE_SPAN}|(?P<tag>{_TAG})|(?P<attributes>{_ATTRIBUTES})", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"\b(?:title|name|caption|summary|label)\s*=\s*(?:\"([^\"\n]+)\"|'([^'\n]+)')")
_QUOTED = re.compile(r"(?<![=\w])(?:\"([^\"\n]+)\"|'([^'\n]+)')")
_CONTROL = re.compile(
    r"[-+<%]*\s*(?:/|end|if|elif|elsif|else|unless|for|case|when|set|assign|capture|include|import|from|extends|block|"
    r"macro|call|with|load|raw|link|url|static|ref|relref|img|image|figure|youtube)",
    re.IGNORECASE,
)
_INCLUDE = re.compile(r"\s*(?:\{!>?\s*[^!{}\s]+(?:\s[^!{}]*)?!\}|\{\*\s*\S*/\S+[^{}]*\*\})\s*$")


def without_tags(text: str) -> str:
    """Drop template tags and attribute lists from Markdown without code blocks; code spans are not changed.

    A tag leaves its title or name, or within a line its last quoted words: they are what the tag shows.
    """
    return _ANY.sub(lambda found: _kept(found, text), text) if "{" in text else text


def is_include(line: str) -> bool:
    """Tell whether a line only includes another file."""
    return bool(_INCLUDE.match(line))


def _kept(found: re.Match[str], text: str) -> str:
    """Return what a match leaves: a code span itself, a tag its words."""
    if found.group("tag") is None:
        return "" if found.group("attributes") is not None else found.group()
    inner = found.group("block") or found.group("output") or ""
    before = text[: found.start()].rpartition("\n")[2].strip(" >\t")
    after = text[found.end() :].partition("\n")[0].strip()
    if named := _NAMED.search(inner):
        title = named.group(1) or named.group(2)
        return f"{title}: " if after else f"**{title}**\n"
    quoted = [one or other for one, other in _QUOTED.findall(inner)]
    if not (before or after) or _CONTROL.match(inner) or not quoted or before.endswith("("):
        return ""
    return "" if re.search(r"/|\.\w{2,4}$", quoted[-1]) else quoted[-1]
