"""Take a chat model's thoughts and control tokens out of its text, complete or as a stream.

The tags are those of the common families: DeepSeek and Qwen (``<think>``), Mistral (``[THINK]``), Kimi (``◁think▷``),
OpenAI's gpt-oss (harmony channels), Gemma (``<|channel>thought``), Cohere (``<|START_THINKING|>``), ByteDance's Seed
(``<seed:think>``), MiniMax (``<mm:think>``), and what prompts for reasoning ask for. A tag in backticks is content.
"""

import re

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "seed:think", "mm:think")
_WORDS = ("analysis", "reason", "scratchpad")
"""Names of tags that documents may have as well: they hold thoughts only where the reply begins with them."""
_BEGINNING = tuple(f"<{name}>" for name in _WORDS)
_ENDING = tuple(f"</{name}>" for name in _WORDS)
OPENING = (
    *(f"<{name}{space}>" for name in _NAMES for space in ("", " ")),
    *_BEGINNING,
    *"[think] ◁think▷ <|begin_of_thought|> <|start_thinking|> <|thinking|> <|channel>thought <unused94>".split(),
    *"<|channel|>analysis <|channel|>commentary".split(),
)
CLOSING = (
    *(f"</{name}{space}>" for name in _NAMES for space in ("", " ")),
    *"[/think] ◁/think▷ <|end_of_thought|> <|end_thinking|> <|/thinking|> <channel|> <unused95>".split(),
    "<|channel|>final<|message|>",
)
_HEADER = "<|channel|>final"
"""Opens a header of harmony, as in ``<|channel|>final <|constrain|>json<|message|>``; ends what was thought before."""
_MESSAGE = "<|message|>"
CONTROL = (
    *"<|start|>assistant <|end|> <|return|> <|message|> <|im_start|>assistant <|im_end|>".split(),
    *"<|start_header_id|>assistant<|end_header_id|> <|eot_id|> <|begin_of_text|> <|end_of_text|> <|endoftext|>".split(),
    *"<|assistant|> <start_of_turn>model <end_of_turn> <|end_of_turn|> <bos> <eos> </s> [/inst]".split(),
    *"<|begin_of_solution|> <|end_of_solution|> <|start_response|> <|end_response|>".split(),
)
"""Tokens that belong to a template and are never content."""
TURNS = ("<|im_start|>user", "<|start_header_id|>user", "<start_of_turn>user", "<|start|>user", "<|user|>", "[inst]")
"""Begin a turn of the reader, which the model made up where it stands behind its answer."""
_TAGS = sorted((*OPENING, *CLOSING, *_ENDING, _HEADER, *CONTROL, *TURNS), key=len, reverse=True)
_FIRST = frozenset(tag[0] for tag in _TAGS)
_LONGEST = len(_TAGS[0])
_NEVER = ("",)
"""No tag ends what is hidden."""
_WRAPPED = re.compile(r"<(?P<tag>answer|response|output)>(?P<inside>.*?)(?:</(?P=tag)>)?", re.DOTALL | re.IGNORECASE)
_ROLE = re.compile(
    r"#{1,4} *(?:response|output|assistant|(?:final )?answer):? *\n+|(?:response|output): *\n+"
    r"|(?P<bold>\*\*)?(?:assistant|(?:final )?answer):(?(bold)\*\*)\s+(?:\|\s*\n\s*)?",
    re.IGNORECASE,
)
_TURN = re.compile(r"(?<=[.!?\])])\s*\n(?:(?:User|Human):[^\n]*\n\s*(?:Assistant|AI):|#{2,4} (?:Instruction|Input):)")


class ThoughtFilter:
    """Removes thoughts from a streamed text; an unclosed thought removes the rest."""

    def __init__(self) -> None:
        self._pending = ""
        self._before = ""  # the character before what is pending
        self._last = ""  # the last character shown that is no white space
        self._until: tuple[str, ...] = ()  # the tags that end what is hidden

    def feed(self, piece: str, *, final: bool = False) -> str:
        """Return what may be shown now; unless *final*, hold back what may become a tag."""
        self._pending += piece
        shown = ""
        at = 0
        while at < len(self._pending):
            tag = self._tag_at(at, final=final)
            if tag is None:
                break
            if tag:
                shown += self._taken(at)
                self._until = self._hidden_until(tag)
                self._before, self._pending, at = tag[-1], self._pending[len(tag) :], 0
            else:
                at += 1
        return shown + self._taken(at)

    def _taken(self, length: int) -> str:
        """Take the first characters of what is pending; return them unless they are hidden."""
        text, self._pending = self._pending[:length], self._pending[length:]
        self._before = text[-1:] or self._before
        shown = "" if self._until else text
        self._last = shown.rstrip()[-1:] or self._last
        return shown

    def _hidden_until(self, tag: str) -> tuple[str, ...]:
        """Return the tags that end what is hidden behind *tag*; none where nothing is."""
        if self._until == _NEVER or (tag in TURNS and self._last and not self._until):
            return _NEVER
        if tag == _HEADER:
            return (_MESSAGE,)
        if tag in OPENING:
            return (*CLOSING, tag.replace("<", "</"))
        return () if tag in self._until else self._until

    def _tag_at(self, at: int, *, final: bool) -> str | None:
        """Return the tag that begins at *at* ("" for none), in lower case; None where more text has to come."""
        if self._pending[at] not in _FIRST:
            return ""
        ahead = self._pending[at : at + _LONGEST + 1].lower()
        quoted = (self._pending[at - 1] if at else self._before) == "`"
        for tag in _TAGS:
            if ahead.startswith(tag):
                after = ahead[len(tag) : len(tag) + 1]
                if quoted and not after and not final:
                    return None
                return "" if (quoted and after == "`") or self._is_content(tag, at) else tag
        begun = not final and any(tag.startswith(ahead) for tag in _TAGS)
        return None if begun else ""

    def _is_content(self, tag: str, at: int) -> bool:
        """Whether *tag* stands where a template has none: a word's tag in the text, or a turn within a sentence."""
        last = self._pending[:at].rstrip()[-1:] or self._last
        if tag in _BEGINNING:
            return bool(last)
        if tag in _ENDING:
            return tag not in self._until
        return tag in TURNS and (last.isalnum() or last in ",;:(")


def without_thoughts(text: str) -> str:
    """Return *text* without its thoughts, stripped, nor tags and labels around the answer, nor a turn made up after it.

    A closing tag without an opening one, which some models' templates write for them, removes all before it.
    """
    thoughts = ThoughtFilter()
    shown = thoughts.feed(text, final=True)
    lowered = text.lower()
    last = max(((lowered.rfind(tag), tag) for tag in CLOSING), default=(-1, ""))
    if last[0] >= 0 and not any(tag in lowered[: last[0]] for tag in OPENING) and not _in_backticks(text, *last):
        return without_thoughts(text[last[0] + len(last[1]) :])
    return _answer(shown.strip())


def _answer(text: str) -> str:
    """Return what a model wrapped in "<answer>", "### Response:" or "Assistant:", up to a turn that it made up."""
    if (wrapped := _WRAPPED.fullmatch(text)) and (wrapped["tag"].lower() == "answer" or "<" not in wrapped["inside"]):
        text = wrapped["inside"].strip()
    if role := _ROLE.match(text):
        text = text[role.end() :]
    turn = _TURN.search(text)
    return text[: turn.start()] if turn else text


def _in_backticks(text: str, start: int, tag: str) -> bool:
    return text[start - 1 : start] == "`" and text[start + len(tag) : start + len(tag) + 1] == "`"
