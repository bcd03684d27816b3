"""End a question that the documents do not answer, or that could not be processed."""

from graph.outputs import declined, ended
from graph.state import State, Update


async def no_answer(state: State) -> Update:
    """Answer that there is none; ``outcome`` says why, by how far the question came."""
    if state.get("failure"):  # of ``cite``, which has no edge to ``fail`` (contract, Interface G)
        return await fail(state)
    if not state.get("graded"):
        return declined(state, "no_relevant_chunks")
    draft = state["draft"]
    if not draft.text.strip():
        return declined(state, "no_citations" if draft.confidence is None else "low_confidence")
    return declined(state, state["outcome"])


async def fail(state: State) -> Update:
    """End without an answer, with the failure's outcome."""
    return ended(state, state["failure"].outcome, None)
