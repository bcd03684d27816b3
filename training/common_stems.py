"""Make ``answering/text/common_stems.txt``: the commonest stems of English, most frequent first, one per line.

    python -m training.common_stems VOCABULARY FILE

VOCABULARY is that of BERT (uncased; Devlin et al., 2018; Apache-2.0), which lists its whole words by frequency from
"the" on.
"""

from __future__ import annotations

import sys
from pathlib import Path

from answering.text.terms import stem

KEPT = 4_000
"""More stems (15,000) did not improve the relevance models."""


def main(vocabulary: Path, target: Path) -> None:
    """Write the stems of the whole words, each once."""
    lines = vocabulary.read_text(encoding="utf-8").splitlines()
    stems = (stem(word) for word in lines[lines.index("the") :] if len(word) > 1 and word.isalnum())
    target.write_text("\n".join(list(dict.fromkeys(stems))[:KEPT]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
