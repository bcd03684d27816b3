"""Take a chat model's thoughts and control tokens out of its text, complete or as a stream.

The tags are those of the common families: DeepSeek and Qwen (``<think>``), Mistral (``[THINK]``), Kimi (``◁think▷``),
OpenAI's gpt-oss (harmony channels), and what prompts for reasoning ask for. A tag in backticks is content.
"""

_NAMES = ("think", "thinking", "thought", "reasoning", "reflection")
OPENING = (
    *(f"<{name}>" for name in _NAMES),
    "[think]",
    "◁think▷",
    "<|begin_of_thought|>",
    "<|channel|>analysis<|message|>",
    "<|channel|>commentary<|message|>",
)
CLOSING = (
    *(f"</{name}>" for name in _NAMES),
    "[/think]",
    "◁/think▷",
    "<|end_of_thought|>",
    "<|channel|>final<|message|>",
)
CONTROL = (
    "<|start|>assistant",
    "<|end|>",
    "<|return|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|end_of_turn|>",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
    "</s>",
)
"""Tokens that belong to a template and are never content."""
_TAGS = sorted((*OPENING, *CLOSING, *CONTROL), key=len, reverse=True)
_FIRST = frozenset(tag[0] for tag in _TAGS)
_LONGEST = len(_TAGS[0])


class ThoughtFilter:
    """Removes thoughts from a streamed text; an unclosed thought removes the rest."""

    def __init__(self) -> None:
        self._pending = ""
        self._before = ""  # the character before what is pending
        self._thinking = False

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
                shown += "" if self._thinking else self._pending[:at]
                self._before, self._pending, at = tag[-1], self._pending[at + len(tag) :], 0
                self._thinking = tag in OPENING or (self._thinking and tag not in CLOSING)
            else:
                at += 1
        shown += "" if self._thinking else self._pending[:at]
        self._before = self._pending[at - 1] if at else self._before
        self._pending = self._pending[at:]
        return shown

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
                return "" if quoted and after == "`" else tag
        begun = not final and any(tag.startswith(ahead) for tag in _TAGS)
        return None if begun else ""


def without_thoughts(text: str) -> str:
    """Return *text* without its thoughts, stripped.

    A closing tag without an opening one, which some models' templates write for them, removes all before it.
    """
    thoughts = ThoughtFilter()
    shown = thoughts.feed(text, final=True)
    lowered = text.lower()
    last = max(((lowered.rfind(tag), tag) for tag in CLOSING), default=(-1, ""))
    if last[0] >= 0 and not any(tag in lowered[: last[0]] for tag in OPENING) and not _in_backticks(text, *last):
        return without_thoughts(text[last[0] + len(last[1]) :])
    return shown.strip()


def _in_backticks(text: str, start: int, tag: str) -> bool:
    return text[start - 1 : start] == "`" and text[start + len(tag) : start + len(tag) + 1] == "`"
