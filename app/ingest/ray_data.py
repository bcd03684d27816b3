"""Bulk ingest on a Ray cluster: files are read and split, and chunks embedded, by Ray Data's workers.

``files → read (tasks) → embed (actors) → this process, which writes``. What comes back goes through the same run as
a local ingest (``app.ingest.run``), its vectors given instead of made, so ids, hashes, order, refusals and the layout
are the same; a document that is stored as it is now is read, but not embedded. A worker that dies has its blocks done
again by others, which Ray sees to. Workers need this distribution installed, with the model, and the same paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.embeddings import Embeddings

from app.ingest.documents import IngestReport, SkippedFile, SplitDocument
from app.ingest.embed import texts_of
from app.ingest.find import FoundFile
from app.ingest.identify import content_hash
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import find_by_root
from app.ingest.reading import Reader
from app.ingest.run import IngestRun, OnProgress
from app.ingest.sink import Sink
from app.settings import Settings
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    from app.providers.embeddings.vectors import Vectors
    from app.providers.stores.hybrid import ChunkStore

DOCUMENTS_TOGETHER = 4
"""Documents per call of an embedding actor."""
Item = SplitDocument | SkippedFile
Row = dict[str, Any]


async def ingest_on_ray(
    paths: Iterable[Path],
    *,
    address: str,
    settings: Settings,
    store: ChunkStore,
    model_name: str,
    planted: IngestManifest | None = None,
    on_progress: OnProgress | None = None,
) -> IngestReport:
    """``ingest`` with the work done on the Ray cluster at *address* (``auto``, ``host:port``, or ``local``).

    Raises ``ConfigurationError`` when Ray is not installed or the cluster cannot be reached, and what ``ingest`` does.
    """
    ray = _ray()
    files = find_by_root(paths)
    given = GivenVectors()
    run = IngestRun(Sink(store, given, model_name), files=len(files), planted=planted, on_progress=on_progress)
    stored = await store.adocuments()
    try:
        ray.init(address=None if address == "local" else address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigurationError(f"No Ray cluster answers at {address}") from error
    try:
        return await run.all(_items(ray, files, settings, model_name, stored, given, run))
    finally:
        ray.shutdown()


class GivenVectors(Embeddings):
    """Vectors that came with the documents; each is had once for every time it was given."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Vectors]] = {}

    def give(self, texts: Sequence[str], rows: Vectors) -> None:
        """Keep the vectors of these texts until they are asked for."""
        for text, row in zip(texts, rows, strict=True):
            self._rows.setdefault(text, []).append(row)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """For those who want lists."""
        return [list(map(float, row)) for row in self.embed_array(texts)]

    def embed_query(self, text: str) -> list[float]:
        """There are no questions here."""
        raise NotImplementedError

    def embed_array(self, texts: Sequence[str]) -> Vectors:
        """The vectors of these texts, float32 [texts, d]."""
        return np.stack([self._take(text) for text in texts])

    async def aembed_array(self, texts: Sequence[str]) -> Vectors:
        """The same."""
        return self.embed_array(texts)

    def question_array(self, texts: Sequence[str]) -> Vectors:
        """There are no questions here."""
        raise NotImplementedError

    async def aquestion_array(self, texts: Sequence[str]) -> Vectors:
        """There are no questions here."""
        raise NotImplementedError

    def _take(self, text: str) -> Vectors:
        rows = self._rows[text]
        row = rows.pop()
        if not rows:
            del self._rows[text]
        return row


def _items(
    ray: Any,
    files: Sequence[tuple[Path, FoundFile | SkippedFile]],
    settings: Settings,
    model_name: str,
    stored: dict[str, str],
    given: GivenVectors,
    run: IngestRun,
) -> Iterator[Item]:
    """What is in the files, in their order, as the workers bring it."""
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True  # of two documents with one id the first counts, as it does locally
    context.enable_progress_bars = False
    yield from (file for _, file in files if isinstance(file, SkippedFile))
    found = [
        {"path": str(file.path.absolute()), "source": file.source, "root": str(root)}
        for root, file in files
        if isinstance(file, FoundFile)
    ]
    if not found:
        return
    known = ray.put(stored)
    rows = (
        ray.data.from_items(found)
        .repartition(max(1, min(len(found), 1000)))
        .flat_map(ReadFile())
        .map_batches(
            EmbedDocuments,
            fn_constructor_args=(settings, model_name, known),
            batch_size=DOCUMENTS_TOGETHER,
            concurrency=(1, max(1, int(ray.cluster_resources().get("CPU", 1)) // 2)),  # half is left for reading
            max_restarts=-1,
            max_task_retries=-1,
        )
    )
    for row in rows.iter_rows():
        if row["last"]:
            run.files_read += 1
        if row["skipped"]:
            yield SkippedFile.model_validate_json(row["skipped"])
        elif row["document"]:
            document = SplitDocument.model_validate_json(row["document"])
            if row["vectors"]:
                given.give(
                    texts_of(document.title, document.chunks),
                    np.frombuffer(row["vectors"], np.float32).reshape(-1, row["dimension"]),
                )
            run.brought(document, Path(row["root"]))
            yield document


class ReadFile:
    """One file → its documents, and what of it had to be left out; a task of Ray's."""

    def __call__(self, row: Row) -> list[Row]:
        """Rows of JSON; the last of each file says so."""
        with Reader() as reader:
            items: list[Item | None] = [*reader.read(FoundFile(Path(row["path"]), row["source"]))]
        rows = [_row(item, row["root"]) for item in items or [None]]
        rows[-1] = {**rows[-1], "last": True}
        return rows


class EmbedDocuments:
    """Documents → the same with their vectors, but for those that are stored as they are; an actor of Ray's."""

    def __init__(self, settings: Settings, model_name: str, stored: Any) -> None:
        import ray

        from app.providers.embeddings.models import make_embeddings

        # of the vectors for documents nothing depends on how questions are computed
        self._embedding = make_embeddings(settings)
        self._model_name = model_name
        self._stored: dict[str, str] = ray.get(stored) if isinstance(stored, ray.ObjectRef) else stored

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Fill in ``vectors``, float32 rows as bytes, and ``dimension``."""
        from app.providers.embeddings.vectors import document_vectors

        vectors, dimensions = [], []
        for text in batch["document"]:
            document = SplitDocument.model_validate_json(text) if text else None
            made = np.zeros((0, 0), np.float32)
            if document and self._stored.get(document.document_id) != content_hash(document, self._model_name):
                made = document_vectors(self._embedding.embeddings, texts_of(document.title, document.chunks))
            vectors.append(made.tobytes())
            dimensions.append(made.shape[1])
        return {**batch, "vectors": np.array(vectors, object), "dimension": np.array(dimensions)}


def _row(item: Item | None, root: str) -> Row:
    return {
        "root": root,
        "document": item.model_dump_json() if isinstance(item, SplitDocument) else "",
        "skipped": item.model_dump_json() if isinstance(item, SkippedFile) else "",
        "last": False,
    }


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ConfigurationError("--ray needs Ray: pip install 'knowledge-garden[ray]'") from error
    return ray
