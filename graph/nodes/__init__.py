"""The nodes, one file each, in the order they run. File, function, node and log event share a name.

validate -> retrieve -> grade -> synthesize -> cite, and the two ends: no_answer, fail.
"""

from graph.nodes.cite import cite
from graph.nodes.fail import fail
from graph.nodes.grade import grade
from graph.nodes.no_answer import no_answer
from graph.nodes.retrieve import retrieve
from graph.nodes.synthesize import synthesize
from graph.nodes.validate import validate

__all__ = ["cite", "fail", "grade", "no_answer", "retrieve", "synthesize", "validate"]
