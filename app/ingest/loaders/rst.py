"""reStructuredText → blocks, by docutils with everything that reads other files or raw markup turned off."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.plain_markup import fenced, table_row
from app.ingest.loaders.text_encoding import decode

if TYPE_CHECKING:
    from docutils import nodes

_ROLE = re.compile(r":[a-zA-Z][\w:+.-]*:`([^`<]+?)(?:\s*<[^`>]*>)?`")
_DIRECTIVE = re.compile(r"\.\. +([\w:+.-]+)::(.*)$")
_OPTION = re.compile(r":[a-zA-Z][\w-]*:(?:\s|$)")
_ASIDES = frozenset(
    "versionadded versionchanged versionremoved deprecated only toctree highlight literalinclude".split()
)
"""Directives whose argument is no term for what they hold."""

MAX_DEPTH = 8
"""Directives unknown to docutils are read so deep in each other; the words of deeper ones are one paragraph."""

SETTINGS: dict[str, Any] = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 6,
    "warning_stream": None,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "_disable_config": True,
}
"""No ``include``, no ``raw``, no configuration files; errors of markup stay in the tree and end nothing."""


def load_rst(data: bytes, source: str) -> LoadedDocument:
    """Read a reStructuredText file. Roles and directives of Sphinx, unknown here, leave their words.

    Raises ``Unreadable`` for binary data.
    """
    from docutils.core import publish_doctree

    tree = publish_doctree(decode(data), settings_overrides=SETTINGS)
    outline = Outline()
    _add(outline, tree, 1, MAX_DEPTH)
    title, blocks = outline.finish(None, title_from_name(source))
    return LoadedDocument(document_id=source, title=title, source=source, blocks=blocks)


def _add(outline: Outline, parent: nodes.Element, level: int, depth: int) -> None:
    """Add the blocks below ``parent``, whose title is a heading of ``level``.

    ``depth`` is how many directives unknown to docutils may stand in each other.
    """
    from docutils import nodes

    for node in parent.children:
        match node:
            case nodes.title() | nodes.subtitle():
                outline.heading(level + isinstance(node, nodes.subtitle), node.astext())
            case nodes.section():
                _add(outline, node, level + 1, depth)
            case nodes.literal_block() | nodes.doctest_block():
                outline.add(fenced(node.astext()), "code")
            case _ if isinstance(node, _lists()):
                outline.add("\n".join(_items(node, "")), "list")
            case nodes.table():
                outline.add(_table(node), "table")
            case nodes.system_message():
                _add_unknown(outline, node, level, depth)
            case nodes.Invisible() | nodes.substitution_definition():
                continue
            case nodes.TextElement():
                outline.add(_words(node))
            case nodes.Element():
                _add(outline, node, level, depth)


def _add_unknown(outline: Outline, message: nodes.Element, level: int, depth: int) -> None:
    """Add what a directive that docutils does not know holds: its argument opens its text.

    Directives that docutils was told to refuse are left out.
    """
    from docutils import nodes
    from docutils.core import publish_doctree

    if not message.children[0].astext().startswith("Unknown directive type"):
        return
    for block in message.findall(nodes.literal_block):
        name, argument, body = _directive(block.astext())
        if depth == 0:
            outline.add(" ".join(body.split()))
            continue
        tree = publish_doctree(body, settings_overrides=SETTINGS)
        first = next(iter(_elements(tree)), None)
        if argument and name not in _ASIDES and first is not None:
            joined = _words(first) if isinstance(first, nodes.paragraph) else ""
            outline.add(f"{argument}: {joined}" if joined else argument)
            if joined:
                tree.remove(first)
        _add(outline, tree, level + 1, depth - 1)


def _directive(source: str) -> tuple[str, str, str]:
    """The name, the argument and the text of a directive, without its options."""
    head, _, rest = source.partition("\n")
    match = _DIRECTIVE.match(head)
    lines = [line for line in textwrap.dedent(rest).split("\n") if not _OPTION.match(line)]
    name, argument = (match.group(1), match.group(2).strip()) if match else ("", "")
    return name, argument, "\n".join(lines)


def _lists() -> tuple[type[nodes.Element], ...]:
    from docutils import nodes

    return nodes.bullet_list, nodes.enumerated_list, nodes.definition_list, nodes.field_list, nodes.option_list


def _words(node: nodes.Node) -> str:
    """What a reader sees, on one line; a role that is not known here (``:ref:`name```) leaves its words."""
    return " ".join(_ROLE.sub(r"\1", node.astext()).split())


def _items(parent: nodes.Element, indent: str) -> list[str]:
    """A list as lines: one per item, nested lists indented below; a term and its definition share a line."""
    from docutils import nodes

    lines: list[str] = []
    for number, item in enumerate(_elements(parent), int(parent.get("start", 1))):
        lead = f"{indent}{number}. " if isinstance(parent, nodes.enumerated_list) else f"{indent}- "
        for part in _parts(item):
            match part:
                case nodes.term() | nodes.field_name() | nodes.option_group():
                    lead += _term(part) + ": "
                    continue
                case nodes.classifier():
                    continue
                case _ if isinstance(part, _lists()):
                    lines.extend(_items(part, indent + "  "))
                case nodes.literal_block() | nodes.doctest_block():
                    lines.extend(fenced(part.astext()).split("\n"))
                case nodes.table():
                    lines.extend(_table(part).split("\n"))
                case _:
                    lines.append(lead + _words(part))
            lead = indent + "  "
    return lines


def _term(node: nodes.Element) -> str:
    """A term with its classifiers, or options with commas between them."""
    from docutils import nodes

    if isinstance(node, nodes.option_group):
        return ", ".join(_words(option) for option in node.children)
    parent = node.parent
    said = [_words(part) for part in parent.children if isinstance(part, nodes.classifier)] if parent else []
    return f"{_words(node)} ({', '.join(said)})" if said else _words(node)


def _parts(item: nodes.Element) -> Iterator[nodes.Element]:
    """What an item holds, with definitions and field bodies opened."""
    from docutils import nodes

    for part in _elements(item):
        if isinstance(part, nodes.definition | nodes.field_body | nodes.description):
            yield from _parts(part)
        else:
            yield part


def _elements(parent: nodes.Element) -> list[nodes.Element]:
    """The children that hold words: no comments, no messages of the parser."""
    from docutils import nodes

    hidden = (nodes.Invisible, nodes.system_message)
    return [part for part in parent.children if isinstance(part, nodes.Element) and not isinstance(part, hidden)]


def _table(node: nodes.Element) -> str:
    from docutils import nodes

    rows = ([entry.astext() for entry in row.findall(nodes.entry)] for row in node.findall(nodes.row))
    return "\n".join(map(table_row, rows))
