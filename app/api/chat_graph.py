"""Chat over the question graph: ``messages`` in, an AI message with LangChain's citations out.

For what speaks LangGraph's convention of chat: Studio's chat mode, Agent Chat UI, the SDK.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.content import Annotation, create_citation, create_text_block
from langgraph.channels import EphemeralValue
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from answering.types import Citation
from app.api.chat_completions import source_list, web_address
from graph.errors import Outcome
from graph.state import Failure


class ChatState(MessagesState):
    """The messages, which last, and what one node leaves for the next alone, named as in the question graph."""

    query: NotRequired[Annotated[str | None, EphemeralValue]]
    earlierQuestions: NotRequired[Annotated[list[str], EphemeralValue]]
    rewritten: NotRequired[Annotated[str | None, EphemeralValue]]
    answer: NotRequired[Annotated[str | None, EphemeralValue]]
    citedDocuments: NotRequired[Annotated[list[dict[str, Any]], EphemeralValue]]
    citations: NotRequired[Annotated[list[Citation], EphemeralValue]]
    markers: NotRequired[Annotated[dict[int, list[tuple[int, int]]], EphemeralValue]]
    outcome: NotRequired[Annotated[Outcome, EphemeralValue]]
    failure: NotRequired[Annotated[Failure, EphemeralValue]]


def build_chat_graph(questions: CompiledStateGraph[Any, Any, Any, Any]) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build the graph of messages, in which *questions*, whose output is its whole state, is a subgraph.

    The last message of the user is the question, those before it complete it. An answer ends with the list of its
    sources; a decline or failure is a plain message. ``response_metadata`` has the outcome, and the question as it was
    understood where that differs.
    """
    chat = StateGraph(ChatState, input_schema=MessagesState, output_schema=MessagesState)
    chat.add_node("ask", ask)
    chat.add_node("question", questions)
    chat.add_node("reply", reply)
    chat.add_edge(START, "ask")
    chat.add_edge("ask", "question")
    chat.add_edge("question", "reply")
    chat.add_edge("reply", END)
    return chat.compile(name="knowledge_garden_chat")


async def ask(state: MessagesState) -> dict[str, Any]:
    """Take the question, and those before it, from the user's messages."""
    asked = [str(message.text) for message in state["messages"] if isinstance(message, HumanMessage)]
    return {"query": asked[-1] if asked else None, "earlierQuestions": asked[:-1]}


async def reply(state: ChatState) -> dict[str, Any]:
    """Add the message that says how the question ended."""
    return {"messages": [message_of(state)]}


def message_of(end: Mapping[str, Any]) -> AIMessage:
    """Return the message of a question that ended in the state *end*."""
    failure = end.get("failure")
    answered = end["outcome"] == "answered"
    text = failure.message if failure else end["answer"]
    citations = end["citations"] if answered else []
    block = create_text_block(
        text + source_list(end["citedDocuments"], citations),
        annotations=citation_annotations(citations, end["markers"]) if answered else [],
    )
    understood = {"rewritten": end["rewritten"]} if end.get("rewritten") else {}
    return AIMessage(content_blocks=[block], response_metadata={"outcome": end["outcome"], **understood})


def citation_annotations(
    citations: Sequence[Citation], markers: Mapping[int, Sequence[tuple[int, int]]]
) -> list[Annotation]:
    """Return a ``Citation`` of LangChain for each place at which one of ours is marked, in the order of the text.

    ``start_index`` and ``end_index`` delimit the marker, ``cited_text`` is the quote; ``extras`` say where it stands.
    """
    found = []
    for index, citation in enumerate(citations):
        extras: dict[str, Any] = {
            "documentId": citation.document_id,
            "chunkId": citation.chunk_id,
            "start": citation.start,
            "end": citation.end,
            "support": citation.support,
            "page": citation.page,
            "section": citation.section,
        }
        for start, end in markers.get(index, ()):
            made = create_citation(
                url=web_address(citation.url) or None,
                title=citation.title,
                start_index=start,
                end_index=end,
                cited_text=citation.quote,
                **extras,
            )
            found.append((start, made))
    return [made for _, made in sorted(found, key=lambda pair: pair[0])]
