"""What door V makes once in a process, when it is first called: the embedded model, and a loop to wait on."""

from __future__ import annotations

import atexit
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from app.library.sync_bridge import LoopThread
from app.providers.embeddings.models import BARE_NAMES, make_embeddings
from app.providers.rerank.reader import OnnxReader
from app.settings import Settings, load_settings

if TYPE_CHECKING:
    from app.providers.embeddings.models import EmbeddingModel

EMBEDDED = "all-MiniLM-L6-v2"
"""The model where ``EMBEDDING_MODEL`` names one that is not embedded."""

_making = RLock()


def shared_embedding(settings: Settings) -> EmbeddingModel:
    """The embedded model, loaded by the first call and shared by all. Raises ``ConfigurationError``."""
    wanted = settings.embedding_model
    embedded = BARE_NAMES.get(wanted, wanted).startswith("embedded:") or Path(wanted).expanduser().is_dir()
    with _making:
        return _embedding(wanted if embedded else EMBEDDED, settings.question_precision)


def shared_loop() -> LoopThread:
    """The event loop, in a thread of its own, that every call waits on."""
    with _making:
        return _loop()


def shared_reader() -> OnnxReader:
    """The reader, made by the first call and shared by all. Raises ``ConfigurationError``."""
    with _making:
        return _reader()


@lru_cache(maxsize=1)
def _reader() -> OnnxReader:
    return OnnxReader()


@lru_cache(maxsize=2)
def _embedding(name: str, precision: str) -> EmbeddingModel:
    return make_embeddings(load_settings(embedding_model=name, question_precision=precision))


@lru_cache(maxsize=1)
def _loop() -> LoopThread:
    loop = LoopThread("validation")
    atexit.register(loop.close)
    return loop
