"""What a synthesizer needs to know of a chat model beside how to call it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages.ai import UsageMetadata

Options = Callable[[int], Mapping[str, Any]]
"""How one call is told to write at most so many tokens: the keyword arguments of ``BaseChatModel.astream``."""


@dataclass(frozen=True, slots=True)
class WholeReply:
    """A reply that came at once: of an ``AIMessageChunk``, which is dear to make, what is read of one here."""

    text: str
    response_metadata: Mapping[str, Any]
    usage_metadata: UsageMetadata | None = None
    additional_kwargs: Mapping[str, Any] = field(default_factory=dict)


Reply = Callable[..., Awaitable[WholeReply]]
"""Takes the messages, and as keywords what ``options`` made."""


def max_tokens(limit: int) -> Mapping[str, Any]:
    """The keyword most LangChain models take."""
    return {"max_tokens": limit}


async def _nothing_to_close() -> None:
    return None


@dataclass(frozen=True, slots=True)
class ChatModel:
    """Any LangChain chat model, and its habits.

    ``context_tokens`` is the window that prompt and answer share. ``says_when_done``: its streams end with a reason, so
    that one without was broken off. ``takes_documents``: it is given the chunks as ``documents`` and cites them with
    spans of its own (``additional_kwargs["citations"]``), where others are given them in the prompt and write markers.
    ``reply`` gives a whole reply at once, cheaper than ``model`` does, for a caller who shows nobody how it comes and
    whom no tracer watches.
    ``probe`` is a cheap call that raises when the model is not there (None: nothing cheap is known).
    """

    name: str
    model: BaseChatModel
    context_tokens: int
    options: Options = max_tokens
    says_when_done: bool = False
    takes_documents: bool = False
    reply: Reply | None = None
    probe: Callable[[], Awaitable[None]] | None = None
    aclose: Callable[[], Awaitable[None]] = _nothing_to_close
