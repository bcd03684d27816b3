"""A model's own citation spans, written as our markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph.sentences import sentence_spans


def with_markers(text: str, citations: Sequence[Mapping[str, Any]]) -> str:
    """*text* with ``[k]`` after each cited span, k being the id of a document it cites.

    Spans of one sentence that follow each other and cite the same documents share the marker after the last of them.
    A span that lies outside the text, or cites nothing with a number, is left out.
    """
    spots = sorted(
        (end, sources)
        for citation in citations
        if isinstance(end := citation.get("end"), int) and 0 < end <= len(text) and (sources := _numbers(citation))
    )
    starts = [start for start, _ in sentence_spans(text)]
    out = text
    following: tuple[int, tuple[int, ...]] | None = None
    for end, sources in reversed(spots):
        sentence = sum(start < end for start in starts)
        if following == (sentence, sources):
            continue
        following = (sentence, sources)
        out = f"{out[:end]} {''.join(f'[{k}]' for k in sources)}{out[end:]}"
    return out


def _numbers(citation: Mapping[str, Any]) -> tuple[int, ...]:
    """The numbers of the documents that *citation* names, each once."""
    found: dict[int, None] = {}
    for source in citation.get("sources") or ():
        name = str(source.get("id") if isinstance(source, Mapping) else getattr(source, "id", "")).rpartition(":")[2]
        if name.isdecimal():
            found[int(name)] = None
    return tuple(found)
