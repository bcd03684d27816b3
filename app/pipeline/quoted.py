"""How the text of a document stands in a prompt: as something to read, which can neither cite nor command.

A chunk's own ``[3]`` would look like a citation of ours, a copied ``</chunk>`` would let what follows speak as
instructions, and a model's control token would open a new turn. None of these passes.
"""

from __future__ import annotations

import re

from graph.citing.citations import without_markers

_TAGS = "chunk|question|system|user|assistant|think|thinking|s|bos|eos|start_of_turn|end_of_turn|sys|inst"
_CONTROL = re.compile(rf"<(?=\s*\||<\s*/?\s*sys|\s*/?\s*(?:{_TAGS})\b)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"\[(/?INST)\]", re.IGNORECASE)


def quoted(text: str) -> str:
    """*text* with markers taken out, and with control tokens and our own tags made harmless."""
    return harmless(without_markers(text))


def harmless(text: str) -> str:
    """*text* with control tokens and our own tags made plain text: ``<|im_start|>`` becomes ``‹|im_start|>``."""
    return _INSTRUCTION.sub(r"(\1)", _CONTROL.sub("‹", text))


def chunk_block(number: int, title: str, text: str) -> str:
    """One numbered chunk of a prompt; *title* and *text* are ``quoted`` already."""
    heading = f"Chunk {number}: {title}" if title else f"Chunk {number}:"
    return f"{heading}\n<chunk>\n{text}\n</chunk>"


def title_of(title: str, section: str | None) -> str:
    """A chunk's title and section on one line, quoted."""
    parts = [part for part in (title, section) if part]
    return " ".join(quoted(", ".join(dict.fromkeys(parts))).split())
