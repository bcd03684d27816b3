"""What reads the claims of an answer: the shipped reader, another model in a folder, or a chat model as well."""

import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from answering.ports import ClaimReader, ReadingFailed
from answering.types import Passage
from app.pipeline.passages import harmless
from app.providers.chat.chat_model import ChatModel
from app.providers.chat.completion import Completion
from app.providers.chat.models import make_chat_model
from app.providers.rerank.onnx import EntailmentReader
from app.settings import Settings
from graph.errors import ConfigurationError, Overloaded, SynthesisFailed
from prompts import load_prompt

TELLING = frozenset({"ollama", "openai"})
"""Providers whose servers can tell how probable a token is."""
ALTERNATIVES = 5
"""Tokens whose probability is asked for: "Yes", "yes", "No", "no" and one more."""
PLAIN = math.log(9)
"""Log-odds of a plain "Yes", and of "No" with the other sign: taken to be right nine times in ten."""
_EDGE = 1e-4
_VERDICT = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


class ChatVerifier:
    """Asks a chat model whether a passage supports a claim, one short call for each."""

    def __init__(self, chat: ChatModel) -> None:
        self.chat = chat
        self._prompt = load_prompt("verify")
        self._tells = chat.name.partition(":")[0] in TELLING

    async def support(self, claim: str, passage: Passage) -> float:
        """Return the log-odds that *passage* supports *claim*, ±``PLAIN`` where the server gives no probabilities.

        Raises ``ReadingFailed`` when the model fails, has no place in time, or says neither yes nor no.
        """
        document = " ".join(filter(None, (passage.title, *passage.sentences)))
        user = self._prompt.user(document=harmless(document), claim=harmless(claim))
        try:
            try:
                reply = await self._asked(user)
            except SynthesisFailed:
                if not self._tells:
                    raise
                self._tells = False  # as llama.cpp's server refuses, unless it was started to keep all logits
                reply = await self._asked(user)
        except (SynthesisFailed, Overloaded) as error:
            raise ReadingFailed("The chat model did not read the claim.") from error
        return verdict(reply)

    async def _asked(self, user: str) -> Completion:
        options = {"logprobs": True, "top_logprobs": ALTERNATIVES} if self._tells else {}
        deadline = time.monotonic() + self.chat.seconds
        most = 1 if self._tells else 2  # a plain word may begin with a space or a mark
        return await self.chat.complete(self._prompt, user, None, deadline=deadline, max_tokens=most, **options)


def verdict(reply: Completion) -> float:
    """Return the log-odds of "yes" in the first token of *reply*. Raises ``ReadingFailed`` without a yes or no."""
    given = reply.counts.get("logprobs") or ()
    first = [*(given.get("content") or () if isinstance(given, Mapping) else given)][:1]
    probable = {"yes": 0.0, "no": 0.0}
    for token in (token for position in first for token in position.get("top_logprobs") or ()):
        word = token["token"].strip().lower()
        if word in probable:
            probable[word] += math.exp(token["logprob"])
    if any(probable.values()):
        return math.log((probable["yes"] + _EDGE) / (probable["no"] + _EDGE))
    if found := _VERDICT.match(reply.text):
        return PLAIN if found[1].lower() == "yes" else -PLAIN
    raise ReadingFailed("The chat model said neither yes nor no.")


@dataclass(frozen=True, slots=True)
class Verifiers:
    """What reads every claim, what reads again where that one is unsure, and what closes a model of their own."""

    reader: ClaimReader
    second: ClaimReader | None = None
    aclose: Callable[[], Awaitable[None]] | None = None


def make_verifiers(settings: Settings, reader: ClaimReader, chat: ChatModel | None) -> Verifiers:
    """Make what ``VERIFIER`` names, given the shipped *reader* and what answers. Raises ``ConfigurationError``."""
    name = settings.verifier
    if name == "reader":
        return Verifiers(reader)
    if (folder := Path(name).expanduser()).is_dir():
        entailment = EntailmentReader(folder)
        return Verifiers(entailment, aclose=entailment.aclose)
    if name == "model":
        if chat is None:
            raise ConfigurationError("VERIFIER=model needs a CHAT_MODEL that writes the answers")
        return Verifiers(reader, ChatVerifier(chat))
    if ":" not in name:
        raise ConfigurationError(
            f"VERIFIER={name!r} is not allowed: reader, model, provider:model, or a folder with an ONNX cross-encoder"
        )
    try:
        own = make_chat_model(settings.model_copy(update={"chat_model": name}))
    except ConfigurationError as error:
        raise ConfigurationError(str(error).replace("CHAT_MODEL", "VERIFIER")) from error
    return Verifiers(reader, ChatVerifier(own), own.aclose)
