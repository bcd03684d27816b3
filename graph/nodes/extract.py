"""Answer in the passages' own sentences where a chat model declined, or nothing that it wrote is supported."""

from graph.ports import Synthesizer
from graph.state import Context, State, Update


async def extract(state: State, _: Context, *, extractor: Synthesizer | None) -> Update:
    """Replace ``draft``; without sentences where the passages do not surely answer either."""
    assert extractor is not None  # the route to this node is taken only with one
    draft = await extractor.synthesize(state["question"], state["graded"], state["subquery_results"], None)
    return {"draft": draft, "outcome": state.get("outcome") or "no_citations"}
