"""Encoders on ONNX Runtime: sessions, tokenizers, and a LangChain ``Embeddings`` over both."""

import asyncio
import os
import platform
import re
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from app.providers.blocking import AsyncEmbeddings
from app.providers.embeddings.vectors import BATCH_TOKENS, Vectors, in_batches, valid_unicode
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Precision = Literal["fp32", "int8"]
WEIGHTS_FILE = "model.safetensors"
CPU_INFO = Path("/proc/cpuinfo")
EIGHT_BIT = re.compile(r"^(?:flags|Features)\s*:.*\b(?:avx_?vnni\w*|avx512_vnni|amx_int8|asimddp|i8mm)\b", re.MULTILINE)
"""Of Linux's description of a processor that multiplies 8-bit numbers and adds them up in one instruction."""


class OnnxEmbeddings(AsyncEmbeddings):
    """Embeds questions and documents on separate threads, so that ingest does not delay questions.

    A subclass says how: ``tokens`` and ``vectors`` are called on these threads.
    """

    def __init__(self) -> None:
        self._questions = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="embed-question")
        self._documents = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="embed-document")

    @abstractmethod
    def tokens(self, texts: Sequence[str], *, question: bool) -> Sequence[Any]:
        """Return the word pieces of questions, or of documents; each text has a length."""

    @abstractmethod
    def vectors(self, tokens: Sequence[Any], *, question: bool) -> Vectors:
        """Return float32 [texts, dimension], unit vectors; at least one text."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text, in order. Cancelling it drops the batches that still wait."""
        loop = asyncio.get_running_loop()
        tokens = await loop.run_in_executor(self._documents, partial(self.tokens, texts, question=False))
        rows = await in_batches(self._documents, partial(self.vectors, question=False), tokens, BATCH_TOKENS)
        return [row.tolist() for row in rows]

    async def aembed_query(self, text: str) -> list[float]:
        def embed() -> list[float]:
            vector: list[float] = self.vectors(self.tokens([text], question=True), question=True)[0].tolist()
            return vector

        return await asyncio.get_running_loop().run_in_executor(self._questions, embed)

    def close(self) -> None:
        """Finish the running batches, cancel the waiting ones, end the threads."""
        for pool in (self._questions, self._documents):
            pool.shutdown(cancel_futures=True)


class ShippedEncoder(OnnxEmbeddings):
    """An encoder whose graphs are shipped and whose weights are in *folder*.

    A session is opened by ``load``, or by the first use, and shared by all threads. The graphs take ``input_ids`` and
    ``attention_mask`` and return unit vectors; ``training.onnx_graphs`` writes them.
    """

    model_name: str
    max_tokens: int
    """Word pieces read of a text, the special ones included: ``max_seq_length`` of the model's own configuration."""
    precisions: tuple[Precision, Precision]
    """Of the weights for questions and for documents."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._tokenizer = read_tokenizer(folder)
        self._tokenizer.enable_truncation(self.max_tokens)
        padding = [self._tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>")]
        self._padding = next(number for number in padding if number is not None)
        self._sessions: dict[Precision, InferenceSession] = {}
        self._loading = Lock()

    def tokens(self, texts: Sequence[str], *, question: bool = True) -> Sequence[Sequence[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch([valid_unicode(text) for text in texts])]

    def vectors(self, tokens: Sequence[Sequence[int]], *, question: bool) -> Vectors:
        return self._vectors(tokens, self.precisions[0 if question else 1])

    def encode(self, texts: Sequence[str], precision: Precision) -> Vectors:
        """Return float32 [texts, dimension] from one pass, padded to the longest; at least one text."""
        return self._vectors(self.tokens(texts), precision)

    def _vectors(self, tokens: Sequence[Sequence[int]], precision: Precision) -> Vectors:
        ids = np.full((len(tokens), max(map(len, tokens))), self._padding, np.int32)
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(tokens):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        (vectors,) = self.load(precision).run(None, {"input_ids": ids, "attention_mask": mask})
        return np.asarray(vectors, np.float32)

    def load(self, precision: Precision | None = None) -> "InferenceSession":
        """Return the session of that precision, or of that for questions; the first call opens it."""
        precision = precision or self.precisions[0]
        with self._loading:
            if precision not in self._sessions:
                self._sessions[precision] = open_session(graph_of(self.model_name, precision), self._folder)
            return self._sessions[precision]

    def close(self) -> None:
        super().close()
        self._sessions.clear()


def graph_of(model: str, precision: Precision) -> Path:
    """Return the shipped graph of *model*; that of int8 rounds the weights when it is opened."""
    return Path(__file__).with_name(f"{model}.onnx" if precision == "fp32" else f"{model}.{precision}.onnx")


def fast_precision(cpu_info: Path = CPU_INFO) -> Precision:
    """Return the precision in which this processor embeds a question faster: int8 with dot products of 8-bit numbers.

    Without them fp32 is faster, as on x86 with AVX2 alone (``bench/NOTES.md``). *cpu_info* is Linux's description;
    where there is none, ARM processors have such instructions.
    """
    if cpu_info.is_file():
        return "int8" if EIGHT_BIT.search(cpu_info.read_text(encoding="utf-8", errors="replace")) else "fp32"
    return "int8" if platform.machine() in ("arm64", "aarch64") else "fp32"


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


def open_session(model: Path | bytes, weights: Path | None = None) -> "InferenceSession":
    """Open a session over a model file or its bytes; *weights* is the folder of the safetensors file it refers to.

    That file may be a link, as in a Hugging Face cache: ONNX Runtime gets the folder of its target.
    """
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = 1  # the callers' threads are the parallelism
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # a plan of memory kept for each shape helps only where shapes repeat
    if weights:
        folder = str((weights / WEIGHTS_FILE).resolve().parent)
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
        model = model if isinstance(model, bytes) else model.read_bytes()  # of a file its own folder would count
    return InferenceSession(str(model) if isinstance(model, Path) else model, options, ["CPUExecutionProvider"])
