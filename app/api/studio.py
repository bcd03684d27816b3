"""Make the graphs of ``langgraph.json``, on the settings of the environment: that of questions, and a chat over it.

The chat, ``messages`` in and an AI message with LangChain's citations out, is for what speaks LangGraph's convention:
Studio's chat mode, Agent Chat UI, the SDK.
"""

import asyncio
from functools import cache
from typing import Annotated, Any, NotRequired

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.content import Annotation, create_citation, create_text_block
from langgraph.channels import EphemeralValue
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from answering.types import Citation
from app.api.chat_completions import marked, source_list, web_address
from app.bootstrap.compose import build_container
from graph.errors import Outcome
from graph.state import Failure

open_container = cache(build_container)


async def make_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph, made once per process, off the event loop; its runs return the whole state."""
    graph = (await asyncio.to_thread(open_container)).graph
    # LangGraph's server shows of each node only what is in the output: with the public keys alone, nothing of most.
    return graph.copy({"output_channels": graph.stream_channels_list})


async def make_chat_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph of messages, in which that of questions is a subgraph.

    The last message of the user is the question, those before it complete it. An answer ends with the list of its
    sources; a decline or failure is a plain message. ``response_metadata`` has the outcome, and the question as it was
    understood where that differs.
    """
    chat = StateGraph(ChatState, input_schema=MessagesState, output_schema=MessagesState)
    chat.add_node("ask", ask)
    chat.add_node("question", await make_graph())
    chat.add_node("reply", reply)
    chat.add_edge(START, "ask")
    chat.add_edge("ask", "question")
    chat.add_edge("question", "reply")
    chat.add_edge("reply", END)
    return chat.compile(name="knowledge_garden_chat")


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


async def ask(state: MessagesState) -> dict[str, Any]:
    """Take the question, and those before it, from the user's messages."""
    asked = [str(message.text) for message in state["messages"] if isinstance(message, HumanMessage)]
    return {"query": asked[-1] if asked else None, "earlierQuestions": asked[:-1]}


async def reply(state: ChatState) -> dict[str, Any]:
    """Add the message that says how the question ended.

    In its annotations, ``start_index`` and ``end_index`` delimit the marker, ``cited_text`` is the quote; ``extras``
    say where it stands.
    """
    failure = state.get("failure")
    answered = state["outcome"] == "answered"
    text = (failure.message if failure else state["answer"]) or ""
    citations = state["citations"] if answered else []
    annotations: list[Annotation] = [
        create_citation(
            url=web_address(citation.url) or None,
            title=citation.title,
            start_index=start,
            end_index=end,
            cited_text=citation.quote,
            documentId=citation.document_id,
            chunkId=citation.chunk_id,
            start=citation.start,
            end=citation.end,
            support=citation.support,
            page=citation.page,
            section=citation.section,
        )
        for (start, end), citation in marked(citations, state["markers"] if answered else {})
    ]
    block = create_text_block(text + source_list(state["citedDocuments"], citations), annotations=annotations)
    understood = {"rewritten": state["rewritten"]} if state.get("rewritten") else {}
    message = AIMessage(content_blocks=[block], response_metadata={"outcome": state["outcome"], **understood})
    return {"messages": [message]}
