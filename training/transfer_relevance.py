"""Give an encoder the coefficients of the default one, on the scale of its own cosines.

    python -m training.transfer_relevance FOLDER [FOLDER …] --encoder NAME [--encoder …] [--write FILE]

For encoders that ``training.fit_relevance``, which embeds every sentence of every document, was not run with: a few
minutes instead of hours. A FOLDER holds ``docs`` and ``questions.jsonl``, as ``training.corpora`` lays them out. Of
each some questions, and a chunk that answers each, are embedded. Two means, that of a question with its own chunk and
that with the chunks of others, say how the cosines of an encoder lie to those of the default one; the weights of both
similarities are scaled by it. It also prints the spreads for ``app.providers.embeddings.fused``.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.providers.embeddings.fused import weights_of
from app.providers.embeddings.minilm import MODEL_NAME
from app.providers.embeddings.models import make_embeddings
from app.providers.embeddings.vectors import unit
from app.settings import load_settings
from training.encoder_study import read_corpus

SAMPLES = 24
"""Questions of each corpus."""
LONGEST = 2_000
"""Characters of a chunk that are embedded."""
SIMILARITIES = ("chunk_similarity", "sentence_similarity")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--encoder", action="append", required=True, help="as EMBEDDING_MODEL")
    parser.add_argument("--write", type=Path, help="file of calibrations to put the coefficients into")
    args = parser.parse_args()
    sample = [pair for folder in args.folders for pair in pairs_of(folder)]
    cosines = dict(measured(name, sample) for name in dict.fromkeys([MODEL_NAME, *args.encoder]))
    for name, matrix in cosines.items():
        right, wrong = means(matrix)
        spread = float(np.std(matrix[~np.eye(len(matrix), dtype=bool)]))
        print(f"{name}: own chunk {right:.4f}, others {wrong:.4f}, spread {spread:.4f}")
    if args.write:
        known = json.loads(args.write.read_text(encoding="utf-8"))
        known["models"] |= entries(cosines, known["models"][MODEL_NAME])
        args.write.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def pairs_of(folder: Path) -> list[tuple[str, str]]:
    """Draw questions of one corpus, each with the first chunk that answers it."""
    corpus = read_corpus(folder)
    order = list(range(len(corpus.questions)))
    random.Random(1).shuffle(order)
    return [(corpus.questions[at], corpus.chunks[min(corpus.gold[at])][:LONGEST]) for at in order[:SAMPLES]]


def measured(name: str, sample: Sequence[tuple[str, str]]) -> tuple[str, NDArray[np.float32]]:
    """Return the encoder's name, and its cosines [questions, chunks]; a question's own chunk is on the diagonal."""
    model = make_embeddings(load_settings(embedding_model=name))
    chunks = unit(model.embeddings.embed_documents([chunk for _, chunk in sample]))
    questions = unit([model.embeddings.embed_query(question) for question, _ in sample])
    model.close()
    return model.name, questions @ chunks.T


def means(cosines: NDArray[np.float32]) -> tuple[float, float]:
    """Return the mean cosine of a question with its own chunk, and with those of others."""
    own = np.eye(len(cosines), dtype=bool)
    return float(cosines[own].mean()), float(cosines[~own].mean())


def entries(cosines: Mapping[str, NDArray[np.float32]], default: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry for each encoder but the default one, and for the default one joined with each."""
    joined = {
        f"{first}+{second}": sum(
            share * cosines[name] for share, name in zip(weights_of([first, second]), (first, second), strict=True)
        )
        for first, second in combinations(cosines, 2)
        if first == MODEL_NAME
    }
    others: dict[str, Any] = {name: matrix for name, matrix in cosines.items() if name != MODEL_NAME} | joined
    reference = means(cosines[MODEL_NAME])
    return {name: transferred(default, reference, means(matrix)) for name, matrix in others.items()}


def transferred(entry: Mapping[str, Any], reference: tuple[float, float], own: tuple[float, float]) -> dict[str, Any]:
    """Rewrite the models of *entry* for cosines whose two ``means`` are *own* where *entry* has *reference*."""
    scale = (reference[0] - reference[1]) / (own[0] - own[1])
    shift = reference[1] - scale * own[1]
    models = {}
    for kind, model in entry.items():
        weights = {name: weight * (scale if name in SIMILARITIES else 1) for name, weight in model["weights"].items()}
        moved = sum(shift * weight for name, weight in model["weights"].items() if name in SIMILARITIES)
        rounded = {name: round(weight, 3) for name, weight in weights.items()}
        models[kind] = {"bias": round(model["bias"] + moved, 3), "weights": rounded}
    return models


if __name__ == "__main__":
    main()
