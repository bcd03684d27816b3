"""The synthesizer over any LangChain chat model: prompt, one completion, and a draft with markers ``[k]``."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from langchain_core.messages import HumanMessage, SystemMessage

from app.pipeline.native_citations import with_markers
from app.pipeline.prompt_budget import Fitted, fit
from app.pipeline.quoted import harmless
from app.providers.chat.completion import ChatCompletion
from app.providers.http.error_mapping import chat_error
from graph.errors import ModelUnavailable
from graph.ports import Retrieved, TokenSink
from graph.state import Chunk, Draft, Question
from prompts import Prompt, load_prompt

log = logging.getLogger("garden.synthesis")

_REFUSAL = re.compile(
    r"\W*(?:(?:i'?m|i am) sorry\W+(?:but\W+)?)?"
    r"i (?:don'?t|do not) know(?: the answer)?(?: (?:based on|from) [^.]*+)?\W*",
    re.IGNORECASE,
)


class ChatSynthesizer:
    """Asks a chat model to answer from numbered chunks, or from documents where it takes them (``CHAT_MODEL``)."""

    def __init__(self, completion: ChatCompletion, prompt: Prompt | None = None) -> None:
        self.completion = completion
        name = "answer_documents" if completion.chat.takes_documents else "answer"
        self._prompt = prompt or load_prompt(name)
        self._instructions = SystemMessage(self._prompt.system)

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        """Return the draft over *chunks*; its text is empty when the model says that it does not know.

        Raises ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed``.
        """
        chat = self.completion.chat
        fitted = fit(self._prompt, question.text, chunks, chat.context_tokens, question.max_tokens)
        trace = {"prompt": self._prompt.label, "prompt_sha256": self._prompt.sha256, "dropped_chunks": fitted.dropped}
        log.debug("prompt", extra=trace)
        blocks = "" if chat.takes_documents else fitted.blocks
        reply = await self.completion.complete(
            [
                self._instructions,
                HumanMessage(self._prompt.user(chunks=blocks, question=harmless(question.text))),
            ],
            emit,
            deadline=question.deadline,
            max_tokens=fitted.answer_tokens,
            trace=trace,
            **({"documents": _documents(fitted)} if chat.takes_documents else {}),
        )
        text = with_markers(reply.text, reply.citations) if chat.takes_documents else reply.text
        if _REFUSAL.fullmatch(text.replace("’", "'")):
            text = ""
        return Draft(text=text, truncated=reply.truncated, dropped_chunks=fitted.dropped)

    async def aprobe(self) -> None:
        """Raise ``SynthesisFailed`` when the model is not there.

        Where no cheap call can tell, what the last answers showed counts: an open circuit is a model that is not there.
        """
        chat, circuit = self.completion.chat, self.completion.circuit
        if chat.probe is None:
            if circuit.state != "closed":
                raise ModelUnavailable("The chat model keeps failing.")
            return
        try:
            await chat.probe()
        except Exception as error:
            raise chat_error(error, chat.name) from error

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self.completion.chat.aclose()


def _documents(fitted: Fitted) -> list[dict[str, object]]:
    """The chunks as documents; the id is the chunk's number."""
    numbered = enumerate(zip(fitted.titles, fitted.texts, strict=True), start=1)
    return [{"id": str(k), "data": {"title": title, "text": text}} for k, (title, text) in numbered]
