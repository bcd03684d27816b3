"""Rewrite follow-up questions with a chat model: the port ``Rewriter``."""

from collections.abc import Sequence

from app.pipeline.prompt_budget import TEMPLATE_TOKENS, tokens
from app.pipeline.quoted import harmless
from app.providers.chat.completion import ChatModel
from graph.errors import SynthesisFailed
from graph.ports import discard
from graph.terms import question_stems
from prompts import load_prompt

REPLY_TOKENS = 200
"""Longest reply: a question."""


class ChatRewriter:
    """Asks the chat model of ``CHAT_MODEL`` for the question in full."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._prompt = load_prompt("standalone")

    async def rewrite(self, question: str, earlier: Sequence[str], deadline: float) -> str:
        """Return *question* complete; see ``graph.ports.Rewriter``.

        Raises ``SynthesisFailed`` also for questions past the model's context, and for a truncated or unrelated reply.
        """
        prompt = self._prompt
        lines = "\n".join(f"- {' '.join(harmless(one).split())}" for one in earlier)
        user = prompt.user(earlier=lines, question=" ".join(harmless(question).split()))
        size = tokens(prompt.system) + tokens(user) + TEMPLATE_TOKENS + REPLY_TOKENS
        if size > self._chat.context_tokens:
            raise SynthesisFailed("The conversation does not fit the chat model's context.")
        reply = await self._chat.complete(prompt, user, discard, deadline=deadline, max_tokens=REPLY_TOKENS)
        rewritten = next((line for line in reply.text.splitlines() if line.strip()), "")
        rewritten = rewritten.removeprefix("Rewritten question:").strip(" \t\"'“”*")
        context_stems = {*question_stems(question), *(stem for one in earlier for stem in question_stems(one))}
        if reply.truncated or context_stems.isdisjoint(question_stems(rewritten)):
            raise SynthesisFailed("The chat model did not rewrite the question.")
        return rewritten
