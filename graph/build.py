"""The floor plan: the nodes, the edges, and nothing else.

START -> validate -> retrieve -> grade -> synthesize -> cite -> END, with ``no_answer`` and ``fail`` as drawn ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast, get_args, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from graph import nodes, routes
from graph.errors import RAGError, RerankFailed, StoreUnavailable, SynthesisTimeout
from graph.policy import Policy
from graph.ports import Ports
from graph.routes import Route
from graph.run_settings import form_of
from graph.state import Input, Output, State
from graph.steps import Node, Step, Update, step

LEFT_BEHIND = State.__annotations__.keys() - Input.__annotations__.keys() - {"timings"}
"""The keys that a run fills in."""

LATE_RETRIEVE = partial(StoreUnavailable, "The search did not finish in time.")
LATE_GRADE = partial(RerankFailed, "The reranker did not finish in time.")
LATE_CITE = partial(SynthesisTimeout, "The answer's citations were not checked in time.")
LATE_MODEL = partial(SynthesisTimeout, "The chat model did not finish in time.")


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node, and which way it goes from there; ``route`` None is the end."""

    name: str
    node: Node
    route: Route | None


def node_specs(ports: Ports, policy: Policy) -> tuple[NodeSpec, ...]:
    """The nodes with *ports* and *policy* bound into them, the first one first."""

    def at(name: str, does: Step, route: Route | None = None, late: Callable[[], RAGError] | None = None) -> NodeSpec:
        return NodeSpec(name, step(name, does, late), route)

    return (
        at("validate", partial(nodes.validate, policy=policy), routes.after_validate),
        at("retrieve", partial(nodes.retrieve, retriever=ports.retriever), routes.after_retrieve, LATE_RETRIEVE),
        at("grade", partial(nodes.grade, grader=ports.grader, reader=ports.reader), routes.after_grade, LATE_GRADE),
        at("synthesize", partial(nodes.synthesize, synthesizer=ports.synthesizer), routes.after_synthesize, LATE_MODEL),
        at("cite", partial(nodes.cite, reader=ports.verifier, policy=policy), routes.after_cite, LATE_CITE),
        at("no_answer", nodes.no_answer),
        at("fail", nodes.fail),
    )


def build_graph(ports: Ports, policy: Policy, output: type[Any] = Output) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Bind *ports* and *policy* into the state machine. *output* says which keys a run returns; ``State`` for all."""
    plan = StateGraph(State, context_schema=form_of(policy), input_schema=Input, output_schema=output)
    way = node_specs(ports, policy)
    for stop in way:
        plan.add_node(stop.name, reset_thread(stop.node) if stop is way[0] else stop.node)
        if stop.route:
            plan.add_conditional_edges(stop.name, coroutine(stop.route), ends_of(stop.route))
        else:
            plan.add_edge(stop.name, END)
    plan.add_edge(START, way[0].name)
    return plan.compile(name="knowledge_garden")


def reset_thread(first: Node) -> Node:
    """The *first* node, on a thread where a run before left its end: that goes, and the node sees the input alone."""

    async def validate(state: State, runtime: Runtime[Any]) -> Update:
        left = dict.fromkeys(key for key, value in state.items() if key in LEFT_BEHIND and value is not None)
        given = {key: value for key, value in state.items() if key not in LEFT_BEHIND}
        return {**left, **await first(cast(State, given), runtime)}

    return validate


def ends_of(route: Route) -> list[str]:
    """Every node that *route* may name: the values of the ``Literal`` it returns."""
    return list(get_args(get_type_hints(route)["return"]))


def coroutine(route: Route) -> Callable[[State], Awaitable[str]]:
    """*route* as LangGraph runs it without a thread, which it would give to a plain function."""

    async def routed(state: State) -> str:
        return route(state)

    return routed
