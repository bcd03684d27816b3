"""chromadb's asynchronous HTTP client with time limits, uncontacted until the first call.

``chromadb.AsyncHttpClient`` gives requests no time limit (chroma-core/chroma#5805 ended in ``timeout=None``), and
contacts the server when it is made. ``_get_client`` is its base class's private name, so pyproject.toml pins
chromadb's version.
"""

from http import HTTPStatus

import httpx
from chromadb.api.async_fastapi import AsyncFastAPI
from chromadb.config import Settings, System
from typing_extensions import override

from app.providers.http.transport import AiohttpTransport
from graph.errors import CollectionMissing


class ChromaClient(AsyncFastAPI):
    """A client of one collection. Its requests raise ``CollectionMissing``, or errors of ``httpx``."""

    def __init__(self, url: str, collection: str, seconds: float) -> None:
        """*seconds* limits connecting, and the wait for each part of an answer. Nothing is contacted."""
        # The port is required, and not read where the host is a whole URL.
        settings = Settings(chroma_server_host=url, chroma_server_http_port=0, anonymized_telemetry=False)
        super().__init__(System(settings))
        self.collection = collection
        self._http = httpx.AsyncClient(
            transport=AiohttpTransport(),
            timeout=seconds,
            headers={"Content-Type": "application/json"},
            follow_redirects=True,
            event_hooks={"response": [self._raise_error]},
        )

    async def close(self) -> None:
        await self._http.aclose()

    @override
    def _get_client(self) -> httpx.AsyncClient:
        """Return the one client; ``AiohttpTransport`` serves any number of event loops."""
        return self._http

    async def _raise_error(self, response: httpx.Response) -> None:
        """Raise before chromadb does, whose own errors lack the status."""
        if response.is_error:
            content = await response.aread()
            if response.status_code == HTTPStatus.NOT_FOUND and b'"NotFoundError"' in content:
                raise CollectionMissing(f"The vector store holds no collection named {self.collection!r}.")
            response.raise_for_status()
