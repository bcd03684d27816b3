"""One connection to Cohere, made our way: a time limit, an address that can be changed, and no retries of its own."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import SecretStr

from app.settings import Settings
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    import cohere

COHERE_URL = "https://api.cohere.com"
NO_RETRIES: Any = {"max_retries": 0}
"""``request_options`` of every call of the SDK, which would try three times beside our own policy."""


class CohereConnection:
    """One key and address, and the clients on it, made when first used. ``seconds`` limits each read and connect."""

    def __init__(self, key: SecretStr, base_url: str, seconds: float) -> None:
        self._key = key
        self._base_url = base_url or COHERE_URL
        self._seconds = seconds

    @cached_property
    def http(self) -> httpx.Client:
        """HTTP that blocks, with the address and the key set."""
        return httpx.Client(**self._http_options())

    @cached_property
    def ahttp(self) -> httpx.AsyncClient:
        """HTTP of the event loop that uses it."""
        from app.providers.http.transport import AiohttpTransport

        return httpx.AsyncClient(**self._http_options(), transport=AiohttpTransport())

    @cached_property
    def client(self) -> cohere.ClientV2:
        """The SDK's client that blocks. The first use imports the SDK, which takes seconds."""
        import cohere

        return cohere.ClientV2(
            self._key.get_secret_value(), base_url=self._base_url, timeout=self._seconds, httpx_client=self.http
        )

    @cached_property
    def aclient(self) -> cohere.AsyncClientV2:
        """The SDK's client of an event loop. The first use imports the SDK, which takes seconds."""
        import cohere

        return cohere.AsyncClientV2(
            self._key.get_secret_value(), base_url=self._base_url, timeout=self._seconds, httpx_client=self.ahttp
        )

    async def aclose(self) -> None:
        """Close every connection."""
        self.close()
        if "ahttp" in self.__dict__:
            await self.ahttp.aclose()

    def close(self) -> None:
        """Close the connections that block."""
        if "http" in self.__dict__:
            self.http.close()

    def _http_options(self) -> dict[str, Any]:
        return {
            "base_url": self._base_url,
            "headers": {"Authorization": f"Bearer {self._key.get_secret_value()}"},
            "timeout": self._seconds,
            "follow_redirects": True,
        }


def connect(settings: Settings, setting: str, seconds: float) -> CohereConnection:
    """The connection for the part that *setting* names (``"RERANKER"``). It is not contacted.

    Raises ``ConfigurationError`` when ``COHERE_API_KEY`` is empty.
    """
    if not settings.cohere_api_key.get_secret_value():
        raise ConfigurationError(f"{setting} names a Cohere model, which needs COHERE_API_KEY to be set")
    return CohereConnection(settings.cohere_api_key, settings.cohere_base_url, seconds)
