"""Fetch a sentence-transformers model from the Hugging Face hub, once; later starts need no network."""

from pathlib import Path

from graph.errors import ConfigurationError

FILES = ("*.json", "1_Pooling/*", "onnx/model.onnx", "model.onnx", "model.onnx_data")
"""What is fetched where the model has an ONNX file."""
WEIGHTS = ("*.safetensors",)
"""What is fetched as well where it has none."""
SECONDS = 5.0
"""How long one answer of the hub may take."""


def fetch(name: str) -> Path:
    """Return the folder of ``OWNER/MODEL``, or of ``OWNER/MODEL@REVISION``, in the hub's cache on this machine.

    Raises ``ConfigurationError``, which says what to fetch, where it is not there and the hub is not reached.
    """
    model, _, revision = name.partition("@")
    try:
        folder = _snapshot(model, revision or None, FILES)
        return folder if any(folder.rglob("*.onnx")) else _snapshot(model, revision or None, (*FILES, *WEIGHTS))
    except Exception as error:  # of several libraries; all mean that the files are not there
        own = model.rpartition("/")[2]
        raise ConfigurationError(
            f"EMBEDDING_MODEL={name} is not on this machine, and the Hugging Face hub did not give it. Fetch it where "
            f"the hub is reached (hf download {model} --local-dir {own}) and name the folder: EMBEDDING_MODEL=./{own}"
        ) from error


def _snapshot(model: str, revision: str | None, files: tuple[str, ...]) -> Path:
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(model, revision=revision, allow_patterns=list(files), etag_timeout=SECONDS))
