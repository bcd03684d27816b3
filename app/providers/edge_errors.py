"""What the embedded engine raises, in our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.providers.edge_damage import damaged
from app.providers.edge_folder import EdgeFolder
from graph.errors import GardenError, StoreUnavailable


@contextmanager
def in_our_words(folder: EdgeFolder) -> Iterator[None]:
    """The engine raises bare ``Exception``, and panics; only those become ours, everything else stays loud.

    Raises ``StoreUnavailable``, or ``StoreDamaged`` for a panic.
    """
    try:
        yield
    except GardenError:
        raise
    except Exception as error:
        if type(error) is not Exception:
            raise
        raise StoreUnavailable(f'The embedded collection "{folder.path.name}" answered with an error.') from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise damaged(folder, "the engine broke down over it") from error


def other_size(error: type[GardenError], collection: str, stored: int, given: int) -> GardenError:
    """An *error* for vectors of *given* dimensions where a collection holds some of *stored*."""
    return error(
        f'The collection "{collection}" holds vectors of {stored} dimensions, but the embedding model makes {given}. '
        "Choose the model it was made with, or another collection.",
        collection=collection,
        stored=stored,
        given=given,
    )
