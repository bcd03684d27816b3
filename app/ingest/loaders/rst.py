"""Load reStructuredText with docutils, with everything that reads other files or raw markup turned off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives
from docutils.parsers.rst.languages import en
from docutils.statemachine import StringList

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.plain_markup import fenced, table_row
from app.ingest.loaders.text_encoding import decode

_ROLE = re.compile(r":[a-zA-Z][\w:+.-]*:`([^`<]+?)(?:\s*<[^`>]*>)?`")
_DIRECTIVE = re.compile(r"^[ \t]*\.\. +([a-zA-Z][\w:+.-]*)::", re.MULTILINE)
_LISTS = (nodes.bullet_list, nodes.enumerated_list, nodes.definition_list, nodes.field_list, nodes.option_list)
_NO_WORDS = (nodes.Invisible, nodes.system_message, nodes.substitution_definition)
_CODE = (nodes.literal_block, nodes.doctest_block)

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


class _AnyOption(dict[str, Callable[[str], Any]]):
    """Accepts every option of a directive."""

    def __missing__(self, _name: str) -> Callable[[str], Any]:
        return directives.unchanged


class _UnknownDirective(Directive):
    """A directive that docutils does not know, as Sphinx has many: its argument opens its text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption(name=directives.unchanged)
    asides = frozenset(
        "versionadded versionchanged versionremoved deprecated only toctree highlight literalinclude".split()
    )
    """Directives whose argument is no term for what they hold."""

    def run(self) -> list[nodes.Node]:
        """Parse the content; the argument joins its first paragraph, or is one of its own."""
        argument, _, rest = (self.arguments[0] if self.arguments else "").partition("\n")
        lines = StringList([*rest.split("\n"), ""] if rest else []) + self.content
        content = nodes.container()
        self.state.nested_parse(lines, self.content_offset, content, match_titles=True)
        if argument and content.children and self.name not in self.asides:
            if isinstance(first := content.children[0], nodes.paragraph):
                first.insert(0, nodes.Text(f"{argument}: "))
            else:
                content.insert(0, nodes.paragraph("", argument))
        return content.children


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a reStructuredText file. Roles and directives that docutils does not know leave their words.

    Raises ``Unreadable`` for binary data.
    """
    text = decode(data)
    for name in {name.lower() for name in _DIRECTIVE.findall(text)} - en.directives.keys():
        directives.register_directive(name, _UnknownDirective)
    tree = publish_doctree(text, settings_overrides=SETTINGS)
    outline = Outline()
    _add(outline, tree, 1)
    title, blocks = outline.finish(None, title_from_name(source))
    return LoadedDocument(document_id=source, title=title, source=source, blocks=blocks)


def _add(outline: Outline, parent: nodes.Element, level: int) -> None:
    """Add the blocks below ``parent``, whose title is a heading of ``level``."""
    for node in parent.children:
        match node:
            case nodes.title() | nodes.subtitle():
                outline.heading(level + isinstance(node, nodes.subtitle), node.astext())
            case nodes.section():
                _add(outline, node, level + 1)
            case nodes.table():
                outline.add(_table(node), "table")
            case _ if isinstance(node, _CODE):
                outline.add(fenced(node.astext()), "code")
            case _ if isinstance(node, _LISTS):
                outline.add("\n".join(_items(node, "")), "list")
            case _ if isinstance(node, _NO_WORDS):
                continue
            case nodes.TextElement():
                outline.add(_words(node))
            case nodes.Element():
                _add(outline, node, level)


def _words(node: nodes.Node) -> str:
    """Return what a reader sees, on one line; an unknown role (``:ref:`name```) leaves its words."""
    return " ".join(_ROLE.sub(r"\1", node.astext()).split())


def _items(parent: nodes.Element, indent: str) -> list[str]:
    """Return a list as lines: one per item, nested lists indented; a term and its definition share a line."""
    lines: list[str] = []
    for number, item in enumerate(_elements(parent), int(parent.get("start", 1))):
        lead = f"{indent}{number}. " if isinstance(parent, nodes.enumerated_list) else f"{indent}- "
        for part in _parts(item):
            match part:
                case nodes.term():
                    classifiers = ", ".join(_words(one) for one in item.children if isinstance(one, nodes.classifier))
                    lead += f"{_words(part)} ({classifiers}): " if classifiers else f"{_words(part)}: "
                    continue
                case nodes.field_name() | nodes.option_group():
                    lead += ", ".join(map(_words, part.children)) + ": "
                    continue
                case nodes.classifier():
                    continue
                case nodes.table():
                    lines.extend(_table(part).split("\n"))
                case _ if isinstance(part, _LISTS):
                    lines.extend(_items(part, indent + "  "))
                case _ if isinstance(part, _CODE):
                    lines.extend(fenced(part.astext()).split("\n"))
                case _:
                    lines.append(lead + _words(part))
            lead = indent + "  "
    return lines


def _parts(item: nodes.Element) -> Iterator[nodes.Element]:
    """Yield what an item holds, with definitions and field bodies opened."""
    for part in _elements(item):
        if isinstance(part, nodes.definition | nodes.field_body | nodes.description):
            yield from _parts(part)
        else:
            yield part


def _elements(parent: nodes.Element) -> list[nodes.Element]:
    """Return the children that hold words."""
    return [part for part in parent.children if isinstance(part, nodes.Element) and not isinstance(part, _NO_WORDS)]


def _table(node: nodes.Element) -> str:
    rows = ([entry.astext() for entry in row.findall(nodes.entry)] for row in node.findall(nodes.row))
    return "\n".join(map(table_row, rows))
