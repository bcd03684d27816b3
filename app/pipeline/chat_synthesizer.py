"""Synthesize by any LangChain chat model: one completion, a draft with markers ``[k]``."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.pipeline.prompt_budget import fit
from app.pipeline.quoted import harmless
from app.providers.chat.completion import ChatModel
from app.providers.http.error_mapping import chat_error
from graph.ports import Retrieved, TokenSink
from graph.sentences import sentence_spans
from graph.state import Chunk, Draft, Question
from prompts import load_prompt

_REFUSAL = re.compile(
    r"\W*(?:(?:i'?m|i am) sorry\W+(?:but\W+)?)?"
    r"i (?:don'?t|do not) know(?: the answer)?(?: (?:based on|from) [^.]*+)?\W*",
    re.IGNORECASE,
)


class ChatSynthesizer:
    """Asks ``CHAT_MODEL`` to answer from numbered chunks, or documents where it takes them."""

    def __init__(self, chat: ChatModel) -> None:
        self.chat = chat
        self._prompt = load_prompt("answer_documents" if chat.takes_documents else "answer")

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        """Return the draft over *chunks*; its text is empty when the model does not know.

        Raises ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed``.
        """
        chat, prompt = self.chat, self._prompt
        fitted = fit(prompt, question.text, chunks, chat.context_tokens, question.max_tokens)
        blocks = "" if chat.takes_documents else fitted.blocks
        reply = await chat.complete(
            prompt,
            prompt.user(chunks=blocks, question=harmless(question.text)),
            emit,
            deadline=question.deadline,
            max_tokens=fitted.answer_tokens,
            **({"documents": fitted.documents} if chat.takes_documents else {}),
        )
        text = with_markers(reply.text, reply.citations) if chat.takes_documents else reply.text
        if _REFUSAL.fullmatch(text.replace("’", "'")):
            text = ""
        return Draft(text=text, truncated=reply.truncated, dropped_chunks=fitted.dropped)

    async def aprobe(self) -> None:
        """Raise ``SynthesisFailed`` when the model is unreachable; without a probe it counts as reachable."""
        try:
            if self.chat.probe:
                await self.chat.probe()
        except Exception as error:
            raise chat_error(error, self.chat.name) from error

    async def aclose(self) -> None:
        """Close the model's connections."""
        if self.chat.aclose:
            await self.chat.aclose()


def with_markers(text: str, citations: Sequence[Mapping[str, Any]]) -> str:
    """Insert ``[k]`` after each span of *text* that *citations* name; k is the document's id.

    Spans of one sentence that cite the same documents share the last one's marker. Ignores invalid spans and ids.
    """
    starts = [start for start, _ in sentence_spans(text)]
    ends: dict[tuple[int, tuple[int, ...]], int] = {}
    for citation in citations:
        end = citation.get("end")
        ids = [str(source.get("id")).rpartition(":")[2] for source in citation.get("sources") or ()]
        documents = tuple(dict.fromkeys(int(name) for name in ids if name.isdecimal()))
        if isinstance(end, int) and 0 < end <= len(text) and documents:
            key = sum(start < end for start in starts), documents
            ends[key] = max(end, ends.get(key, 0))
    marked = text
    for end, (_, documents) in sorted(((end, key) for key, end in ends.items()), reverse=True):
        marked = f"{marked[:end]} {''.join(f'[{k}]' for k in documents)}{marked[end:]}"
    return marked
