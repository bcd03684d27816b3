"""Chat models by name; vendor packages are imported only when chosen."""

import math
from collections.abc import Callable
from typing import Any

import httpx
from pydantic import SecretStr

from app.providers.chat.chat_model import ChatModel
from app.providers.chat.loading import LOAD_SECONDS
from app.providers.chat.model_queue import ModelQueue, SharedPlaces
from app.providers.plugins import find_factory
from app.settings import Settings
from graph.errors import ConfigurationError

TOP_P = 0.9
OPENAI_PLACES = 32
"""Questions at a time for a server that is not one's own: its rate limit decides."""
COHERE_CONTEXT = 128_000
"""Tokens of context of Cohere's command models (docs.cohere.com, "Models")."""


def make_chat_model(settings: Settings) -> ChatModel:
    """Make the chat model that ``CHAT_MODEL`` (or ``OLLAMA_MODEL``) names. It is not contacted.

    Raises ``ConfigurationError`` when the name is not ``provider:model``, or its package or key is missing.
    """
    provider, _, model = settings.chat.partition(":")
    if not provider or not model.strip():
        raise ConfigurationError(f"CHAT_MODEL={settings.chat!r} is not allowed: extractive, or provider:model")
    factory = FACTORIES.get(provider) or find_factory("chat_models", provider) or _any_langchain
    chat = factory(settings, model)
    if settings.workers > 1:
        chat.queue = ModelQueue(chat.places, SharedPlaces(settings.data_dir / "model-places", chat.places))
    return chat


def _ollama(settings: Settings, model: str) -> ChatModel:
    from langchain_ollama import ChatOllama
    from ollama import AsyncClient

    from app.providers.http.transport import AiohttpTransport

    # httpx's own pool loses the connections of cancelled requests. The timeout is per read, and loading may
    # take long; ChatModel keeps the total. ChatOllama has no call for a probe, and its own client is private.
    transport = AiohttpTransport()
    timeout = {"timeout": httpx.Timeout(LOAD_SECONDS, connect=settings.ollama_timeout_seconds)}
    chat = ChatOllama(
        model=model,
        base_url=settings.ollama_host,
        temperature=settings.ollama_temperature,
        reasoning=False,
        keep_alive=-1 if math.isinf(settings.keep_alive_seconds) else round(settings.keep_alive_seconds),
        client_kwargs=timeout,
        async_client_kwargs={"transport": transport},
    )
    address = httpx.URL(settings.ollama_host)
    credentials = (address.username, address.password) if address.userinfo else None
    prober = AsyncClient(settings.ollama_host, transport=transport, auth=credentials, **timeout)
    context_tokens = settings.ollama_context_tokens
    options = {"temperature": settings.ollama_temperature, "top_p": TOP_P, "num_ctx": context_tokens}
    return ChatModel(
        settings.chat,
        chat,
        context_tokens,
        settings.ollama_timeout_seconds,
        lambda limit: {"options": {**options, "num_predict": limit}},
        gives_reason=True,
        in_one_piece={"stream": False},  # without an event for each token
        probe=lambda: prober.show(model),
        aclose=transport.aclose,
        places=settings.ollama_num_parallel,
        keep_alive=settings.keep_alive_seconds,
        reads_on=True,
    )


def _cohere(settings: Settings, model: str) -> ChatModel:
    from app.providers.cohere import NO_RETRIES, CitingChatCohere, cohere_client

    client, transport = cohere_client(settings, "CHAT_MODEL", settings.ollama_timeout_seconds)
    chat = CitingChatCohere(
        model=model, cohere_api_key=settings.cohere_api_key, temperature=settings.ollama_temperature
    )
    chat.async_client = client  # ChatCohere makes its own in any case: with httpx's pool
    return ChatModel(
        settings.chat,
        chat,
        COHERE_CONTEXT,
        settings.ollama_timeout_seconds,
        lambda limit: {"max_tokens": limit, "p": TOP_P},
        gives_reason=True,
        takes_documents=True,
        probe=lambda: client.models.get(model, request_options=NO_RETRIES),
        aclose=transport.aclose,
    )


def _openai(settings: Settings, model: str) -> ChatModel:
    try:
        from langchain_openai import ChatOpenAI
    except ImportError as error:
        package = "pip install 'knowledge-garden[openai]'"
        raise ConfigurationError(f"CHAT_MODEL={settings.chat!r} needs a package: {package}") from error
    from app.providers.http.transport import AiohttpTransport

    own = bool(settings.openai_base_url)  # one's own server, which has to load its model; OpenAI's need not
    if not own and not settings.openai_api_key.get_secret_value():
        raise ConfigurationError(f"CHAT_MODEL={settings.chat!r} needs OPENAI_BASE_URL or OPENAI_API_KEY")
    # httpx's own pool loses the connections of cancelled requests.
    timeout = httpx.Timeout(LOAD_SECONDS, connect=settings.ollama_timeout_seconds)
    client = httpx.AsyncClient(transport=AiohttpTransport(), timeout=timeout)
    key = settings.openai_api_key if settings.openai_api_key.get_secret_value() else SecretStr("none")
    options: dict[str, Any] = {
        "model": model,
        "base_url": settings.openai_base_url or None,
        "api_key": key,
        "temperature": settings.ollama_temperature,
        "max_retries": 0,  # retries are ours: the vendor's would multiply them
        "stream_usage": True,
        "http_async_client": client,
    }
    chat = ChatOpenAI(**options)
    return ChatModel(
        settings.chat,
        chat,
        settings.ollama_context_tokens,
        settings.ollama_timeout_seconds,
        gives_reason=True,
        probe=lambda: chat.root_async_client.models.list(),
        aclose=client.aclose,
        places=settings.ollama_num_parallel if own else OPENAI_PLACES,
        keep_alive=math.inf if own else None,
    )


def _any_langchain(settings: Settings, model: str) -> ChatModel:
    from langchain.chat_models import init_chat_model

    name = settings.chat
    provider = name.partition(":")[0]
    options: dict[str, Any] = {"model_provider": provider, "temperature": settings.ollama_temperature}
    try:
        chat = init_chat_model(model, **options)
        if "max_retries" in type(chat).model_fields:  # retries are ours: the vendor's would multiply them
            chat = init_chat_model(model, max_retries=0, **options)
    except ImportError as error:
        package = str(getattr(error.__cause__, "name", None) or f"langchain-{provider}").replace("_", "-")
        raise ConfigurationError(f"CHAT_MODEL={name!r} needs a package: pip install {package}") from error
    except Exception as error:  # a vendor's own class too, mostly for a missing key
        raise ConfigurationError(
            f"CHAT_MODEL={name!r} cannot be used: no such provider, or its key is not set"
        ) from error
    profile = getattr(chat, "profile", None) or {}
    context_tokens = int(profile.get("max_input_tokens") or settings.ollama_context_tokens)
    return ChatModel(name, chat, context_tokens, settings.ollama_timeout_seconds)


FACTORIES: dict[str, Callable[[Settings, str], ChatModel]] = {"ollama": _ollama, "openai": _openai, "cohere": _cohere}
"""Provider -> factory; any other name goes to LangChain's own ``init_chat_model``."""
