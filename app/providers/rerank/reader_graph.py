"""Write the reader's ONNX graph: the encoder of all-MiniLM-L6-v2 with the layers trained for reading.

The embedding tables are those of the installed all-MiniLM-L6-v2, mapped from its file; the layers come from the weights
that ship with this package, 8-bit with one scale for each output (``training/export.py``). What is multiplied with them
is rounded to 8 bits as well, with one scale for the passage, so that a processor's 8-bit instructions do the work.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.providers.embeddings.minilm_graph import MS, EncoderGraph


class ReaderGraph(EncoderGraph):
    """The model ``input_ids`` int32 [1, tokens] to float32 [1, tokens, size].

    *folder* holds all-MiniLM-L6-v2; *layers* are the shipped arrays by name. Raises ``ConfigurationError``.
    """

    def __init__(self, folder: Path, layers: dict[str, NDArray[np.generic]]) -> None:
        super().__init__(folder, "int8")
        self.layers = layers

    def pool(self, hidden: str) -> str:
        """Return the last layer as it is: the heads read single tokens."""
        return hidden

    def linear(self, hidden: str, at: str) -> str:
        """Multiply ``hidden``, rounded to 8 bits, with the 8-bit weight."""
        names = [self.own(f"{at}.weight.{part}") for part in ("levels", "scales")]
        return self.node(f"{MS}.DynamicQuantizeMatMul", [hidden, *names])

    def weight(self, name: str) -> str:
        return super().weight(name) if name.startswith("embeddings.") else self.own(name)

    def own(self, name: str) -> str:
        """Write one of the reader's arrays into the graph; half precision becomes float32."""
        array = self.layers[name]
        return self.constant(name, array if array.dtype == np.int8 else array.astype(np.float32))
