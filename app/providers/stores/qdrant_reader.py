"""What a Qdrant collection holds beside its vectors: description, and payloads, listed and filtered on the server."""

import re
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from app.providers.stores.filters import AFTER_LAST_DAY, FIRST_DAY, SOURCES, Condition, Scalar, Where
from app.providers.stores.layout import METADATA
from app.providers.stores.payloads import NESTED, metadata_of, with_text
from app.providers.stores.qdrant_points import INDEXED_PATHS, CollectionLayout, layout_of
from app.providers.stores.remote import SAMPLE, RemoteStore

PAGE = 1000
"""Points per request without vectors."""
MAX_VALUES = 100_000
"""Values of an indexed field that one request lists; of more, all chunks are read."""
_PLAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


class QdrantReader(RemoteStore):
    """One collection, read without its vectors."""

    _client: AsyncQdrantClient
    _layout: CollectionLayout | None = None

    async def acollection_names(self) -> list[str]:
        return [collection.name for collection in (await self._ask(self._client.get_collections)).collections]

    async def adelete_collection(self, name: str) -> None:
        await self._ask(partial(self._client.delete_collection, name))

    async def ahas(self, where: Where) -> bool:
        return await self._has(await self._filter(where))

    async def ahas_field(self, name: str) -> bool:
        """See ``ChunkStore``; asked of the server, as ``afield_names`` reads only one page."""
        layout = await self._described()
        return await self._has(present(name, nested=layout.ours))

    async def afield_names(self) -> set[str]:
        page = await anext(self._pages(limit=PAGE, with_payload=True))
        return {name for record in page for name, value in metadata_of(record.payload).items() if value is not None}

    async def avalues(self, fields: Sequence[str]) -> set[Scalar]:
        layout = await self._described()
        paths = [f"{METADATA}.{name}" for name in fields if f"{METADATA}.{name}" in INDEXED_PATHS]
        facets = [partial(self._client.facet, self.collection, path, limit=MAX_VALUES) for path in paths]
        if layout.ours and paths:
            hits = [(await self._ask(facet)).hits for facet in facets]
            if max(map(len, hits)) < MAX_VALUES:
                return {hit.value for row in hits for hit in row}
        return await super().avalues(fields)

    async def _sample(self) -> list[dict[str, Any]]:
        page, _ = await self._ask(partial(self._client.scroll, self.collection, limit=SAMPLE, with_payload=True))
        return [with_text(record.payload, self._text_field) for record in page]

    async def _described(self) -> CollectionLayout:
        """The collection as it was last described."""
        if self._layout is None:
            info = await self._ask(partial(self._client.get_collection, self.collection))
            self._layout = layout_of(info)
        return self._layout

    async def _pages(self, **options: Any) -> AsyncIterator[list[Any]]:
        """The stored points, page by page."""
        offset: Any = None
        while True:
            page, offset = await self._ask(partial(self._client.scroll, self.collection, offset=offset, **options))
            yield page
            if offset is None:
                return

    async def _metadata(self, fields: Sequence[str] | None, where: Where = None) -> dict[Any, dict[str, Any]]:
        layout = await self._described()
        chosen = await self._filter(where)
        some = [f"{METADATA}.{name}" for name in fields or ()]
        payload = (some if layout.ours and some else True) if fields is None or some else False
        pages = self._pages(scroll_filter=chosen, limit=PAGE, with_payload=payload)
        return {record.id: metadata_of(record.payload) async for page in pages for record in page}

    async def _has(self, chosen: models.Filter | None) -> bool:
        page, _ = await self._ask(partial(self._client.scroll, self.collection, chosen, 1, with_payload=False))
        return bool(page)

    async def _filter(self, where: Where) -> models.Filter | None:
        exact: list[Condition] = await self._exact(where, days=False) if where else []
        return qdrant_filter(exact, nested=(await self._described()).ours)


def qdrant_filter(conditions: Sequence[Condition], *, nested: bool) -> models.Filter | None:
    """The server's filter. Where metadata is not known to be *nested*, all places are asked."""
    return models.Filter(must=[_any(condition, nested) for condition in conditions]) if conditions else None


def present(field: str, *, nested: bool) -> models.Filter:
    """The filter for points that have a metadata field; *nested* as for ``qdrant_filter``."""
    paths = _paths([field], nested=nested)
    empty = [models.IsEmptyCondition(is_empty=models.PayloadField(key=path)) for path in paths]
    return models.Filter(should=[models.Filter(must_not=[field]) for field in empty])


def _any(condition: Condition, nested: bool) -> Any:
    tests = [{"match": match} for match in _matches(condition)]
    tests += [{"range": models.Range(gte=value, lte=value)} for value in condition.values if isinstance(value, float)]
    if condition.days:
        first, end = (None if day in (FIRST_DAY, AFTER_LAST_DAY) else day for day in condition.days)
        tests.append({"range": models.DatetimeRange.model_validate({"gte": first, "lt": end})})
    if not tests:
        return models.HasIdCondition(has_id=[])
    fields = [field for field in condition.fields if not nested or field not in SOURCES[1:]]
    paths = _paths(fields, nested=nested)
    return models.Filter(should=[models.FieldCondition(key=path, **test) for path in paths for test in tests])


def _matches(condition: Condition) -> list[Any]:
    """The exact matches of a condition: the server has one for all texts, one for all whole numbers."""
    texts: list[Any] = [value for value in condition.values if isinstance(value, str)]
    numbers: list[Any] = [value for value in condition.values if isinstance(value, int) and not isinstance(value, bool)]
    flags = [models.MatchValue(value=value) for value in condition.values if isinstance(value, bool)]
    return [*(models.MatchAny(any=some) for some in (texts, numbers) if some), *flags]


def _paths(fields: Sequence[str], *, nested: bool) -> list[str]:
    quoted = [name if _PLAIN.fullmatch(name) else f'"{name}"' for name in fields]
    paths = [f"{parent}.{name}" for parent in ((METADATA,) if nested else NESTED) for name in quoted]
    return paths if nested else [*paths, *fields]
