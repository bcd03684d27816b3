"""The answer as text, in the two ways the documents write a citation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graph.state import Citation


def numbered(pieces: Sequence[str | int], citations: Sequence[Citation]) -> str:
    """Markers as ``[k]``, the k-th cited document (Door Q)."""
    return _render(pieces, citations, lambda citation: f"[{citation.marker}]")


def named(pieces: Sequence[str | int], citations: Sequence[Citation]) -> str:
    """Markers as ``[safety_manual.pdf, page 5]``, or ``, section Y``, or the name alone (Door L)."""
    return _render(pieces, citations, place_name)


def place_name(citation: Citation) -> str:
    """How door L writes one citation."""
    if citation.page is not None:
        return f"[{citation.source}, page {citation.page}]"
    if citation.section:
        return f"[{citation.source}, section {citation.section.replace('[', '(').replace(']', ')')}]"
    return f"[{citation.source}]"


def _render(pieces: Sequence[str | int], citations: Sequence[Citation], write: Callable[[Citation], str]) -> str:
    """Join the pieces; a marker stands one space after its words and before their full stop, each written once a spot."""
    out: list[str] = []
    here: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            out.append(piece)
            here = []
            continue
        marker = write(citations[piece])
        if marker in here:
            continue
        if not here and out:
            out[-1] = out[-1].rstrip(" ")
            tail = _closing(out[-1])
            if tail:
                out[-1] = out[-1][: -len(tail)]
            out.append(f" {marker}{tail}")
        else:
            out[-1:] = [_insert(out[-1], marker)] if out else [marker]
        here.append(marker)
    return "".join(out).strip()


def _closing(text: str) -> str:
    """The sentence mark that ends *text*, if one does: ``It is red.`` becomes ``It is red [1].``"""
    return text[-1] if text and text[-1] in ".!?" and not text.endswith("...") else ""


def _insert(written: str, marker: str) -> str:
    tail = _closing(written)
    return f"{written[: len(written) - len(tail)]}{marker}{tail}"
