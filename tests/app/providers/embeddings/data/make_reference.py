"""Make ``minilm_reference.npz`` again: the vectors sentence-transformers gives for the texts in ``minilm_texts.json``.

Needs sentence-transformers, which the project itself does not; see the README beside this file.
Usage: python make_reference.py MODEL_FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(model_folder: str) -> None:
    """Embed every text alone, so that no padding is involved, and store float32 [texts, 384]."""
    import numpy as np
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # not a dependency

    texts = json.loads((HERE / "minilm_texts.json").read_text(encoding="utf-8"))
    model = SentenceTransformer(model_folder, device="cpu", local_files_only=True)
    model.max_seq_length = 256
    vectors = [model.encode(text, normalize_embeddings=True, convert_to_numpy=True) for text in texts]
    np.savez_compressed(HERE / "minilm_reference.npz", vectors=np.asarray(vectors, np.float32))


if __name__ == "__main__":
    main(sys.argv[1])
