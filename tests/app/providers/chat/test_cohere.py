"""Cohere over langchain-cohere: citations are streamed, and retries stay ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_cohere import ChatCohere
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, HumanMessage

from app.providers.chat.chat_model import ChatModel
from app.providers.chat.models import make_chat_model
from app.providers.http.error_mapping import classify_error
from app.settings import load_settings
from tests.peers import CohereAnswer, CoherePeer, Fault

ANSWER = CohereAnswer("The sky is blue.", (("The sky", ("1",)), ("blue", ("2", "1"))))
DOCUMENTS = [{"id": str(n), "data": {"title": "", "text": "The sky is blue."}} for n in (1, 2)]


@pytest.fixture
async def chat(cohere_peer: CoherePeer) -> AsyncIterator[ChatModel]:
    settings = load_settings(
        chat_model="cohere:command-r7b-12-2024", cohere_api_key=cohere_peer.key, cohere_base_url=cohere_peer.url
    )
    made = make_chat_model(settings)
    yield made
    assert made.aclose
    await made.aclose()


async def reply_of(model: BaseChatModel) -> AIMessageChunk:
    """The pieces of one streamed reply, added up as LangChain adds them."""
    pieces: list[Any] = [piece async for piece in model.astream([HumanMessage("Why?")], documents=DOCUMENTS)]
    whole: AIMessageChunk = sum(pieces[1:], pieces[0])
    return whole


async def test_citations_are_streamed(chat: ChatModel, cohere_peer: CoherePeer) -> None:
    """Every citation of the stream comes once, with its span and the ids of its documents, and text and end as ever."""
    cohere_peer.answers = [ANSWER] * 2
    for _ in range(2):
        reply = await reply_of(chat.model)
        cited = [
            (citation["start"], citation["end"], [s["id"] for s in citation["sources"]])
            for citation in reply.additional_kwargs["citations"]
        ]
        assert cited == [(0, 7, ["1"]), (11, 15, ["2", "1"])]
        assert (reply.text, reply.response_metadata["finish_reason"]) == (ANSWER.text, "COMPLETE")
        assert reply.usage_metadata


async def test_langchain_cohere_alone_streams_no_citations(chat: ChatModel, cohere_peer: CoherePeer) -> None:
    """The upstream defect: once this fails, ``CitingChatCohere`` can go, and ``ChatCohere`` do its work."""
    cohere_peer.answers = [ANSWER] * 2
    theirs = ChatCohere(model="command-r7b-12-2024", cohere_api_key=cohere_peer.key)
    theirs.async_client = chat.model.async_client  # type: ignore[attr-defined]
    assert "citations" not in (await reply_of(theirs)).additional_kwargs
    assert len((await theirs.ainvoke([HumanMessage("Why?")], documents=DOCUMENTS)).additional_kwargs["citations"]) == 2


@pytest.mark.parametrize("status", [429, 503])
async def test_neither_package_retries(chat: ChatModel, cohere_peer: CoherePeer, status: int) -> None:
    """One call is one request, and the server's Retry-After is passed on: the retry policy is ours."""
    cohere_peer.fault = Fault("status", status, retry_after="7")
    with pytest.raises(Exception) as caught:
        await reply_of(chat.model)
    assert (classify_error(caught.value).status, classify_error(caught.value).retry_after) == (status, 7.0)
    assert len(cohere_peer.requests) == 1
