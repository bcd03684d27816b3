"""Make ``graph/relevance/common_stems.txt``: the commonest stems of English, most frequent first, one per line.

``python -m app.cli.evaluation.common_stems VOCABULARY FILE`` reads the vocabulary of BERT (uncased; Devlin et al.,
2018; Apache-2.0), which lists its whole words from the most frequent down; all its uncased descendants ship it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from graph.terms import stem

KEPT = 4_000
"""With 15,000 the gates did no better."""
FIRST_WORD = "the"


def common_stems(vocabulary: Sequence[str], kept: int = KEPT) -> list[str]:
    """The stems of the whole words of *vocabulary* from "the" on, each once. Raises `ValueError` without "the"."""
    whole = vocabulary[vocabulary.index(FIRST_WORD) :]
    stems = (stem(word) for word in whole if len(word) > 1 and word.isalnum())
    return list(dict.fromkeys(stems))[:kept]


def main(arguments: Sequence[str]) -> int:
    """The command; returns its exit status."""
    vocabulary, target = map(Path, arguments)
    found = common_stems(vocabulary.read_text(encoding="utf-8").splitlines())
    target.write_text("\n".join(found) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
