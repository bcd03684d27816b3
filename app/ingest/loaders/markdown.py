"""Markdown → blocks, by the tokens of markdown-it-py (CommonMark, tables, strike-through)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.front_matter import split_front_matter
from app.ingest.loaders.html import add_fragment, text_of_fragment
from app.ingest.loaders.html_nodes import INLINE
from app.ingest.loaders.markdown_dialects import plain_markdown
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.plain_markup import fenced, table_row
from app.ingest.loaders.text_encoding import decode

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_TAG = re.compile(r"</?([a-z][a-z0-9-]*)", re.IGNORECASE)


def load_markdown(data: bytes, source: str) -> LoadedDocument:
    """Read a Markdown file. Front matter (a YAML mapping) may give ``title`` and ``url``; the rest of it is left out.

    Tags of templates are left out, titles of admonitions are paragraphs.
    Emphasis and links keep their words and lose their syntax, lists and tables are lines, code is verbatim.

    Raises ``Unreadable`` for binary data.
    """
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    known, text = split_front_matter(decode(data))
    root = SyntaxTreeNode(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(plain_markdown(text)))
    outline = Outline()
    for node in root.children:
        _add(outline, node)
    title, blocks = outline.finish(known.get("title"), title_from_name(source))
    return LoadedDocument(document_id=source, title=title, source=source, url=known.get("url"), blocks=blocks)


def _add(outline: Outline, node: SyntaxTreeNode) -> None:
    """Add one block; a quotation is read as what stands in it."""
    match node.type:
        case "heading":
            outline.heading(int(node.tag[1:]), _words(node))
        case "fence" | "code_block":
            outline.add(_code(node), "code")
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
    """What a reader sees of a paragraph, a heading or a cell; an image is its description."""
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
                parts.append(_gap(leaf.content))
    return "".join(parts).strip()


def _gap(html: str) -> str:
    """What a tag within words sets between them: a line break, a space, or nothing."""
    tag = _TAG.match(html)
    name = tag.group(1).lower() if tag else ""
    return "\n" if name == "br" else "" if not name or name in INLINE else " "


def _code(node: SyntaxTreeNode) -> str:
    info = node.info.split()
    return fenced(node.content, info[0] if info else "")


def _table(node: SyntaxTreeNode) -> str:
    rows = (part for part in node.walk() if part.type == "tr")
    return "\n".join(table_row([_words(cell) for cell in row.children]) for row in rows)


def _items(node: SyntaxTreeNode, indent: str) -> list[str]:
    """A list as lines: one per item, a nested list indented below its item."""
    lines: list[str] = []
    ordered = node.type == "ordered_list"
    for number, item in enumerate(node.children, int(node.attrs.get("start", 1)) if ordered else 0):
        marker = f"{indent}{number}. " if ordered else f"{indent}- "
        for child in _opened(item):
            match child.type:
                case "bullet_list" | "ordered_list":
                    lines.extend(_items(child, indent + "  "))
                case "fence" | "code_block":
                    lines.extend(_code(child).split("\n"))
                case "table":
                    lines.extend(_table(child).split("\n"))
                case _:
                    html = child.type == "html_block"
                    words = text_of_fragment(child.content) if html else _words(child)
                    if not words:  # a rule, a comment
                        continue
                    lines.append(marker + words.replace("\n\n", f"\n{indent}  "))
            marker = indent + "  "
    return lines


def _opened(item: SyntaxTreeNode) -> Iterator[SyntaxTreeNode]:
    """The blocks of an item, with those of a quotation in its place."""
    for child in item.children:
        if child.type == "blockquote":
            yield from _opened(child)
        else:
            yield child
