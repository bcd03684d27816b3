"""The floor plan: the nodes, the edges, and nothing else.

START -> validate -> retrieve -> grade -> synthesize -> cite -> END, with ``no_answer`` and ``fail`` as drawn ends.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graph import nodes, routes
from graph.errors import RerankFailed, StoreUnavailable, SynthesisTimeout
from graph.policy import Policy
from graph.ports import Ports
from graph.run_settings import form_of
from graph.state import Input, Output, State
from graph.steps import step

LATE_RETRIEVE = partial(StoreUnavailable, "The search did not finish in time.")
LATE_GRADE = partial(RerankFailed, "The reranker did not finish in time.")
LATE_MODEL = partial(SynthesisTimeout, "The chat model did not finish in time.")


def build_graph(ports: Ports, policy: Policy, output: type[Any] = Output) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Bind *ports* and *policy* into the state machine. *output* says which keys a run returns; ``State`` for all."""
    plan = StateGraph(State, context_schema=form_of(policy), input_schema=Input, output_schema=output)

    plan.add_node("validate", step("validate", partial(nodes.validate, policy=policy)))
    plan.add_node("retrieve", step("retrieve", partial(nodes.retrieve, retriever=ports.retriever), LATE_RETRIEVE))
    plan.add_node("grade", step("grade", partial(nodes.grade, grader=ports.grader), LATE_GRADE))
    plan.add_node(
        "synthesize", step("synthesize", partial(nodes.synthesize, synthesizer=ports.synthesizer), LATE_MODEL)
    )
    plan.add_node("cite", step("cite", partial(nodes.cite, support=ports.support, policy=policy)))
    plan.add_node("no_answer", step("no_answer", nodes.no_answer))
    plan.add_node("fail", step("fail", nodes.fail))

    plan.add_edge(START, "validate")
    plan.add_conditional_edges("validate", routes.after_validate)
    plan.add_conditional_edges("retrieve", routes.after_retrieve)
    plan.add_conditional_edges("grade", routes.after_grade)
    plan.add_conditional_edges("synthesize", routes.after_synthesize)
    plan.add_conditional_edges("cite", routes.after_cite)
    plan.add_edge("no_answer", END)
    plan.add_edge("fail", END)
    return plan.compile(name="knowledge_garden")
