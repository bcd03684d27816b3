"""Markdown → blocks, by the tokens of markdown-it-py (CommonMark, tables, strike-through)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ingest.documents import LoadedDocument
from app.ingest.front_matter import split_front_matter
from app.ingest.load_html import text_of_fragment
from app.ingest.outline import Outline, title_from_name
from app.ingest.plain_markup import fenced, table_row
from app.ingest.text_encoding import decode

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode


def load_markdown(data: bytes, source: str) -> LoadedDocument:
    """Read a Markdown file. Front matter (a YAML mapping) may give ``title`` and ``url``; the rest of it is left out.

    Emphasis and links keep their words and lose their syntax, lists and tables are lines, code is verbatim.

    Raises ``NotText`` for binary data.
    """
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    known, text = split_front_matter(decode(data))
    root = SyntaxTreeNode(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text))
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
            outline.add(text_of_fragment(node.content))
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
    return "".join(parts).strip()


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
        for child in item.children:
            match child.type:
                case "bullet_list" | "ordered_list":
                    lines.extend(_items(child, indent + "  "))
                case "fence" | "code_block":
                    lines.extend(_code(child).split("\n"))
                case "table":
                    lines.extend(_table(child).split("\n"))
                case _:
                    lines.append(marker + _words(child))
            marker = indent + "  "
    return lines
