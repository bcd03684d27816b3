"""The prompts: text files, the version in the name, one reader.

A file ``answer.v2.md`` beside ``answer.v1.md`` is a new version of the same prompt. Each holds what the system says, a
line ``---``, and the template of what the user says, with ``$names`` to fill in.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Prompt:
    """The latest version of one prompt; ``label`` ("answer.v1") and the file's ``sha256`` go into the trace.

    ``system`` are the instructions, which nothing may push out of the model's context.
    """

    label: str
    system: str
    template: Template
    sha256: str

    def user(self, **values: str) -> str:
        """Return the user's message with *values* filled in; what stands in a value is never read as a name.

        Raises ``KeyError`` when a name of the template has no value.
        """
        return self.template.substitute(values)


def load_prompt(name: str) -> Prompt:
    """Read the latest version of the prompt *name*. Raises ``LookupError`` when there is none."""
    versions = {int(path.stem.rpartition(".v")[2]): path for path in FOLDER.glob("*.v*.md") if _name(path) == name}
    if not versions:
        raise LookupError(f"no prompt {name!r}; there are {', '.join(sorted(map(_name, FOLDER.glob('*.md'))))}")
    path = versions[max(versions)]
    raw = path.read_bytes()
    system, _, template = raw.decode("utf-8").partition("\n---\n")
    return Prompt(path.stem, system.strip(), Template(template.strip()), hashlib.sha256(raw).hexdigest())


def _name(path: Path) -> str:
    return path.stem.partition(".")[0]
