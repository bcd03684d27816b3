"""What a model may call a document, and how names are compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from graph.state import Chunk


def names_of(chunk: Chunk) -> frozenset[str]:
    """Every folded name a model may call the chunk's document by: path, file name with and without suffix, title."""
    return _names(chunk.source or "", chunk.document_id, chunk.title)


@lru_cache(maxsize=1024)
def _names(*given: str) -> frozenset[str]:
    names = {fold(name) for name in given}
    names |= {name.rsplit("/", 1)[-1] for name in names}
    names |= {name.rsplit(".", 1)[0] for name in names if re.fullmatch(r".+\.[a-z][a-z0-9]{1,5}", name)}
    return frozenset(names - {""})


def fold(text: str) -> str:
    """*text* for comparing names: case, width, white space and quotation marks do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip("\"'“”.")
