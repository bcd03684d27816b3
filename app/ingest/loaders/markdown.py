"""Load Markdown with markdown-it-py (CommonMark, tables, strike-through)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from app.ingest.documents import MAX_URL_CHARS, LoadedDocument
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.html_blocks import INLINE
from app.ingest.loaders.markdown_dialects import plain_markdown
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.plain_markup import fenced, table_row
from app.ingest.loaders.text_encoding import decode

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
MAX_FRONT_MATTER_CHARS = 20_000
_TAG = re.compile(r"</?([a-z][a-z0-9-]*)", re.IGNORECASE)


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a Markdown file. Front matter (a YAML mapping) may give ``title`` and ``url``; the rest of it is dropped.

    Emphasis and links keep their words and lose their syntax, lists and tables are lines, code is verbatim. Template
    tags are dropped, titles of admonitions are paragraphs.

    Raises ``Unreadable`` for binary data.
    """
    fields, text = _front_matter(decode(data))
    root = SyntaxTreeNode(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(plain_markdown(text)))
    outline = Outline()
    for node in root.children:
        _add(outline, node)
    named, url = fields.get("title"), fields.get("url")
    given = str(named) if isinstance(named, str | int | float) else None
    title, blocks = outline.finish(given, title_from_name(source))
    is_url = isinstance(url, str) and url.startswith(("http://", "https://")) and len(url) <= MAX_URL_CHARS
    return LoadedDocument(
        document_id=source, title=title, source=source, url=str(url) if is_url else None, blocks=blocks
    )


def _front_matter(text: str) -> tuple[dict[Any, Any], str]:
    """Return the mapping at the head of the file and the text after it; anything else between two rules is text."""
    match = _FRONT_MATTER.match(text[:MAX_FRONT_MATTER_CHARS])
    try:
        fields = yaml.safe_load(match.group(1)) if match else None
    except (yaml.YAMLError, ValueError, RecursionError):
        fields = None
    return (fields, text[match.end() :]) if match and isinstance(fields, dict) else ({}, text)


def _add(outline: Outline, node: SyntaxTreeNode) -> None:
    """Add one block; a quotation is read as what stands in it."""
    match node.type:
        case "heading":
            outline.heading(int(node.tag[1:]), _words(node))
        case "fence" | "code_block":
            outline.add(fenced(node.content, node.info), "code")
        case "table":
            outline.add(_table(node), "table")
        case "bullet_list" | "ordered_list":
            outline.add("\n".join(_items(node, "")), "list")
        case "blockquote":
            for child in node.children:
                _add(outline, child)
        case "html_block":
            add_fragment(outline, node.content)
        case "paragraph":
            outline.add(_words(node))


def _words(node: SyntaxTreeNode) -> str:
    """Return what a reader sees of a paragraph, a heading or a cell; an image is its description."""
    parts: list[str] = []
    for leaf in node.walk():
        match leaf.type:
            case "text" | "code_inline":
                parts.append(leaf.content)
            case "softbreak":
                parts.append(" ")
            case "hardbreak":
                parts.append("\n")
            case "html_inline":
                name = tag.group(1).lower() if (tag := _TAG.match(leaf.content)) else "b"
                parts.append("\n" if name == "br" else "" if name in INLINE else " ")
    return "".join(parts).strip()


def _table(node: SyntaxTreeNode) -> str:
    rows = (part for part in node.walk() if part.type == "tr")
    return "\n".join(table_row([_words(cell) for cell in row.children]) for row in rows)


def _items(node: SyntaxTreeNode, indent: str) -> list[str]:
    """Return a list as lines: one per item, a nested list indented below its item."""
    lines: list[str] = []
    ordered = node.type == "ordered_list"
    for number, item in enumerate(node.children, int(node.attrs.get("start", 1)) if ordered else 0):
        lead = f"{indent}{number}. " if ordered else f"{indent}- "
        for child in _opened(item):
            match child.type:
                case "bullet_list" | "ordered_list":
                    lines.extend(_items(child, indent + "  "))
                case "fence" | "code_block":
                    lines.extend(fenced(child.content, child.info).split("\n"))
                case "table":
                    lines.extend(_table(child).split("\n"))
                case _:
                    words = _words(child)
                    if child.type == "html_block":
                        add_fragment(fragment := Outline(), child.content)
                        words = fragment.text.replace("\n\n", f"\n{indent}  ")
                    if not words:  # a rule, a comment
                        continue
                    lines.append(lead + words)
            lead = indent + "  "
    return lines


def _opened(item: SyntaxTreeNode) -> Iterator[SyntaxTreeNode]:
    """Yield the blocks of an item, with those of a quotation in its place."""
    for child in item.children:
        if child.type == "blockquote":
            yield from _opened(child)
        else:
            yield child
