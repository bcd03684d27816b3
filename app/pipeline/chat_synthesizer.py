"""The synthesizer over any LangChain chat model: prompt, one completion, and a draft with markers ``[k]``."""

import re
from collections.abc import Sequence

from app.pipeline.prompt_budget import fit
from app.pipeline.quoted import harmless
from app.providers.chat.completion import ChatModel
from app.providers.http.error_mapping import chat_error
from graph.ports import Retrieved, TokenSink
from graph.state import Chunk, Draft, Question
from prompts import load_prompt

_REFUSAL = re.compile(
    r"\W*(?:(?:i'?m|i am) sorry\W+(?:but\W+)?)?"
    r"i (?:don'?t|do not) know(?: the answer)?(?: (?:based on|from) [^.]*+)?\W*",
    re.IGNORECASE,
)


class ChatSynthesizer:
    """Asks the chat model of ``CHAT_MODEL`` to answer from numbered chunks."""

    def __init__(self, chat: ChatModel) -> None:
        self.chat = chat
        self._prompt = load_prompt("answer")

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        """Return the draft over *chunks*; its text is empty when the model says that it does not know.

        Raises ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed``.
        """
        chat, prompt = self.chat, self._prompt
        fitted = fit(prompt, question.text, chunks, chat.context_tokens, question.max_tokens)
        reply = await chat.complete(
            prompt,
            prompt.user(chunks=fitted.blocks, question=harmless(question.text)),
            emit,
            deadline=question.deadline,
            max_tokens=fitted.answer_tokens,
        )
        text = "" if _REFUSAL.fullmatch(reply.text.replace("’", "'")) else reply.text
        return Draft(text=text, truncated=reply.truncated, dropped_chunks=fitted.dropped)

    async def aprobe(self) -> None:
        """Raise ``SynthesisFailed`` when the model is not there; a model without a cheap call counts as there."""
        try:
            if self.chat.probe:
                await self.chat.probe()
        except Exception as error:
            raise chat_error(error, self.chat.name) from error

    async def aclose(self) -> None:
        """Close the model's connections."""
        if self.chat.aclose:
            await self.chat.aclose()
