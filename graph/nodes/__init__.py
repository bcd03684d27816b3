"""The nodes, in the order they run; function, node and log event share a name.

``search``: validate, retrieve, grade → ``answer``: synthesize, cite, extract, and the ends no_answer, fail.
"""

from graph.nodes.answer import cite, extract, fail, no_answer, synthesize
from graph.nodes.search import grade, retrieve, validate

__all__ = ["cite", "extract", "fail", "grade", "no_answer", "retrieve", "synthesize", "validate"]
