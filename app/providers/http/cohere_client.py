"""Cohere's client for its LangChain classes: time limit, address, transport, one attempt."""

from functools import partial
from typing import Any

import cohere
import httpx

from app.providers.http.transport import AiohttpTransport
from app.settings import Settings
from graph.errors import ConfigurationError

NO_RETRIES: Any = {"max_retries": 0}
"""``request_options`` of a call: the SDK would try three times beside our own policy. Releases after 5 take
``max_retries`` for a whole client (cohere-ai/cohere-python, pull request 779); langchain-cohere 0.6 excludes them."""


def cohere_client(settings: Settings, setting: str, seconds: float) -> tuple[cohere.AsyncClientV2, AiohttpTransport]:
    """Make the client and connections for *setting*'s part (``"CHAT_MODEL"``), uncontacted.

    *seconds* limits each read and connect. Raises ``ConfigurationError`` when ``COHERE_API_KEY`` is empty.
    """
    key = settings.cohere_api_key.get_secret_value()
    if not key:
        raise ConfigurationError(f"{setting} names a Cohere model, which needs COHERE_API_KEY to be set")
    transport = AiohttpTransport()
    http = httpx.AsyncClient(transport=transport, timeout=seconds, follow_redirects=True)
    address = settings.cohere_base_url or None  # its own
    client = cohere.AsyncClientV2(api_key=key, base_url=address, timeout=seconds, httpx_client=http)
    # langchain-cohere passes no options
    client.embed = partial(client.embed, request_options=NO_RETRIES)  # type: ignore[method-assign]
    return client, transport
