"""Cohere over langchain-cohere: retries stay ours."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from langchain_core.messages import HumanMessage

from app.providers.chat.completion import ChatModel
from app.providers.chat.models import make_chat_model
from app.providers.http.error_mapping import fault_of
from app.settings import load_settings
from tests.peers import CoherePeer, Fault


@pytest.fixture
async def chat(cohere_peer: CoherePeer) -> AsyncIterator[ChatModel]:
    settings = load_settings(
        chat_model="cohere:command-r7b-12-2024", cohere_api_key=cohere_peer.key, cohere_base_url=cohere_peer.url
    )
    made = make_chat_model(settings)
    yield made
    assert made.aclose
    await made.aclose()


@pytest.mark.parametrize("status", [429, 503])
async def test_neither_package_retries(chat: ChatModel, cohere_peer: CoherePeer, status: int) -> None:
    """One call is one request, and the server's Retry-After is passed on: the retry policy is ours."""
    cohere_peer.fault = Fault("status", status, retry_after="7")
    with pytest.raises(Exception) as caught:
        [piece async for piece in chat.model.astream([HumanMessage("Why?")])]
    assert (fault_of(caught.value).status, fault_of(caught.value).retry_after) == (status, 7.0)
    assert len(cohere_peer.requests) == 1
