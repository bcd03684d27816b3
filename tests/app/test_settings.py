"""What the settings mean together."""

from __future__ import annotations

import pytest

from app.settings import load_settings
from graph.errors import ConfigurationError


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


@pytest.mark.parametrize(
    ("name", "address"),
    [
        (name, address)
        for name in ("ollama_host", "qdrant_url", "vector_store_url", "cohere_base_url")
        for address in (
            "http://",
            "http:///path",
            "https://:8080",
            "http://host:99999",
            "host:1",
            " http://h",
            "host:x",
        )
        if (name, address) != ("ollama_host", "host:1")
    ],
)
def test_an_address_names_a_host(name: str, address: str) -> None:
    """An address without a host, or with a port that is none, is refused at start; the line names setting and value."""
    with pytest.raises(ConfigurationError) as raised:
        load_settings(**{name: address})
    assert name.upper() in raised.value.message
    assert address.rstrip("/") in raised.value.message


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("gpu.example", "http://gpu.example:11434"),
        ("gpu.example/", "http://gpu.example:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("https://gpu.example/", "https://gpu.example"),
    ],
)
def test_ollamas_host_may_be_written_as_for_ollama_itself(given: str, address: str) -> None:
    """The variable is Ollama's own, whose form has no scheme and may have no port; a whole address stays what it is."""
    assert load_settings(ollama_host=given).ollama_host == address
