"""Where each tensor lies in a ``.safetensors`` file: the header read, the data left on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SafetensorsFile:
    """The float32 tensors of one file, by name.

    The file begins with eight bytes (little-endian) that give the length of a JSON header; the header gives each
    tensor's type, shape and byte range counted from its own end. A checkpoint saved with a task's head on it prefixes
    its encoder's names with ``bert.``; here they are always without.

    Raises ``ConfigurationError`` when the file is not a safetensors file, or only the beginning of one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as stream:
                length = int.from_bytes(stream.read(8), "little")
                size = path.stat().st_size
                header: dict[str, Any] = json.loads(stream.read(length) if length < size else b"")
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{path} is not a safetensors file.") from error
        header.pop("__metadata__", None)
        self._data = 8 + length
        self._entries = {name.removeprefix("bert."): entry for name, entry in header.items()}
        if self._data + max((entry["data_offsets"][1] for entry in header.values()), default=0) > size:
            raise ConfigurationError(f"{path} is cut short: copy or download it again.")

    def shape(self, name: str) -> tuple[int, ...]:
        """The tensor's shape. Raises ``ConfigurationError`` when there is no such float32 tensor."""
        return tuple(self._entry(name)["shape"])

    def place(self, name: str) -> tuple[int, int]:
        """The tensor's offset in the file and its length, in bytes; raises as ``shape`` does."""
        begin, end = self._entry(name)["data_offsets"]
        return self._data + begin, end - begin

    def array(self, name: str) -> NDArray[np.float32]:
        """The tensor itself, mapped from the file and read-only; raises as ``shape`` does."""
        import numpy as np

        return np.memmap(self.path, np.float32, "r", self.place(name)[0], self.shape(name))

    def _entry(self, name: str) -> dict[str, Any]:
        entry: dict[str, Any] | None = self._entries.get(name)
        if entry is None or entry["dtype"] != "F32":
            raise ConfigurationError(f"{self.path} has no float32 tensor {name}: no BERT encoder that runs here.")
        return entry
