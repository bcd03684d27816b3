"""Any LangChain ``VectorStore`` as a store that can be searched: without keywords, filters applied here.

It is filled with its own tools: LangChain's interface cannot list what is stored, which ingest needs.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any, NoReturn

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from app.providers.embeddings.vectors import VectorCache, Vectors
from app.providers.http.error_mapping import store_error
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.hybrid import Candidate, Condition, HybridHits, HybridQuery, Where, conditions
from app.providers.stores.layout import CONTENT, METADATA, Point, point_id
from app.providers.stores.payloads import as_candidate
from graph.errors import ConfigurationError, StoreUnavailable

WIDER = 20
"""So many times more chunks are asked for where a filter is applied to them afterwards."""
log = logging.getLogger("garden.store")


class AnyVectorStore(ChunkStore):
    """Searches *store* by vector; re-embeds chunks, as LangChain returns no vectors."""

    def __init__(self, store: VectorStore, embedding: Embeddings) -> None:
        super().__init__(embedding, type(store).__name__, None)
        self._store = store
        self._vectors = VectorCache(embedding)
        log.warning("vector_store_generic", extra={"store": self.collection, "effect": "no keywords, no store filters"})

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; one channel. Filters apply to ``WIDER`` times as many chunks."""
        filters = conditions(where)
        rows = []
        for query in queries:
            most = query.keep or limit
            asked = most * WIDER if filters else most
            try:
                near = await self._store.asimilarity_search_by_vector(query.dense.tolist(), asked)
            except Exception as error:
                raise store_error(error) from error
            rows.append([one for one in near if all(_matches(one, condition) for condition in filters)][:most])
        vectors = await self._vectors.find({one.page_content: [one.page_content] for row in rows for one in row})
        return HybridHits([[_candidate(one, vectors[one.page_content][0]) for one in row] for row in rows])

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids, where the store finds any by id."""
        try:
            return await self._store.aget_by_ids(ids)
        except NotImplementedError:
            return []
        except Exception as error:
            raise store_error(error) from error

    async def aprobe(self) -> None:
        await self.asimilarity_search("ready?", 1)

    async def acount(self) -> int:
        raise StoreUnavailable(f"{self.collection} does not count its chunks.")

    async def _refuse(self, *_: object) -> NoReturn:
        raise ConfigurationError(f"{self.collection} can only be searched: fill it with its own tools.")

    async def apoints(self) -> AsyncIterator[list[Point]]:
        yield await self._refuse()

    _refused: Any = _refuse
    aupsert = adelete_chunks = adelete_documents = asummaries = achunk_hashes = _refused
    _fetch = _refused

    async def _size(self) -> None:
        """Not known: LangChain's interface does not describe the collection."""


def _matches(document: Document, condition: Condition) -> bool:
    return any(document.metadata.get(name) in condition.values for name in condition.fields)


def _candidate(document: Document, vector: Vectors) -> Candidate:
    chunk_id = document.id or point_id(document.page_content)
    return as_candidate(chunk_id, chunk_id, {CONTENT: document.page_content, METADATA: document.metadata}, vector)
