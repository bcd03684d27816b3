"""What any LangChain chat model does for the graph: drafts with citations, and follow-up questions in full."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from answering.markers.draft import read_draft
from answering.markers.marked_text import MarkerStream
from answering.text.sentences import sentence_spans
from answering.text.terms import question_stems
from answering.types import Chunk, CitedSentence, Draft, Question, Source, SubqueryResults, TokenCallback
from app.pipeline.passages import TEMPLATE_TOKENS, choose_passages, harmless, tokens
from app.providers.chat.chat_model import ChatModel
from graph.errors import SynthesisFailed
from prompts import Prompt, load_prompt

REPLY_TOKENS = 200
"""Longest reply of a rewriting: a question."""
RECITED_WORDS = 6
"""Words of the prompt in a row that no passage has: a sentence with these recites the prompt."""
_STRUCTURED = re.compile(r"\s*(?:```|\{)")
"""The beginning of a reply in JSON or in a fence, of which nothing can be shown before it is complete."""


class ChatSynthesizer:
    """Asks ``CHAT_MODEL`` to answer from numbered passages, or documents where it takes them."""

    def __init__(self, chat: ChatModel) -> None:
        self.chat = chat
        self._prompt = load_prompt("answer_documents" if chat.takes_documents else "answer")
        chat.loader.instructions = self._prompt.system

    async def synthesize(
        self,
        question: Question,
        chunks: Sequence[Chunk],
        retrieved: Sequence[SubqueryResults],
        emit: TokenCallback | None,
    ) -> Draft:
        """Return the draft over *chunks*; it has no sentence where the model does not know, or is too slow to read.

        Raises ``ModelLoading``, ``Overloaded``, ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed``.
        """
        chat, prompt = self.chat, self._prompt
        await chat.until_loaded(question.deadline)
        given = choose_passages(chat, prompt, question.text, chunks, question.max_tokens)
        if given is None:
            chat.measure_again()
            return Draft(dropped_chunks=len(chunks), by_model=True)
        shown = chunks[: len(given.passages)]
        stream = None if emit is None else TokenStream(shown, emit)
        reply = await chat.complete(
            prompt,
            prompt.user(chunks="" if chat.takes_documents else given.blocks, question=harmless(question.text)),
            stream.feed if stream else None,
            deadline=question.deadline,
            max_tokens=given.answer_tokens,
            **({"documents": given.documents} if chat.takes_documents else {}),
        )
        if stream:
            await stream.close()
        if reply.citations:
            sentences = sentences_with(reply.text, reply.citations, len(shown))
        else:
            sentences = read_draft(reply.text, shown, truncated=reply.truncated)
        kept = tuple(sentence for sentence in sentences if not recites(sentence.text, prompt, shown))
        return Draft(kept, dropped_chunks=given.dropped, by_model=True)


class TokenStream:
    """Passes a reply on as it comes, with citations numbered by document; nothing of one in JSON or a fence."""

    def __init__(self, chunks: Sequence[Chunk], emit: TokenCallback) -> None:
        self._markers = MarkerStream(chunks)
        self._emit = emit
        self._held: str | None = ""

    async def feed(self, text: str) -> None:
        if self._held is not None:
            self._held += text
            if not self._held.strip() or _STRUCTURED.match(self._held):
                return
            text, self._held = self._held, None
        if shown := self._markers.feed(text):
            await self._emit(shown)

    async def close(self) -> None:
        """Pass on what was held back, unless it is structured."""
        if self._held is None and (rest := self._markers.close()):
            await self._emit(rest)


def sentences_with(text: str, citations: Sequence[Mapping[str, Any]], count: int) -> tuple[CitedSentence, ...]:
    """Cut *text* into sentences, each with the spans of it that *citations* name; ids count documents from 1.

    Ignores invalid spans, and ids that none of *count* documents has.
    """
    found: list[tuple[int, int]] = []
    for citation in citations:
        end = citation.get("end")
        ids = [str(source.get("id")).rpartition(":")[2] for source in citation.get("sources") or ()]
        numbers = [int(name) - 1 for name in ids if name.isdecimal()]
        if isinstance(end, int) and 0 < end <= len(text):
            found += [(end, number) for number in dict.fromkeys(numbers) if 0 <= number < count]
    sentences = []
    before = 0
    for start, end in sentence_spans(text):
        last: dict[int, int] = {}
        for position, number in found:
            if start < position <= end:
                last[number] = max(position, last.get(number, 0))
        sources = sorted((position - start, number) for number, position in last.items())
        cited = tuple(Source((number,), position) for position, number in sources)
        sentences.append(CitedSentence(text[start:end], cited, text[before:start]))
        before = end
    return tuple(sentences)


def recites(sentence: str, prompt: Prompt, chunks: Sequence[Chunk]) -> bool:
    """Whether *sentence* has ``RECITED_WORDS`` words of the instructions in a row that no passage has."""
    words = _lower_words(sentence)
    runs = {" ".join(words[at : at + RECITED_WORDS]) for at in range(len(words) - RECITED_WORDS + 1)}
    instructions = " ".join(_lower_words(prompt.system))
    recited = [run for run in runs if run in instructions]
    passages = [" ".join(_lower_words(chunk.text)) for chunk in chunks] if recited else []
    return any(not any(run in passage for passage in passages) for run in recited)


def _lower_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class ChatRewriter:
    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._prompt = load_prompt("standalone")

    async def rewrite(self, question: str, earlier: Sequence[str], deadline: float) -> str:
        """Return *question* complete; see ``graph.ports.Rewriter``.

        Raises ``SynthesisFailed`` also for questions past the model's context, and for a truncated or unrelated reply.
        """
        prompt = self._prompt
        lines = "\n".join(f"- {' '.join(harmless(question).split())}" for question in earlier)
        user = prompt.user(earlier=lines, question=" ".join(harmless(question).split()))
        size = tokens(prompt.system) + tokens(user) + TEMPLATE_TOKENS + REPLY_TOKENS
        if size > self._chat.context_tokens:
            raise SynthesisFailed("The conversation does not fit the chat model's context.")
        reply = await self._chat.complete(prompt, user, None, deadline=deadline, max_tokens=REPLY_TOKENS)
        rewritten = next((line for line in reply.text.splitlines() if line.strip()), "")
        rewritten = rewritten.removeprefix("Rewritten question:").strip(" \t\"'“”*")
        context_stems = {stem for text in (question, *earlier) for stem in question_stems(text)}
        if reply.truncated or context_stems.isdisjoint(question_stems(rewritten)):
            raise SynthesisFailed("The chat model did not rewrite the question.")
        return rewritten
