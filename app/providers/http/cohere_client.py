"""One connection to Cohere for its LangChain classes: time limit, address, our transport, and one try per call."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import SecretStr

from app.settings import Settings
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    import cohere

COHERE_URL = "https://api.cohere.com"
NO_RETRIES: Any = {"max_retries": 0}
"""``request_options`` of a call: the SDK would try three times beside our own policy. Releases after 5 take
``max_retries`` for a whole client (cohere-ai/cohere-python, pull request 779); langchain-cohere 0.6 excludes them."""


class CohereConnection:
    """One key and address, and the SDK's client on it. ``seconds`` limits each read and connect.

    Without *kept* no connection outlives its answer, so that there is nothing to close.
    """

    def __init__(self, key: SecretStr, base_url: str, seconds: float, *, kept: bool = True) -> None:
        from app.providers.http.transport import AiohttpTransport

        self._options: dict[str, Any] = {
            "api_key": key.get_secret_value(),
            "base_url": base_url or COHERE_URL,
            "timeout": seconds,
            "httpx_client": httpx.AsyncClient(
                transport=AiohttpTransport(kept=kept), timeout=seconds, follow_redirects=True
            ),
        }

    @cached_property
    def aclient(self) -> cohere.AsyncClientV2:
        """The client of any event loop. The first use imports the SDK, which takes seconds."""
        import cohere

        client = cohere.AsyncClientV2(**self._options)
        for name in ("embed", "rerank"):
            setattr(client, name, partial(getattr(client, name), request_options=NO_RETRIES))
        return client

    async def aclose(self) -> None:
        """Close the connections."""
        await self._options["httpx_client"].aclose()


def connect(settings: Settings, setting: str, seconds: float, *, kept: bool = True) -> CohereConnection:
    """Make the connection for the part that *setting* names (``"RERANKER"``); it is not contacted.

    Raises ``ConfigurationError`` when ``COHERE_API_KEY`` is empty.
    """
    if not settings.cohere_api_key.get_secret_value():
        raise ConfigurationError(f"{setting} names a Cohere model, which needs COHERE_API_KEY to be set")
    return CohereConnection(settings.cohere_api_key, settings.cohere_base_url, seconds, kept=kept)
