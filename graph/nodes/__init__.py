"""The nodes, in the order they run; function, node and log event share a name.

``validate`` → ``search``: retrieve, grade → ``answer``: synthesize, cite, extract, and the ends no_answer, fail.
"""

from graph.nodes.answer import cite, extract, fail, no_answer, synthesize
from graph.nodes.search import grade, retrieve
from graph.nodes.validate import validate

__all__ = ["cite", "extract", "fail", "grade", "no_answer", "retrieve", "synthesize", "validate"]
