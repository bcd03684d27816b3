"""``ScopedStore``: tells an unknown source or field from one that matches nothing."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence

from app.providers.stores.filters import NAMES, SOURCES, Scalar, Where, nearest
from app.providers.stores.hybrid import DocumentSummary, HybridStore
from graph.errors import InvalidInput, UnknownSource

INTERNAL_FIELDS = {"spans", "content_hash", "chunk_id", "chunk_index"}
"""Metadata fields that are no use to filter by, and are not named to callers."""


class ScopedStore(HybridStore, ABC):
    """A store that can say what its chunks' metadata hold. All methods may raise ``StoreUnavailable``."""

    @abstractmethod
    async def asummaries(self) -> dict[str, DocumentSummary]:
        """Return document id -> its summary; "" is for chunks without a document."""

    @abstractmethod
    async def ahas(self, where: Where) -> bool:
        """Tell whether any chunk passes the filter."""

    @abstractmethod
    async def afield_names(self) -> set[str]:
        """Return the names of the metadata fields that chunks have; of a large collection on a server, of some."""

    @abstractmethod
    async def avalues(self, fields: Sequence[str]) -> set[Scalar]:
        """Return the distinct values that chunks have in these metadata fields."""

    async def ahas_field(self, name: str) -> bool:
        """Tell whether any chunk has this metadata field."""
        return name in await self.afield_names()

    async def arequire(self, where: Where, *, found: bool) -> None:
        """See ``HybridStore``. What was found had every field, and the source if it was a single one."""
        where = where or {}
        asked = where.get(SOURCES[0], ())
        sources = [asked] if isinstance(asked, str) else list(asked)
        if not found or len(sources) > 1:
            there = await asyncio.gather(*(self.ahas({SOURCES[0]: source}) for source in sources))
            if unknown := [source for source, known in zip(sources, there, strict=True) if not known]:
                raise await self._unknown_source(unknown[0])
        for name in () if found else where.keys() - {SOURCES[0]}:
            if not await self.ahas_field(name):
                fields = sorted(await self.afield_names() - INTERNAL_FIELDS)
                message = f"No document has the field {name!r}. There are: {', '.join(fields) or 'none'}."
                raise InvalidInput(message, "filters", unknown=name, fields=fields)

    async def _unknown_source(self, unknown: str) -> UnknownSource:
        names = {str(name) for name in await self.avalues(NAMES)}
        titles = {summary.title: name for name, summary in (await self.asummaries()).items()} if names else {}
        alike = await asyncio.to_thread(nearest, unknown, names | titles.keys())
        shown = list(dict.fromkeys(name if name in names else titles[name] for name in alike))
        hint = f" Nearest: {', '.join(shown)}." if shown else ""
        return UnknownSource(f"No document is named {unknown!r}.{hint}", SOURCES[0], unknown=unknown, nearest=shown)
