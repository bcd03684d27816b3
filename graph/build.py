"""Build the graph: its nodes and edges, and what is done around every node.

START -> validate -> retrieve -> grade -> synthesize -> cite -> END, with ``no_answer`` and ``fail`` as drawn ends.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, cast

from langgraph.channels import UntrackedValue
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict, get_type_hints

from graph import nodes
from graph.errors import RAGError, RerankFailed, StoreUnavailable, SynthesisTimeout
from graph.policy import Policy
from graph.ports import Ports
from graph.state import Input, State, Step, Update, failure_of

GRACE = 0.25
"""Seconds past a question's deadline after which a node is cancelled.

A call that keeps the deadline itself finds it passed first: its error says more."""
RUN_KEYS = State.__annotations__.keys() - Input.__annotations__.keys() - {"timings", "history"}
"""The keys that a run sets for itself alone."""
LATE = {
    "retrieve": StoreUnavailable("The search did not finish in time."),
    "grade": RerankFailed("The reranker did not finish in time."),
    "synthesize": SynthesisTimeout("The chat model did not finish in time."),
    "cite": SynthesisTimeout("The answer's citations were not checked in time."),
}
"""The failure of a node that is cancelled at the deadline; other nodes are not."""
log = logging.getLogger("garden.graph")


def build_graph(
    ports: Ports, policy: Policy, checkpointer: BaseCheckpointSaver[Any] | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build the graph over *ports* and *policy*; a run returns its last state.

    With a *checkpointer* its threads are conversations, of which no more than the questions is kept. On LangGraph's
    own server, which brings its checkpointer, a thread keeps everything, so that Studio can show it.
    """
    state = State if checkpointer is None else conversation_state()
    graph = StateGraph(state, input_schema=Input, output_schema=State)

    steps: dict[str, Step] = {
        "validate": partial(nodes.validate, policy=policy, rewriter=ports.rewriter),
        "retrieve": partial(nodes.retrieve, retriever=ports.retriever),
        "grade": partial(nodes.grade, grader=ports.grader, reader=ports.reader),
        "synthesize": partial(nodes.synthesize, synthesizer=ports.synthesizer),
        "cite": partial(nodes.cite, reader=ports.verifier, policy=policy),
        "no_answer": nodes.no_answer,
        "fail": nodes.fail,
    }
    for name, node in steps.items():
        run = step(name, node, LATE.get(name))
        action: Any = reset_thread(run) if name == "validate" else run
        graph.add_node(name, action)

    graph.add_edge(START, "validate")

    def edge(name: str, following: str, ready: Callable[[State], object], *ends: str) -> None:
        """Go on to *following* if *ready*, to the last of *ends* after a failure, else to ``no_answer``."""

        async def choose(state: State) -> str:  # a coroutine, since LangGraph runs plain functions in a thread
            if state.get("failure"):
                return ends[-1]
            return following if ready(state) else "no_answer"

        graph.add_conditional_edges(name, choose, [following, *ends])

    edge("validate", "retrieve", lambda _: True, "fail")
    edge("retrieve", "grade", lambda state: state["chunks"], "no_answer", "fail")
    edge("grade", "synthesize", lambda state: state["graded"], "no_answer", "fail")
    edge("synthesize", "cite", lambda state: state["draft"].text.strip(), "no_answer", "fail")
    edge("cite", END, lambda state: state["outcome"] == "answered", "no_answer")
    graph.add_edge("no_answer", END)
    graph.add_edge("fail", END)
    return graph.compile(checkpointer, name="knowledge_garden")


def conversation_state() -> type[Any]:
    """Make the ``State`` of which a checkpointer stores nothing that a run sets for itself."""
    fields = get_type_hints(State, include_extras=True)
    fields |= {name: Annotated[fields[name], UntrackedValue] for name in RUN_KEYS}
    return cast(type[Any], TypedDict("ConversationState", fields))  # type: ignore[operator]


def step(name: str, node: Step, late: RAGError | None = None) -> Step:
    """Wrap *node* so that ``timings[name]`` holds its milliseconds and a ``RAGError`` becomes ``failure``.

    With *late*, its failure when it is cancelled ``GRACE`` past ``question.deadline``. Other errors are raised.
    """

    async def run(state: State) -> Update:
        begun = time.perf_counter()
        seconds = max(0.0, state["question"].deadline + GRACE - time.monotonic()) if late else None
        try:
            async with asyncio.timeout(seconds) as limit:
                update = await node(state)
        except (RAGError, TimeoutError) as error:
            failed = late if isinstance(error, TimeoutError) and limit.expired() else error
            if not isinstance(failed, RAGError):
                raise
            update = {"failure": failure_of(failed)}
            # The cause is a vendor's error, whose text may hold addresses and keys: only its class is logged.
            cause = type(failed.__cause__).__name__ if failed.__cause__ else None
            log.warning(name, extra={"failed": type(failed).__name__, "reason": failed.message, "cause": cause})
        milliseconds = round((time.perf_counter() - begun) * 1000, 3)
        log.debug(name, extra={"ms": milliseconds})
        return {**update, "timings": {name: milliseconds}}

    return run


def reset_thread(validate: Step) -> Step:
    """Make *validate* clear what an earlier run left on the same thread (Studio, LangGraph SDK)."""

    async def run(state: State) -> Update:
        stale = {key: None for key, value in state.items() if key in RUN_KEYS and value is not None}
        return {**stale, **await validate(state)}

    return run
