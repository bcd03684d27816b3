"""The nodes. Function, node, log event and file share a name, but for the two ends.

validate -> retrieve -> grade -> synthesize -> cite; extract -> cite; in ``ends``: no_answer, fail.
"""

from graph.nodes.cite import cite
from graph.nodes.ends import fail, no_answer
from graph.nodes.extract import extract
from graph.nodes.grade import grade
from graph.nodes.retrieve import retrieve
from graph.nodes.synthesize import synthesize
from graph.nodes.validate import validate

__all__ = ["cite", "extract", "fail", "grade", "no_answer", "retrieve", "synthesize", "validate"]
