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
    """One key and address, and the clients on it, made when first used. ``seconds`` limits each read and connect.

    Without *kept* no connection outlives its answer, so that there is nothing to close.
    """

    def __init__(self, key: SecretStr, base_url: str, seconds: float, *, kept: bool = True) -> None:
        self._key = key
        self._base_url = base_url or COHERE_URL
        self._seconds = seconds
        self._kept = kept

    @cached_property
    def http(self) -> httpx.Client:
        """HTTP that blocks, with the address and the key set; it keeps no connection."""
        return httpx.Client(**self._http_options(), limits=httpx.Limits(max_keepalive_connections=0))

    @cached_property
    def ahttp(self) -> httpx.AsyncClient:
        """HTTP of the event loop that uses it."""
        from app.providers.http.transport import AiohttpTransport

        return httpx.AsyncClient(**self._http_options(), transport=AiohttpTransport(kept=self._kept))

    @cached_property
    def aclient(self) -> cohere.AsyncClientV2:
        """The SDK's client of an event loop. The first use imports the SDK, which takes seconds."""
        import cohere

        client = cohere.AsyncClientV2(
            self._key.get_secret_value(), base_url=self._base_url, timeout=self._seconds, httpx_client=self.ahttp
        )
        for name in ("embed", "rerank"):
            setattr(client, name, partial(getattr(client, name), request_options=NO_RETRIES))
        return client

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        if "ahttp" in self.__dict__:
            await self.ahttp.aclose()

    def _http_options(self) -> dict[str, Any]:
        return {
            "base_url": self._base_url,
            "headers": {"Authorization": f"Bearer {self._key.get_secret_value()}"},
            "timeout": self._seconds,
            "follow_redirects": True,
        }


def connect(settings: Settings, setting: str, seconds: float, *, kept: bool = True) -> CohereConnection:
    """Make the connection for the part that *setting* names (``"RERANKER"``); it is not contacted.

    Raises ``ConfigurationError`` when ``COHERE_API_KEY`` is empty.
    """
    if not settings.cohere_api_key.get_secret_value():
        raise ConfigurationError(f"{setting} names a Cohere model, which needs COHERE_API_KEY to be set")
    return CohereConnection(settings.cohere_api_key, settings.cohere_base_url, seconds, kept=kept)
