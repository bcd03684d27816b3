"""Find the headings that open the paragraphs of minutes and newsletters: "2. Roof. It leaks again …"."""

import re
from collections.abc import Iterator

from answering.text.terms import AUXILIARIES, words
from app.ingest.documents import MAX_LABEL_CHARS, Block, LoadedDocument
from app.ingest.loaders.outline import one_line

MIN_HEADED, HEADED_SHARE = 3, 0.5
"""Paragraphs and items with such a heading in a document, at the least; and their share of all."""
MAX_WORDS, MAX_PLAIN = 5, 3
"""Words of a heading after a number or before a colon, and of another one: more are a sentence."""
MIN_CHARS = 40
"""Characters of the text below it: less is the value of a label."""
_ITEM = re.compile(r"^(?=[ ]{0,3}(?:\d{1,2}[.)]|[-*•])[ ])", re.MULTILINE)
_HEADED = re.compile(
    r"\s*(?:(?P<number>\d{1,2}[.)])\s+|[-*•]\s+)?(?P<head>[A-Z][^.!?:;|\n]{2,45})(?P<end>[.:])\s+"
    r"(?P<text>\S.*[.!?][\"'”’)]*)\s*\Z",
    re.DOTALL,
)
_AFTER_VERB = re.compile(
    r"(?<!\bof)(?<!\bfor)(?<!\bto)(?<!\bin)(?<!\bon)(?<!\bby) (?:the|an?|our|your|his|her|their|it)\b", re.IGNORECASE
)
"""An article or a pronoun after a verb, "Turn off the water": of "Minutes of the last meeting" it follows no verb."""
_PRONOUN = re.compile(r"(?:It|He|She|We|They|You|I|This|That|There)\b")


def with_run_in_headings(document: LoadedDocument) -> LoadedDocument:
    """Return *document* with a section for each paragraph or item that opens with a heading, where most do.

    So each topic is found by itself, and cited by its name. The headings above it become its chapter.
    """
    parts = [part for block in document.blocks for part in _parts(block)]
    texts = sum(part.kind in ("prose", "list") for part in parts)
    headed = [head for part in parts if (head := _heading(part))]
    if len(headed) < max(MIN_HEADED, HEADED_SHARE * texts):
        return document
    return document.model_copy(update={"blocks": tuple(map(_below_heading, parts))})


def _parts(block: Block) -> Iterator[Block]:
    """Yield the items of a list, each as a block, where one opens with a heading; another block as it is."""
    texts = [text.rstrip("\n") for text in _ITEM.split(block.text) if text.strip()] if block.kind == "list" else []
    items = [block.model_copy(update={"text": text}) for text in texts]
    yield from items if any(map(_heading, items)) else (block,)


def _heading(block: Block) -> re.Match[str] | None:
    found = _HEADED.match(block.text) if block.kind in ("prose", "list") and block.chunk_id is None else None
    if not found or len(found["text"]) < MIN_CHARS:
        return None
    head, most = found["head"], MAX_WORDS if found["number"] or found["end"] == ":" else MAX_PLAIN
    named = words(head)
    is_sentence = _AFTER_VERB.search(head) or _PRONOUN.match(head) or not AUXILIARIES.isdisjoint(named)
    return None if is_sentence or len(named) > most else found


def _below_heading(block: Block) -> Block:
    found = _heading(block)
    if not found:
        return block
    above = dict.fromkeys(filter(None, (block.chapter, block.section)))
    heading = " ".join(f"{found['number'] or ''} {found['head']}".split())
    place = {"chapter": one_line(" · ".join(above), MAX_LABEL_CHARS) or None, "section": heading}
    return block.model_copy(update={**place, "text": found["text"], "kind": "prose"})
