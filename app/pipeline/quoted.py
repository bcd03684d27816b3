"""Quote a document's text for a prompt, so that it can neither cite nor command.

A chunk's own ``[3]`` would look like a citation of ours, a copied ``</chunk>`` would let what follows pass for
instructions, and a model's control token would open a new turn. All of these are removed or made plain text.
"""

import re

from graph.citing.citations import without_markers

_TAGS = "chunk|question|system|user|assistant|think|thinking|s|bos|eos|start_of_turn|end_of_turn|sys|inst"
_CONTROL = re.compile(rf"<(?=\s*\||<\s*/?\s*sys|\s*/?\s*(?:{_TAGS})\b)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_SEPARATORS = str.maketrans("\x85\u2028\u2029", "   ")


def quoted(text: str) -> str:
    """Remove markers from *text*, and make control tokens and our own tags harmless."""
    return harmless(without_markers(text))


def harmless(text: str) -> str:
    """Turn control tokens and our own tags into plain text: ``<|im_start|>`` becomes ``‹|im_start|>``.

    Unicode's line separators become spaces: a copied one ends a JSON line in ``httpx.Response.aiter_lines`` (ollama).
    """
    return _INSTRUCTION.sub(r"(\1)", _CONTROL.sub("‹", text.translate(_SEPARATORS)))


def chunk_block(number: int, title: str, text: str) -> str:
    """Format one numbered chunk of a prompt; *title* and *text* are ``quoted`` already."""
    heading = f"Chunk {number}: {title}" if title else f"Chunk {number}:"
    return f"{heading}\n<chunk>\n{text}\n</chunk>"


def title_of(title: str, section: str | None) -> str:
    """Return a chunk's title and section on one line, quoted."""
    return " ".join(quoted(", ".join(dict.fromkeys(filter(None, (title, section))))).split())
