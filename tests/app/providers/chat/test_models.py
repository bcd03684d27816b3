"""Chat models by name: what is allowed, what is missing, and that nothing is loaded that is not chosen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.providers.chat.models import COHERE_CONTEXT, make_chat_model
from app.settings import load_settings
from graph.errors import ConfigurationError

COMMAND = "cohere:command-r7b-12-2024"


@pytest.mark.parametrize(
    ("settings", "name", "context"),
    [
        ({"chat_model": "ollama:llama3.2:1b"}, "ollama:llama3.2:1b", 4096),
        ({"ollama_model": "mistral:7b", "ollama_context_tokens": 8192}, "ollama:mistral:7b", 8192),
        ({"chat_model": COMMAND, "cohere_api_key": "k"}, COMMAND, COHERE_CONTEXT),
    ],
)
def test_names(settings: dict[str, Any], name: str, context: int) -> None:
    """``CHAT_MODEL``, or ``OLLAMA_MODEL`` alone, names the model; a colon in the model's own name is no matter."""
    made = make_chat_model(load_settings(**settings))
    assert (made.name, made.context_tokens) == (name, context)


@pytest.mark.parametrize(
    ("settings", "reported"),
    [
        ({"chat_model": "llama3.2"}, "provider:model"),
        ({"chat_model": "ollama:"}, "provider:model"),
        ({"chat_model": ":x"}, "provider:model"),
        ({"chat_model": "extractive"}, "provider:model"),
        ({"chat_model": "nosuch:model"}, "no such provider"),
        ({"chat_model": "openai:gpt-4o-mini"}, "OPENAI_BASE_URL or OPENAI_API_KEY"),
        ({"chat_model": COMMAND}, "COHERE_API_KEY"),
    ],
)
def test_what_cannot_be_used_is_reported_in_a_line(settings: dict[str, str], reported: str) -> None:
    """A wrong name, a missing package and a missing key stop the start, each with what to do."""
    with pytest.raises(ConfigurationError, match=reported) as caught:
        make_chat_model(load_settings(**settings))
    assert "\n" not in caught.value.message


def test_a_model_is_not_contacted_when_it_is_made() -> None:
    """A server that is down does not stop the start."""
    made = make_chat_model(load_settings(ollama_model="m", ollama_host="http://127.0.0.1:1"))
    assert made.spent == {"input": 0, "output": 0}


def test_vendors_are_loaded_only_when_chosen() -> None:
    """Reading the table loads no vendor's package; choosing Ollama does not load Cohere's."""
    code = (
        "import sys; from app.providers.chat import models; import app.providers.rerank.models\n"
        "assert not {'ollama', 'langchain_ollama', 'cohere', 'langchain_cohere'} & set(sys.modules)\n"
        "from app.settings import load_settings\n"
        "models.make_chat_model(load_settings(chat_model='ollama:m'))\n"
        "assert not {'cohere', 'langchain_cohere'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


PACKAGE = """
from langchain_core.language_models import FakeListChatModel


class ChatGroq(FakeListChatModel):
    model: str
    temperature: float
    max_retries: int = 2
    responses: list[str] = []
    profile: dict[str, int] = {"max_input_tokens": 131072}

    def model_post_init(self, context):
        if self.model == "keyless":
            raise RuntimeError("GROQ_API_KEY is not set")
"""


@pytest.fixture
def groq(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An integration package of LangChain's that is installed: here, one we wrote."""
    (tmp_path / "langchain_groq.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("groq")
def test_any_provider_whose_package_is_there() -> None:
    """It is made with our temperature and without retries of its own; its profile tells the context."""
    made = make_chat_model(load_settings(chat_model="groq:llama"))
    assert (made.model.temperature, made.model.max_retries) == (0.1, 0)  # type: ignore[attr-defined]
    assert (made.name, made.context_tokens) == ("groq:llama", 131072)
    assert made.options(7) == {"max_tokens": 7}


@pytest.mark.usefixtures("groq")
def test_a_provider_that_cannot_be_set_up_is_reported() -> None:
    """A package that refuses to start, for want of a key as a rule, stops the start with one line of ours."""
    with pytest.raises(ConfigurationError, match="its key is not set") as caught:
        make_chat_model(load_settings(chat_model="groq:keyless"))
    assert "GROQ" not in caught.value.message


def test_no_key_in_a_repr() -> None:
    """Printing a chat model shows no key."""
    made = make_chat_model(load_settings(chat_model=COMMAND, cohere_api_key="secret-key-1"))
    assert "secret-key-1" not in f"{made!r} {made.model!r}"
