"""Write the encoder's ONNX graph from the safetensors file, at start-up.

Each weight is an ONNX external-data entry: an offset and a length into ``model.safetensors``, which ONNX Runtime maps
directly. Mean pooling and L2 normalisation are the graph's last nodes, so a session's output is the finished vector.

The graph is BERT (post-layer norm, absolute positions, exact GELU) in ONNX Runtime's fused operators. The linear layers
may have 8-bit weights (``MatMulNBits``, one scale per block along the input dimension), the embedding tables not.
"""

import json
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Precision = Literal["fp32", "int8"]

MS = "com.microsoft"
"""ONNX Runtime's own operators; those named without a domain are of the ONNX standard, opset 17."""
SIZE, LAYERS, HEADS, EPSILON = 384, 6, 12, 1e-12
"""Of all-MiniLM-L6-v2: length of a vector, layers, attention heads, and the epsilon of layer normalisation."""
BLOCK = 32
"""Weights that share one 8-bit scale. With 128 of them, a text's vector in ONNX Runtime depends on its batch."""


class EncoderGraph:
    """Collects nodes and weights in data-flow order; each method returns its output's name.

    Inputs: ``input_ids`` and ``attention_mask``, int32 [batch, tokens]. Output: float32 [batch, hidden size], each
    row of length 1. External data names the weights file in *folder* relative to it.
    """

    inputs: ClassVar[dict[str, list[str]]] = {"input_ids": ["b", "t"], "attention_mask": ["b", "t"]}

    def __init__(self, folder: Path, precision: Precision) -> None:
        import onnx

        self.onnx = onnx
        self.precision = precision
        self.file = (folder / "model.safetensors").resolve()
        self.tensors = read_tensors(self.file)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}

    def write(self) -> bytes:
        """Return the serialised ONNX model."""
        hidden = self.embed()
        for number in range(LAYERS - 1):
            hidden = self.layer(hidden, f"encoder.layer.{number}")
        output = self.last(hidden, f"encoder.layer.{LAYERS - 1}")
        helper, types = self.onnx.helper, self.onnx.TensorProto
        inputs = [helper.make_tensor_value_info(name, types.INT32, shape) for name, shape in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(output, types.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "encoder", inputs, outputs, list(self.weights.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
        return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())

    def embed(self) -> str:
        """Add up word, position and segment tables and normalise; every token is of segment 0."""
        zero = self.onnx.helper.make_tensor("zero", self.onnx.TensorProto.INT32, [1], [0])
        segments = self.node("ConstantOfShape", [self.node("Shape", ["input_ids"])], value=zero)
        tables = [self.weight(f"embeddings.{kind}_embeddings.weight") for kind in ("word", "position", "token_type")]
        inputs = ["input_ids", segments, *tables, *self.norm("embeddings")]
        return self.node(f"{MS}.EmbedLayerNormalization", inputs, epsilon=EPSILON)

    def layer(self, hidden: str, at: str, kept: str = "") -> str:
        """Write one block: attention, then feed-forward, each added to its input and normalised.

        *kept* holds the tokens to go on with, which attend to all; without it all go on.
        """
        kept = kept or hidden
        projections = [f"{at}.attention.self.{projection}" for projection in ("query", "key", "value")]
        bias = self.node("Concat", [self.weight(f"{projection}.bias") for projection in projections], axis=0)
        attending = zip((kept, hidden, hidden), projections, strict=True)
        mask = {"attention_mask"} & self.inputs.keys()
        inputs = [*(self.linear(tokens, projection) for tokens, projection in attending), bias, *mask]
        attended = self.node(f"{MS}.MultiHeadAttention", inputs, num_heads=HEADS)
        hidden = self.add_and_norm(attended, kept, f"{at}.attention.output")
        wide = self.linear(hidden, f"{at}.intermediate.dense")
        wide = self.node(f"{MS}.BiasGelu", [wide, self.weight(f"{at}.intermediate.dense.bias")])
        return self.add_and_norm(wide, hidden, f"{at}.output")

    def add_and_norm(self, new: str, skip: str, at: str) -> str:
        added = self.node("Add", [self.linear(new, f"{at}.dense"), skip])
        added = self.node("Add", [added, self.weight(f"{at}.dense.bias")])
        # Not SkipLayerNormalization, which takes a fifth of the time on a CPU (ONNX Runtime 1.31).
        return self.node("LayerNormalization", [added, *self.norm(at)], epsilon=EPSILON)

    def norm(self, at: str) -> list[str]:
        return [self.weight(f"{at}.LayerNorm.weight"), self.weight(f"{at}.LayerNorm.bias")]

    def last(self, hidden: str, at: str) -> str:
        """Write the last block, take the mean over unmasked tokens, and scale it to length 1."""
        hidden = self.layer(hidden, at)
        mask = self.node("Cast", ["attention_mask"], to=self.onnx.TensorProto.FLOAT)
        one = self.constant("one", np.ones(1, np.int64))
        weights = self.node("Unsqueeze", [self.node("LpNormalization", [mask], axis=-1, p=1), one])
        mean = self.node("Squeeze", [self.node("MatMul", [weights, hidden]), one])
        return self.node("LpNormalization", [mean], axis=-1, p=2)

    def linear(self, hidden: str, at: str) -> str:
        """Multiply ``hidden`` with the transposed weight; the operator that follows adds the bias."""
        rows, columns = self.tensors[f"{at}.weight"].shape
        if self.precision == "fp32":
            return self.node(f"{MS}.FusedMatMul", [hidden, self.weight(f"{at}.weight")], transB=1)
        inputs = [hidden, *self.eight_bit(f"{at}.weight")]
        return self.node(f"{MS}.MatMulNBits", inputs, N=rows, K=columns, bits=8, block_size=BLOCK, accuracy_level=4)

    def eight_bit(self, name: str) -> list[str]:
        """Write a weight as uint8 around 128, one float32 scale per block; return both names."""
        tensor = self.tensors[name]
        weight = np.memmap(self.file, np.float32, "r", tensor.offset, tensor.shape)
        blocks = weight.reshape(len(weight), -1, BLOCK)
        scales = np.maximum(np.abs(blocks).max(axis=2, keepdims=True) / 127, np.finfo(np.float32).tiny)
        levels = (np.round(blocks / scales) + 128).astype(np.uint8)
        return [self.constant(f"{name}.levels", levels), self.constant(f"{name}.scales", scales.ravel())]

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Write an array into the graph."""
        self.weights[name] = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def weight(self, name: str) -> str:
        """Refer to a tensor in the safetensors file."""
        shape, offset, length = self.tensors[name]
        tensor = self.onnx.TensorProto(name=name, dims=shape, data_type=self.onnx.TensorProto.FLOAT)
        tensor.data_location = self.onnx.TensorProto.EXTERNAL
        for key, value in {"location": self.file.name, "offset": offset, "length": length}.items():
            tensor.external_data.add(key=key, value=str(value))
        self.weights[name] = tensor
        return name

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        output = f"n{len(self.nodes)}"
        domain, _, kind = operator.rpartition(".")
        outputs = [output, f"{output}_lengths"] if kind == "EmbedLayerNormalization" else [output]
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, outputs, output, domain=domain, **attributes))
        return output


class Tensor(NamedTuple):
    """Where a float32 tensor is in its file: ``offset`` and ``length`` in bytes."""

    shape: tuple[int, ...]
    offset: int
    length: int


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read the tensors' positions in a safetensors file, by name; the data stays on disk.

    Own code, since the ``safetensors`` package does not tell the offsets that ONNX Runtime maps. The file begins with
    eight bytes (little-endian), the length of a JSON header with each tensor's type, shape and byte range.
    """
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(length))
    header.pop("__metadata__", None)
    return {
        name: Tensor(tuple(entry["shape"]), 8 + length + begin, end - begin)
        for name, entry in header.items()
        for begin, end in [entry["data_offsets"]]
    }
