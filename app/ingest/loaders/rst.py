"""Load reStructuredText with docutils, with everything that reads other files or raw markup turned off.

Its tree becomes HTML, which the HTML loader reads.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from html import escape
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives
from docutils.parsers.rst.languages import en
from docutils.statemachine import StringList

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import decode

_ROLE = re.compile(r":[a-zA-Z][\w:+.-]*:`([^`<]+?)(?:\s*<[^`>]*>)?`")
_DIRECTIVE = re.compile(r"^[ \t]*\.\. +([a-zA-Z][\w:+.-]*)::", re.MULTILINE)
_NO_WORDS = (nodes.Invisible, nodes.system_message, nodes.substitution_definition, nodes.classifier)
_TAGS: dict[type[nodes.Node], str] = {
    **dict.fromkeys((nodes.bullet_list, nodes.definition_list, nodes.field_list, nodes.option_list), "ul"),
    **dict.fromkeys((nodes.list_item, nodes.definition_list_item, nodes.field, nodes.option_list_item), "li"),
    **dict.fromkeys((nodes.term, nodes.field_name, nodes.option_group), "dt"),
    **dict.fromkeys((nodes.definition, nodes.field_body, nodes.description), "dd"),
    **dict.fromkeys((nodes.literal_block, nodes.doctest_block), "pre"),
    nodes.enumerated_list: "ol",
    nodes.table: "table",
    nodes.row: "tr",
    nodes.entry: "td",
}
SETTINGS: dict[str, Any] = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 6,
    "syntax_highlight": "none",
    "_disable_config": True,
}
"""No ``include``, no ``raw``, no configuration files; errors of markup stay in the tree and end nothing."""
_ANY_OPTION: dict[str, Callable[[str], Any]] = defaultdict(lambda: directives.unchanged, name=directives.unchanged)


class _UnknownDirective(Directive):
    """A directive unknown to docutils, such as Sphinx's: its argument opens its text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _ANY_OPTION
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
    add_fragment(outline := Outline(), _html(tree, 1))
    return outline.document(source)


def _html(node: nodes.Node, level: int) -> str:
    """Return a node as HTML; a title is a heading of ``level``, a definition an item.

    A table of contents is left out.
    """
    name, start = _TAGS.get(type(node), "p" if isinstance(node, nodes.TextElement) else ""), ""
    match node:
        case _ if isinstance(node, _NO_WORDS) or (isinstance(node, nodes.topic) and "contents" in node["classes"]):
            return ""
        case nodes.title() | nodes.subtitle():
            heading = f"h{min(level + isinstance(node, nodes.subtitle), 6)}"
            name, inside = "caption" if isinstance(node.parent, nodes.table) else heading, escape(_words(node))
        case nodes.literal_block() | nodes.doctest_block():
            inside = escape(node.astext())
        case nodes.term():
            notes = ", ".join(_words(child) for child in node.parent.children if isinstance(child, nodes.classifier))
            inside = escape(f"{_words(node)} ({notes})" if notes else _words(node))
        case nodes.option_group():
            inside = escape(", ".join(map(_words, node.children)))
        case nodes.TextElement() | nodes.entry():
            inside = escape(_words(node))
        case nodes.Element():
            start = f' start="{node["start"]}"' if "start" in node else ""
            inside = "".join(_html(child, level + isinstance(node, nodes.section)) for child in node.children)
        case _:
            return ""
    return f"<{name}{start}>{inside}</{name}>" if name else inside


def _words(node: nodes.Node) -> str:
    """Return what a reader sees, on one line; an unknown role (``:ref:`name```) leaves its words."""
    return " ".join(_ROLE.sub(r"\1", node.astext()).split())
