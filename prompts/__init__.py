"""The prompts: text files, the version in the name, one reader.

A file ``answer.v2.md`` beside ``answer.v1.md`` is a new version of the same prompt; ``load_prompt("answer")`` takes the
highest, ``load_prompt("answer.v1")`` that one. Each holds what the system says, a line ``---``, and the template of
what the user says, with ``$names`` to fill in.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent
_FILE = re.compile(r"(?P<name>[a-z][a-z0-9_]*)\.v(?P<version>\d+)\.md")
_DIVIDER = "\n---\n"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One version of one prompt. ``sha256`` is of the file's text; with ``label`` it goes into the trace."""

    name: str
    version: int
    text: str
    sha256: str

    @property
    def label(self) -> str:
        """Name and version, ``answer.v1``."""
        return f"{self.name}.v{self.version}"

    @property
    def system(self) -> str:
        """The instructions, which nothing may push out of the model's context."""
        return self.text.partition(_DIVIDER)[0].strip()

    def user(self, **values: str) -> str:
        """The user's message with *values* filled in; what stands in a value is never read as a name.

        Raises ``KeyError`` when a name of the template has no value.
        """
        return Template(self.text.partition(_DIVIDER)[2].strip()).substitute(values)


def prompt_names() -> tuple[str, ...]:
    """Every prompt there is, by label."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.md") if _FILE.fullmatch(path.name)))


def load_prompt(name: str) -> Prompt:
    """Read the prompt *name*, its latest version unless the name ends in ``.v<number>``.

    Raises ``LookupError`` when there is none.
    """
    found = [match for label in prompt_names() if (match := _FILE.fullmatch(f"{label}.md"))]
    fitting = [m for m in found if name in (m["name"], m[0].removesuffix(".md"))]
    if not fitting:
        raise LookupError(f"no prompt {name!r}; there are {', '.join(prompt_names())}")
    latest = max(fitting, key=lambda match: int(match["version"]))
    text = (_FOLDER / latest[0]).read_text(encoding="utf-8")
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return Prompt(latest["name"], int(latest["version"]), text, digest)
