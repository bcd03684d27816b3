"""Load Markdown: markdown-it-py makes HTML of it (CommonMark, tables, strike-through), which the HTML loader reads.

The fields at the head of a file are YAML between lines ``---`` or TOML between lines ``+++``.
"""

import re
import tomllib
from collections.abc import Sequence
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from answering.text.sentences import LABELLED
from app.ingest.documents import LoadedDocument
from app.ingest.loaders.as_written import toml_as_written, yaml_as_written
from app.ingest.loaders.fields import own_fields
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.html_content import INLINE, STRUCK
from app.ingest.loaders.markdown_dialects import plain_markdown
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import decode

_ITEM = re.compile(r"(?:\(?[a-z]|\(\d{1,3})\)[ \t]+\S")  # a marker that lists have in plain text, not in CommonMark
_SHOWN = frozenset("sup sub input img".split())  # inline tags of which the HTML loader makes text
_TAG = re.compile(r"</?([a-z][a-z0-9-]*)", re.IGNORECASE)
_YAML = re.compile(r"\A---[ \t]*\n(?P<fields>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(?P<fields>.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
MAX_CHARS = 20_000
MAX_TOKENS = 400
"""Parts of the longest paragraph whose lines are looked at for labels: each line break looks at all of it."""
_OF_SITES = frozenset(
    "id ids uid layout template draft slug tags tag categories category keywords permalink aliases alias weight order "
    "nav_order parent sidebar_label sidebar_position sidebar image images cover toc lang".split()
)
"""Fields for the program that makes a site of the file, not for its readers."""


class _Renderer(RendererHTML):
    """Writes what a reader sees."""

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Return code with its language."""
        return f'<pre lang="{escapeHtml(tokens[idx].info)}">{escapeHtml(tokens[idx].content)}</pre>'

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Return the description of an image, nothing where the words beside it repeat it."""
        description = self.renderInlineAsText(tokens[idx].children, options, env)
        beside = " ".join(token.content for token in tokens[max(0, idx - 4) : idx + 5] if token.type == "text")
        return "" if description.lower() in beside.lower() else escapeHtml(description)

    def softbreak(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Return a break between two lines "Label: value", and before an item, ``(b)``, where there are several."""
        if len(tokens) <= MAX_TOKENS:
            above, below = _lines_around(tokens, idx)
            if LABELLED.match(above) and LABELLED.match(below):
                return "<br>"
        if not _ITEM.match(tokens[idx + 1].content):
            return "\n"
        items = (token for token in tokens if _ITEM.match(token.content))
        return "<br>" if next(items, None) and next(items, None) else "\n"  # no further: a paragraph may be long

    def html_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Return a tag that says something, a line break for ``<br>``, nothing for another inline tag, else a space."""
        name = match.group(1).lower() if (match := _TAG.match(tokens[idx].content)) else "b"
        if name in STRUCK | _SHOWN:
            return tokens[idx].content
        return "<br>" if name == "br" else "" if name in INLINE else " "


def _lines_around(tokens: Sequence[Token], idx: int) -> tuple[str, str]:
    """Return the lines before and after the line break at *idx*, without the marks of emphasis."""
    text = "".join("\n" if token.type == "softbreak" else token.content for token in tokens[:idx])
    after = "".join("\n" if token.type == "softbreak" else token.content for token in tokens[idx + 1 :])
    return text.rpartition("\n")[2], after.partition("\n")[0]


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a Markdown file. Front matter may hold ``title`` and ``url``; others are metadata, and a list at the head.

    Emphasis and links lose their syntax, lists and tables are lines, code is verbatim, template tags are dropped.
    Raises ``Unreadable`` for binary data.
    """
    fields, listed, text = split_front_matter(decode(data))
    outline = Outline()
    outline.add(listed, "list")
    add_markdown(outline, text)
    named = fields.get("title")
    document = outline.document(source, str(named) if isinstance(named, str | int | float) else None, fields.get("url"))
    return document.model_copy(update={"metadata": own_fields(fields)})


def add_markdown(outline: Outline, text: str) -> None:
    """Add the content of a Markdown *text* to *outline*."""
    markdown = MarkdownIt("commonmark", renderer_cls=_Renderer).enable(["table", "strikethrough"])
    add_fragment(outline, markdown.render(plain_markdown(text)))


def split_front_matter(text: str) -> tuple[dict[Any, Any], str, str]:
    """Return the fields of a text, those of them that say something as a list ``- owner: Ann``, and the text below.

    Without front matter, which is a mapping, these are {}, "" and the text.
    """
    head = text[:MAX_CHARS]
    try:
        if match := _YAML.match(head):
            fields = yaml.safe_load(match["fields"])
            written = yaml_as_written(match["fields"])[:1]
        elif match := _TOML.match(head):
            fields = tomllib.loads(match["fields"])
            written = [toml_as_written(match["fields"])]
    except (yaml.YAMLError, ValueError, RecursionError):
        match = None
    if match is None or not isinstance(fields, dict):
        return {}, "", text
    return fields, _shown(fields, written[0]), text[match.end() :]


def _shown(fields: dict[Any, Any], written: dict[Any, Any]) -> str:
    """Return the fields that readers may ask for as a list, with their values as written."""
    lines: list[str] = []
    for name, value in own_fields(written).items():
        words = " ".join(", ".join(map(str, value if isinstance(value, list) else [value])).split())
        if words and name.lower() not in _OF_SITES and not isinstance(fields.get(name), bool):
            lines.append(f"- {name}: {words}")
    return "\n".join(lines)
