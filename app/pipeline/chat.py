"""What any LangChain chat model does for the graph: answers with markers ``[k]``, and follow-up questions in full."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from answering.text.sentences import sentence_spans
from answering.text.terms import question_stems
from answering.types import Chunk, SubqueryResults
from app.pipeline.prompt_parts import TEMPLATE_TOKENS, fit, harmless, tokens
from app.providers.chat.completion import ChatModel
from app.providers.http.error_mapping import chat_error
from graph.errors import SynthesisFailed
from graph.ports import TokenSink, discard
from graph.state import Draft, Question
from prompts import load_prompt

REPLY_TOKENS = 200
"""Longest reply of a rewriting: a question."""
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
        self, question: Question, chunks: Sequence[Chunk], retrieved: Sequence[SubqueryResults], emit: TokenSink
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
