"""Load Markdown: markdown-it-py makes HTML of it (CommonMark, tables, strike-through), which the HTML loader reads."""

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.fields import own_fields
from app.ingest.loaders.front_matter import split_front_matter
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.html_content import INLINE, STRUCK
from app.ingest.loaders.markdown_dialects import plain_markdown
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import decode

_ITEM = re.compile(r"(?:\(?[a-z]|\(\d{1,3})\)[ \t]+\S")
"""A marker that lists have in plain text, not in CommonMark."""

_SHOWN = frozenset("sup sub input img".split())
"""Inline tags of which the HTML loader makes text."""
_TAG = re.compile(r"</?([a-z][a-z0-9-]*)", re.IGNORECASE)


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
        """Return a line break before an item, such as ``(b)``, of a paragraph that has several."""
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


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a Markdown file. Front matter may hold ``title`` and ``url``; others are metadata, and a list at the head.

    Emphasis and links lose their syntax, lists and tables are lines, code is verbatim, template tags are dropped.
    Raises ``Unreadable`` for binary data.
    """
    fields, listed, text = split_front_matter(decode(data))
    markdown = MarkdownIt("commonmark", renderer_cls=_Renderer).enable(["table", "strikethrough"])
    outline = Outline()
    outline.add(listed, "list")
    add_fragment(outline, markdown.render(plain_markdown(text)))
    named = fields.get("title")
    document = outline.document(source, str(named) if isinstance(named, str | int | float) else None, fields.get("url"))
    return document.model_copy(update={"metadata": own_fields(fields)})
