"""Check that a collection's vectors are of the embedding model that is configured."""

from collections.abc import Callable, Mapping
from typing import Any

MODEL_FIELD = "embedding_model"
"""Metadata of a chunk: which model its vectors are of."""
MOVE_IT = "To move the collection to the new model: garden reembed"


def model_of(metadata: Mapping[str, Any]) -> str:
    """Return the name of the model that made a chunk's vectors; "" where its metadata does not say."""
    return str(metadata.get(MODEL_FIELD) or "")


def check_size(collection: str, stored: int | None, size: int | None, error: Callable[[str], Exception]) -> None:
    """Raise *error* when the sizes of stored vectors and of the model's are known and differ."""
    if stored and size and stored != size:
        raise error(
            f"The collection {collection!r} holds vectors of {stored} dimensions, but the embedding model makes "
            f"{size}: name another collection, or the model it was filled with. {MOVE_IT}"
        )


def check_name(collection: str, stored: str, name: str, error: Callable[[str], Exception]) -> None:
    """Raise *error* when the model that made the stored vectors and the configured one are known and differ."""
    if stored and name and stored != name:
        raise error(
            f"The collection {collection!r} was made with EMBEDDING_MODEL={stored}, and EMBEDDING_MODEL is {name}: "
            f"name the first, or another collection. {MOVE_IT}"
        )
