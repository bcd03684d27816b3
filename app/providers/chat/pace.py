"""Measure how fast a chat model reads and writes, from its own counts or the time to its first token."""

from dataclasses import dataclass
from itertools import takewhile

CHARS_PER_TOKEN = 4.2
"""Characters of English that a token stands for, where a model counts none."""
MIN_TOKENS = 32
"""Tokens below which a count says little: a request's fixed cost outweighs them."""
WEIGHT = 0.5
"""Weight of the newest measurement in the running mean: machines change pace with what else they do."""
WRITES_SLOWER = 4.0
"""How much slower a model writes than it reads, until it has written: 150 to 40, 25 to 10 on two machines."""
FAST = 1000.0
"""Tokens read a second from which more passages cost little."""
FIRST_ANSWER = 40.0
"""Tokens of an answer, until one has been written."""


@dataclass(slots=True)
class Pace:
    """Running means: tokens read and written a second (0: not known yet), and tokens of an answer."""

    read_rate: float = 0.0
    write_rate: float = 0.0
    answer: float = FIRST_ANSWER
    prompt: str = ""
    """The prompt read last: what the next one begins with, too, a server need not read again."""
    outlasted: bool = False
    """Whether the last call ended before its first token."""

    def fresh_tokens(self, prompt: str, tokens: float) -> float:
        """Return how many of a prompt's *tokens* a server has to read that kept the prompt before."""
        pairs = zip(prompt, self.prompt, strict=False)
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return tokens * (1.0 - common / len(prompt)) if prompt else 0.0

    def observe(self, prompt: str, read: tuple[float, float], written: tuple[float, float]) -> None:
        """Take in one call: *read* and *written* are tokens and the seconds they took."""
        fresh, seconds = self.fresh_tokens(prompt, read[0]), read[1]
        if fresh >= MIN_TOKENS and seconds > 0:
            self.read_rate = _mean(self.read_rate, fresh / seconds)
        if written[0] >= MIN_TOKENS / 2 and written[1] > 0:
            self.write_rate = _mean(self.write_rate, written[0] / written[1])
        if written[0] >= MIN_TOKENS / 4:
            self.answer = _mean(self.answer, written[0])
        self.prompt = prompt
        self.outlasted = False

    def outlast(self, prompt: str, seconds: float) -> None:
        """Take in a call that had no token after *seconds*: the machine is busy, and reads *prompt* more slowly.

        Once until a call ends well: a server that hangs is no slow one, and stays an outage.
        """
        if not self.outlasted and seconds > 0:
            fresh = self.fresh_tokens(prompt, len(prompt) / CHARS_PER_TOKEN)
            self.read_rate = min(self.read_rate, fresh / seconds)
        self.outlasted = True

    def seconds(self, prompt: str, most_tokens: float) -> float:
        """Estimate the seconds of a call with *prompt* and an answer of at most *most_tokens*; 0 where unknown."""
        if not self.read_rate:
            return 0.0
        return self.reading_seconds(prompt) + min(self.answer, most_tokens) / self.writes

    def reading_seconds(self, prompt: str) -> float:
        """Estimate the seconds in which *prompt* is read; 0 where unknown."""
        fresh = self.fresh_tokens(prompt, len(prompt) / CHARS_PER_TOKEN)
        return fresh / self.read_rate if self.read_rate else 0.0

    @property
    def fast(self) -> bool:
        """Whether reading takes so little time that more passages can be given."""
        return self.read_rate >= FAST

    @property
    def writes(self) -> float:
        """Tokens written a second, estimated from those read until some were written."""
        return self.write_rate or self.read_rate / WRITES_SLOWER


def _mean(before: float, now: float) -> float:
    return WEIGHT * now + (1.0 - WEIGHT) * before if before else now
