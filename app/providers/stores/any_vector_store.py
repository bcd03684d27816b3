"""Any LangChain ``VectorStore`` as a store that can be searched: without keywords, filters applied here.

LangChain has no common language for filters. So more and more of the nearest chunks are read, until enough of them
pass, all were read, or ``MAX_READ`` were: then chunks further away are not found, which is logged.

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
from app.providers.stores.filters import Condition, Where, conditions
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery
from app.providers.stores.layout import CONTENT, METADATA, Point, point_id
from app.providers.stores.payloads import as_candidate
from graph.errors import ConfigurationError, StoreUnavailable

WIDER = 20
"""So many times more chunks are asked for where a filter is applied to them afterwards, and again if too few pass."""
MAX_READ = 10_000
"""Most chunks read for one filtered query."""
log = logging.getLogger("garden.store")


class AnyVectorStore(ChunkStore):
    """Searches *store* by vector; re-embeds chunks, as LangChain returns no vectors."""

    def __init__(self, store: VectorStore, embedding: Embeddings) -> None:
        super().__init__(embedding, type(store).__name__, None)
        self._store = store
        self._vectors = VectorCache(embedding)
        log.warning("vector_store_generic", extra={"store": self.collection, "effect": "no keywords, no store filters"})

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; one channel."""
        filters = conditions(where)
        rows = [await self._nearest(query, query.keep or limit, filters) for query in queries]
        texts = {document.page_content for row in rows for document in row}
        vectors = await self._vectors.find({text: [text] for text in texts})
        return HybridHits([[_candidate(hit, vectors[hit.page_content][0]) for hit in row] for row in rows])

    async def _nearest(self, query: HybridQuery, most: int, filters: Sequence[Condition]) -> list[Document]:
        asked = most * WIDER if filters else most
        while True:
            try:
                near = await self._store.asimilarity_search_by_vector(query.dense.tolist(), asked)
            except Exception as error:
                raise store_error(error) from error
            passed = [document for document in near if all(_matches(document, condition) for condition in filters)]
            if not filters or len(passed) >= most or len(near) < asked:
                return passed[:most]
            if asked >= MAX_READ:
                log.warning("filter_not_exhaustive", extra={"store": self.collection, "read": asked})
                return passed[:most]
            asked = min(asked * WIDER, MAX_READ)

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

    async def arequire(self, where: Where, *, found: bool) -> None:
        """Do nothing: without a list of what is stored, an unknown name is one of which nothing is found."""

    async def acount(self) -> int:
        raise StoreUnavailable(f"{self.collection} does not count its chunks.")

    async def _refuse(self, *_: object) -> NoReturn:
        raise ConfigurationError(f"{self.collection} can only be searched: fill it with its own tools.")

    async def apoints(self) -> AsyncIterator[list[Point]]:
        yield await self._refuse()

    _refused: Any = _refuse
    ahas = afield_names = avalues = _refused
    aupsert = adelete_chunks = adelete_documents = asummaries = achunk_hashes = _refused
    _fetch = _refused

    async def _size(self) -> None:
        """Not known: LangChain's interface does not describe the collection."""


def _matches(document: Document, condition: Condition) -> bool:
    return any(condition.matches(document.metadata.get(name)) for name in condition.fields)


def _candidate(document: Document, vector: Vectors) -> Candidate:
    chunk_id = document.id or point_id(document.page_content)
    return as_candidate(chunk_id, chunk_id, {CONTENT: document.page_content, METADATA: document.metadata}, vector)
