"""Rerankers by name, each a LangChain ``BaseDocumentCompressor``; ``local`` and ``none`` need none."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx

from app.providers.plugins import find_factory
from app.providers.rerank.onnx import CrossEncoder, OnnxReranker
from app.providers.rerank.scores import HttpReranker, ScoringReranker
from app.settings import Settings, is_address
from graph.errors import ConfigurationError

RERANK_SECONDS = 5.0
"""Total time of Cohere's reranking of one question's candidates, retries included."""


def make_reranker(settings: Settings) -> ScoringReranker:
    """Make the reranker that ``RERANKER`` names; a server is not contacted. Raises ``ConfigurationError``."""
    name = settings.reranker
    provider, _, model = name.partition(":")
    if (folder := Path(name).expanduser()).is_dir():
        return OnnxReranker(model=CrossEncoder(folder))
    factory = FACTORIES.get(provider) or find_factory("rerankers", provider)
    if factory is None or not model.strip():
        raise _refused(settings)
    return factory(settings, model)


def reranker_label(settings: Settings) -> str:
    """Return ``RERANKER`` for public metrics: without a server's address, and of a folder its name."""
    label = re.sub(r"[:@]https?://.*", "", settings.reranker)
    return Path(label).name if Path(label).expanduser().is_dir() else label


def _cohere(settings: Settings, model: str) -> ScoringReranker:
    from app.providers.cohere import cohere_client
    from app.providers.rerank.cohere import CohereReranker

    client, transport = cohere_client(settings, "RERANKER", RERANK_SECONDS)
    return CohereReranker(async_client=client, transport=transport, cohere_api_key=settings.cohere_api_key, model=model)


def _tei(settings: Settings, url: str, model: str | None = None) -> ScoringReranker:
    from app.providers.http.transport import AiohttpTransport

    if not is_address(url) or "@" in url or model == "":
        raise _refused(settings)
    key, seconds = settings.reranker_api_key.get_secret_value(), settings.request_timeout_seconds
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    http = httpx.AsyncClient(base_url=url, headers=headers, timeout=seconds, transport=AiohttpTransport())
    return HttpReranker(http=http, model=model)


def _rerank(settings: Settings, name: str) -> ScoringReranker:
    model, _, url = name.partition("@http")
    return _tei(settings, f"http{url}", model)


def _refused(settings: Settings) -> ConfigurationError:
    shown = re.sub(r"//[^/@]*@", "//(hidden)@", repr(settings.reranker))
    return ConfigurationError(
        f"RERANKER={shown} is not allowed: local, none, a folder with an ONNX cross-encoder, cohere:MODEL, "
        "tei:http://HOST:PORT or rerank:MODEL@http://HOST:PORT/v1"
    )


FACTORIES: dict[str, Callable[[Settings, str], ScoringReranker]] = {"cohere": _cohere, "tei": _tei, "rerank": _rerank}
"""Provider -> factory; a folder needs none."""
