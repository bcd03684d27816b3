"""Find what other packages register by entry points, so that it is used without a change of ours.

The groups are ``knowledge_garden.formats``, ``.embeddings``, ``.chat_models``, ``.rerankers`` and ``.stores``
(``docs/extending.md``).
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from graph.errors import ConfigurationError


def registered(group: str) -> dict[str, EntryPoint]:
    """Return what packages register in ``knowledge_garden.<group>``, by name."""
    return {point.name: point for point in entry_points(group=f"knowledge_garden.{group}")}


def find_factory(group: str, name: str) -> Any:
    """Return what a package registers as *name*, if one does; ``ConfigurationError`` where that cannot be imported."""
    point = registered(group).get(name)
    if point is None:
        return None
    try:
        return point.load()
    except Exception as error:
        raise ConfigurationError(
            f"{point.value}, which is registered as {name!r}, cannot be imported: {error}"
        ) from error
