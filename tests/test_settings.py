"""What the settings mean together."""

from __future__ import annotations

import pytest

from app.settings import load_settings


@pytest.mark.parametrize(
    ("given", "chat"),
    [
        ({}, "extractive"),
        ({"ollama_model": "mistral:7b"}, "ollama:mistral:7b"),
        ({"chat_model": "ollama"}, "ollama:llama3.2:1b"),
        ({"chat_model": "ollama", "ollama_model": "mistral:7b"}, "ollama:mistral:7b"),
        ({"chat_model": "cohere:command-r7b-12-2024", "ollama_model": "mistral:7b"}, "cohere:command-r7b-12-2024"),
        ({"cohere_api_key": "key"}, "extractive"),
    ],
)
def test_which_chat_model_is_in_use(given: dict[str, str], chat: str) -> None:
    """CHAT_MODEL decides, OLLAMA_MODEL alone means Ollama, ``ollama`` alone its documented model, a key nothing."""
    assert load_settings(**given).chat == chat


def test_secrets_do_not_show_in_repr() -> None:
    """No secret is in the settings' repr."""
    shown = repr(load_settings(cohere_api_key="s3cret-a", qdrant_api_key="s3cret-b", api_keys="s3cret-c"))
    assert "s3cret" not in shown
