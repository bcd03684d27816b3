"""Write trained weights as the package ships them: ``python -m training.export MINILM weights.pt … reader.onnx``.

Of several, trained from the same weights in another order, the mean is written.
Linear layers become 8-bit with one scale for each output; the rest is float32. MINILM is the folder of
all-MiniLM-L6-v2, whose embedding tables the file refers to.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import torch

from training.model import HEAD_NAMES, POSITIONS
from training.onnx_graphs import ReaderGraph
from training.train import started

LEVELS = 64
"""Steps to each side of zero. Not 127: processors without VNNI add two products of 8 bits in 16 (``vpmaddubsw``)."""


def main() -> None:
    """Run the command; it prints the file's sha256."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minilm", type=Path)
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    states = [started(torch.load(path, map_location="cpu")) for path in args.weights]
    state = {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
    args.out.write_bytes(ReaderGraph(args.minilm, arrays(state)).write())
    print(hashlib.sha256(args.out.read_bytes()).hexdigest(), args.out.stat().st_size)


def arrays(state: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """The shipped arrays, under BERT's names, from the trained state."""
    made: dict[str, np.ndarray] = {}
    made["heads.weight"] = np.concatenate([state[f"{name}.weight"].numpy() for name in HEAD_NAMES]).T
    made["heads.bias"] = np.concatenate([state[f"{name}.bias"].numpy() for name in HEAD_NAMES])
    for number in range(1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))):
        at, own = f"encoder.layer.{number}", f"layers.{number}"
        for kind in ("weight", "bias"):
            parts = np.split(state[f"{own}.qkv.{kind}"].numpy(), 3)
            for part, array in zip(("query", "key", "value"), parts, strict=True):
                put(made, f"{at}.attention.self.{part}.{kind}", array)
            for mine, theirs in POSITIONS.items():
                put(made, f"{at}.{theirs}.{kind}", state[f"{own}.{mine}.{kind}"].numpy())
    return made


def put(made: dict[str, np.ndarray], name: str, array: np.ndarray) -> None:
    """Add one array, 8-bit where it is a matrix."""
    if array.ndim == 1:
        made[name] = array
        return
    scales = np.maximum(np.abs(array).max(axis=1), 1e-7) / LEVELS
    levels = np.round(array / scales[:, None])
    made[f"{name}.levels"] = np.clip(levels, -LEVELS, LEVELS).astype(np.int8).T
    made[f"{name}.scales"] = scales


if __name__ == "__main__":
    main()
