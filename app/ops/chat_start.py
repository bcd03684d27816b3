"""Load the chat model when a server starts, and say what the operator should know about it."""

import logging
from typing import Any

import httpx

from app.pipeline.passages import MIN_PASSAGE_TOKENS, reading_tokens
from app.providers.chat.chat_model import ChatModel
from graph.errors import ModelUnavailable, SynthesisFailed

PROBE_SECONDS = 1.0
"""Time to look for an Ollama where no chat model is set."""
MAX_NAMED = 8
log = logging.getLogger("garden.chat")


async def load_chat_model(chat: ChatModel, ollama_host: str) -> None:
    """Load *chat*, and log its pace, that it is too slow, or that it cannot be reached."""
    try:
        await chat.loader.load()
    except SynthesisFailed as error:
        fields: dict[str, Any] = {"model": chat.name, "reason": error.message}
        provider, _, model = chat.name.partition(":")
        if isinstance(error, ModelUnavailable) and provider == "ollama" and (names := await model_names(ollama_host)):
            fields |= {"there_are": ", ".join(names[:MAX_NAMED]), "do": f"ollama pull {model}"}
        log.warning("chat_model_unavailable", extra=fields)
        return
    if not chat.pace.read_rate:
        return
    fields = {"model": chat.name, "reads_tokens_per_second": round(chat.pace.read_rate), "seconds": chat.seconds}
    if reading_tokens(chat) < 1.5 * MIN_PASSAGE_TOKENS:
        do = "raise OLLAMA_TIMEOUT_SECONDS, or choose a smaller model; until then the passages answer"
        log.warning("chat_model_too_slow", extra={**fields, "do": do})
    else:
        log.info("chat_model_loaded", extra=fields)


async def suggest_chat_model(ollama_host: str) -> None:
    """Where an Ollama answers though no chat model is set, say which of its models could write the answers."""
    names = [name for name in await model_names(ollama_host) if "embed" not in name]
    if names:
        fields = {"address": ollama_host, "models": ", ".join(names[:MAX_NAMED])}
        log.info("ollama_found", extra={**fields, "do": f"CHAT_MODEL=ollama:{names[0]} lets it write the answers"})


async def model_names(ollama_host: str) -> list[str]:
    """Return the models of the Ollama at *ollama_host*; none where it does not answer."""
    try:
        async with httpx.AsyncClient(timeout=PROBE_SECONDS) as client:
            models = (await client.get(f"{ollama_host}/api/tags")).raise_for_status().json()["models"]
            return [str(model["name"]) for model in models]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        return []
