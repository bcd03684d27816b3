"""End a question that the documents do not answer, or that could not be processed."""

from graph.outputs import declined, ended
from graph.state import Context, State, Update


async def no_answer(state: State, _: Context) -> Update:
    """Answer that there is none; ``outcome`` says why, by how far the question came."""
    if not state.get("graded"):
        return declined(state, "no_relevant_chunks")
    if outcome := state.get("outcome"):  # of ``cite``
        return declined(state, outcome)
    return declined(state, "no_citations" if state["draft"].confidence is None else "low_confidence")


async def fail(state: State, _: Context) -> Update:
    """End without an answer, with the failure's outcome."""
    return ended(state, state["failure"].outcome, None)
