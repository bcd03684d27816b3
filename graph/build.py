"""Build the graph: its nodes, the edges between them, and what is done around every node."""

import asyncio
import logging
import time
from functools import partial
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from graph import nodes
from graph.errors import RAGError, RerankFailed, StoreUnavailable, SynthesisTimeout
from graph.policy import Policy
from graph.ports import Ports
from graph.state import Context, Input, Node, Output, State, Update, failure_of

GRACE = 0.25
"""Seconds past a question's deadline after which a node is cancelled.

A call that keeps the deadline itself finds it passed first: its error says more."""
RUN_KEYS = State.__annotations__.keys() - Input.__annotations__.keys() - {"timings"}
"""The keys that a run sets for itself alone."""
TIMEOUT_ERRORS = {
    "retrieve": StoreUnavailable("The search did not finish in time."),
    "grade": RerankFailed("The reranker did not finish in time."),
    "synthesize": SynthesisTimeout("The chat model did not finish in time."),
    "extract": SynthesisTimeout("The passages were not searched for an answer in time."),
    "cite": SynthesisTimeout("The answer's citations were not checked in time."),
}
"""The failure of a node that is cancelled at the deadline; other nodes are not."""
log = logging.getLogger("garden.graph")


def build_graph(ports: Ports, policy: Policy) -> CompiledStateGraph[State, Context, Input, Output]:
    """Build the graph over *ports* and *policy*; the last of a run's ``values`` is its whole state."""
    graph = StateGraph(State, Context, input_schema=Input, output_schema=Output)
    steps: dict[str, Node] = {
        "validate": reset_thread(partial(nodes.validate, policy=policy, rewriter=ports.rewriter)),
        "retrieve": partial(nodes.retrieve, retriever=ports.retriever),
        "grade": partial(nodes.grade, ports=ports),
        "synthesize": partial(nodes.synthesize, synthesizer=ports.synthesizer),
        "extract": partial(nodes.extract, extractor=ports.extractor),
        "cite": partial(nodes.cite, reader=ports.verifier, second=ports.second_verifier, extractor=ports.extractor),
        "no_answer": nodes.no_answer,
        "fail": nodes.fail,
    }
    for name, node in steps.items():
        graph.add_node(name, step(name, node))

    def stands_in(state: State) -> bool:
        """Whether the passages may answer where the model does not."""
        return ports.extractor is not None and state["question"].attribution == "verified"

    async def route_after_grade(state: State) -> Literal["synthesize", "extract", "no_answer", "fail"]:
        """Answer from the chunks that are relevant, if any; a count by the passages' rows, which no model counts."""
        if state.get("failure"):
            return "fail"
        if not state["graded"]:
            return "no_answer"
        counted = any(part.counted for part in state["subquery_results"])
        return "extract" if counted and stands_in(state) else "synthesize"

    async def route_after_synthesize(state: State) -> Literal["cite", "extract", "no_answer", "fail"]:
        if state.get("failure"):
            return "fail"
        if state["draft"].sentences:
            return "cite"
        return "extract" if stands_in(state) else "no_answer"

    async def route_after_cite(state: State) -> Literal["__end__", "extract", "no_answer", "fail"]:
        if state.get("failure"):
            return "fail"
        if state["outcome"] == "answered":
            return "__end__"
        return "extract" if state["draft"].by_model and stands_in(state) else "no_answer"

    graph.add_edge(START, "validate")
    graph.add_conditional_edges("validate", route_after_validate)
    graph.add_conditional_edges("retrieve", route_after_retrieve)
    graph.add_conditional_edges("grade", route_after_grade)
    graph.add_conditional_edges("synthesize", route_after_synthesize)
    graph.add_conditional_edges("extract", route_after_extract)
    graph.add_conditional_edges("cite", route_after_cite)
    graph.add_edge("no_answer", END)
    graph.add_edge("fail", END)
    return graph.compile(name="knowledge_garden")


# Routes are coroutines, since LangGraph runs plain functions in a thread.


async def route_after_validate(state: State) -> Literal["retrieve", "fail"]:
    """Search for a valid question."""
    return "fail" if state.get("failure") else "retrieve"


async def route_after_retrieve(state: State) -> Literal["grade", "no_answer", "fail"]:
    """Grade what was retrieved, if anything."""
    if state.get("failure"):
        return "fail"
    return "grade" if state["chunks"] else "no_answer"


async def route_after_extract(state: State) -> Literal["cite", "no_answer", "fail"]:
    """Cite the sentences of the passages, if they answer."""
    if state.get("failure"):
        return "fail"
    return "cite" if state["draft"].sentences else "no_answer"


def step(name: str, node: Node) -> Any:
    """Wrap *node* so that ``timings[name]`` holds its milliseconds and a ``RAGError`` becomes ``failure``.

    With an error in ``TIMEOUT_ERRORS``, that is its failure when it is cancelled ``GRACE`` past ``question.deadline``.
    Other errors are raised.
    """
    timeout_error = TIMEOUT_ERRORS.get(name)

    async def run(state: State, runtime: Runtime[Context]) -> Update:
        begun = time.perf_counter()
        seconds = max(0.0, state["question"].deadline + GRACE - time.monotonic()) if timeout_error else None
        try:
            async with asyncio.timeout(seconds) as limit:
                update = await node(state, getattr(runtime, "context", None) or Context())
        except (RAGError, TimeoutError) as error:
            failed = timeout_error if isinstance(error, TimeoutError) and limit.expired() else error
            if not isinstance(failed, RAGError):
                raise
            update = {"failure": failure_of(failed)}
            # The cause is a vendor's error, whose text may hold keys: logged are its class and what is fit to show.
            cause = type(failed.__cause__).__name__ if failed.__cause__ else None
            fields = {"failed": type(failed).__name__, "reason": failed.message, "cause": cause}
            log.warning(name, extra={**fields, "said": failed.cause_text})
        milliseconds = round((time.perf_counter() - begun) * 1000, 3)
        log.debug(name, extra={"ms": milliseconds})
        return {**update, "timings": {name: milliseconds}}

    return run


def reset_thread(validate: Node) -> Node:
    """Make *validate* clear what an earlier run left on the same thread (Studio, LangGraph SDK)."""

    async def run(state: State, context: Context) -> Update:
        stale = {key: None for key, value in state.items() if key in RUN_KEYS and value is not None}
        return {**stale, **await validate(state, context)}

    return run
