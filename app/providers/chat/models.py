"""Chat models by name: one function and one table line each. Vendor packages are imported only when chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from app.providers.chat.completion import ChatCompletion
from app.providers.chat.model import ChatModel
from app.providers.http.circuit import Circuit
from app.providers.http.retry import Retry
from app.settings import Settings
from graph.errors import ConfigurationError

EXTRACTIVE = "extractive"
TOP_P = 0.9
RETRY_ONCE = Retry(attempts=2)
"""A chat model is tried twice in all: its time is short, and a second full wait would not fit."""

COHERE_CONTEXT = 128_000
"""Tokens of context of Cohere's command models (docs.cohere.com, "Models")."""


def make_completion(settings: Settings) -> ChatCompletion:
    """The chat model of the settings, with its time limit, its retry and its circuit. Raises ``ConfigurationError``."""
    return ChatCompletion(
        make_chat_model(settings),
        seconds=settings.ollama_timeout_seconds,
        retry=RETRY_ONCE,
        circuit=Circuit("chat_model"),
    )


def make_chat_model(settings: Settings) -> ChatModel:
    """The chat model that ``CHAT_MODEL`` (or ``OLLAMA_MODEL``) names. It is not contacted.

    Raises ``ConfigurationError`` when the name is not ``provider:model``, or its package or key is missing.
    """
    provider, _, model = settings.chat.partition(":")
    if not provider or not model.strip():
        raise ConfigurationError(f"CHAT_MODEL={settings.chat!r} is not allowed: {EXTRACTIVE}, or provider:model")
    return FACTORIES.get(provider, _any_langchain)(settings, settings.chat)


def _ollama(settings: Settings, name: str) -> ChatModel:
    import httpx

    from app.providers.chat.ollama import OllamaChat

    # The timeout is per read; ChatCompletion keeps the total. One context for both of the package's clients, each of
    # which would read the certificates of all authorities.
    clients = {"timeout": settings.ollama_timeout_seconds, "verify": httpx.create_ssl_context()}
    model = OllamaChat(
        model=name.partition(":")[2],
        base_url=settings.ollama_host,
        num_ctx=settings.ollama_context_tokens,
        temperature=settings.ollama_temperature,
        top_p=TOP_P,
        reasoning=False,
        client_kwargs=clients,
    )

    def options(limit: int) -> Mapping[str, Any]:
        sampling = {"temperature": settings.ollama_temperature, "top_p": TOP_P}
        return {"options": {**sampling, "num_ctx": settings.ollama_context_tokens, "num_predict": limit}}

    return ChatModel(
        name,
        model,
        settings.ollama_context_tokens,
        options,
        says_when_done=True,
        reply=model.areply,
        probe=model.ashow,
        aclose=model.aclose,
    )


def _cohere(settings: Settings, name: str) -> ChatModel:
    from app.providers.chat.cohere import CohereChat
    from app.providers.http.cohere_client import connect

    connection = connect(settings, "CHAT_MODEL", settings.ollama_timeout_seconds)
    model = CohereChat(
        connection=connection, model=name.partition(":")[2], temperature=settings.ollama_temperature, p=TOP_P
    )
    return ChatModel(name, model, COHERE_CONTEXT, says_when_done=True, takes_documents=True, aclose=connection.aclose)


def _any_langchain(settings: Settings, name: str) -> ChatModel:
    from langchain.chat_models import init_chat_model

    provider, _, model = name.partition(":")
    try:
        made = init_chat_model(model, model_provider=provider, temperature=settings.ollama_temperature)
        if "max_retries" in type(made).model_fields:  # retries are ours: the vendor's would multiply them
            made = init_chat_model(
                model, model_provider=provider, temperature=settings.ollama_temperature, max_retries=0
            )
    except ImportError as error:
        package = str(getattr(error.__cause__, "name", None) or f"langchain-{provider}").replace("_", "-")
        raise ConfigurationError(f"CHAT_MODEL={name!r} needs a package: pip install {package}") from error
    except Exception as error:
        if isinstance(error, ValueError) and not isinstance(error, ValidationError):
            raise ConfigurationError(f"CHAT_MODEL={name!r} is not allowed: LangChain knows no such provider") from error
        raise ConfigurationError(f"CHAT_MODEL={name!r} cannot be set up: is its key set?") from error
    profile = getattr(made, "profile", None) or {}
    return ChatModel(name, made, int(profile.get("max_input_tokens") or settings.ollama_context_tokens))


FACTORIES: dict[str, Callable[[Settings, str], ChatModel]] = {
    "ollama": _ollama,
    "cohere": _cohere,
}
"""Provider -> maker; any other name goes to LangChain's own ``init_chat_model``."""
