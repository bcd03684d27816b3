"""Find the headings that open the paragraphs of minutes and newsletters: "2. Roof. It leaks again …"."""

import re
from collections.abc import Iterator

from answering.text.terms import AUXILIARIES, words
from app.ingest.documents import Block, LoadedDocument

MIN_HEADED, HEADED_SHARE = 3, 0.5
"""Paragraphs and items with such a heading in a document, at the least; and their share of all."""
MAX_WORDS = 5
"""Words of a heading: more are a sentence."""
MIN_CHARS = 40
"""Characters of the text below it: less is the value of a label."""
_ITEM = re.compile(r"^(?=[ ]{0,3}(?:\d{1,2}[.)]|[-*•])[ ])", re.MULTILINE)
_HEADED = re.compile(
    r"\s*(?:(?:\d{1,2}[.)]|[-*•])\s+)?(?P<head>[A-Z][^.!?:;|\n]{2,45})[.:]\s+(?P<text>\S.*[.!?][\"'”’)]*)\s*\Z",
    re.DOTALL,
)


def with_run_in_headings(document: LoadedDocument) -> LoadedDocument:
    """Return *document* with a section for each paragraph or item that opens with a heading, where most do.

    So each topic is found by itself, and cited by its name. The section above becomes the chapter.
    """
    parts = [part for block in document.blocks for part in _parts(block)]
    texts = sum(part.kind in ("prose", "list") for part in parts)
    headed = [head for part in parts if (head := _heading(part))]
    if len(headed) < max(MIN_HEADED, HEADED_SHARE * texts):
        return document
    return document.model_copy(update={"blocks": tuple(map(_below_heading, parts))})


def _parts(block: Block) -> Iterator[Block]:
    """Yield the items of a list of paragraphs, each as a block; another block as it is."""
    items = [item for item in _ITEM.split(block.text) if item.strip()] if block.kind == "list" else [block.text]
    for item in items:
        yield block if len(items) == 1 else block.model_copy(update={"text": item.rstrip("\n")})


def _heading(block: Block) -> re.Match[str] | None:
    found = _HEADED.match(block.text) if block.kind in ("prose", "list") and block.chunk_id is None else None
    if not found or len(found["text"]) < MIN_CHARS:
        return None
    named = words(found["head"])
    return found if len(named) <= MAX_WORDS and AUXILIARIES.isdisjoint(named) else None


def _below_heading(block: Block) -> Block:
    found = _heading(block)
    if not found:
        return block
    chapter = block.chapter or block.section
    place = {"chapter": chapter, "section": " ".join(found["head"].split())}
    return block.model_copy(update={**place, "text": found["text"], "kind": "prose"})
